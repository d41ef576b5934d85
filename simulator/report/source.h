// From an instruction to the student's source line.
#pragma once
#include "report.h"
#include "program/instruction.h"
#include "ptx/module.h"

// The place that instruction `pc` of a kernel was compiled from.
Place source_place(const Kernel *kernel, u32 pc);
Place source_of(const Kernel *kernel, u32 location); // of one of its locations; ~0u: unknown

// The places at which that code was inlined, innermost first.
void source_callers(const Kernel *kernel, u32 pc, Place callers[REPORT_CALLERS]);

// Fills in kernel, place and where it was inlined, block and thread of what `lane` does at `insn`.
void source_fill(Report *report, const Warp *warp, const Insn *insn, u32 lane);
