// Fills in a report's thread and source place.
#pragma once
#include "observer.h"
#include "program/source.h"
#include "report/report.h"
#include "warp.h"

// Fills in kernel, place and where it was inlined, block and thread of what `lane` does at `insn`.
void source_fill(Report *report, const Warp *warp, const Insn *insn, u32 lane);

// The same of an access, and what it does there; `lanes` do the same, of which the lowest is told.
void source_fill_access(Report *report, const Access *access, u32 lanes);

// It is the shared memory of another block of the cluster.
void source_owner(Report *report, const Block *owner);

enum report_access source_access(const Access *access);
