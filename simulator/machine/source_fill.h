// Fills in a report's thread and source place.
#pragma once
#include "program/source.h"
#include "report/report.h"
#include "warp.h"

// Fills in kernel, place and where it was inlined, block and thread of what `lane` does at `insn`.
void source_fill(Report *report, const Warp *warp, const Insn *insn, u32 lane);
