// From an instruction to the student's source line.
#pragma once
#include "base/place.h"
#include "instruction.h"
#include "kernel.h"

// The place that instruction `pc` of a kernel was compiled from.
Place source_place(const Kernel *kernel, u32 pc);
Place source_of(const Kernel *kernel, u32 location); // of one of its locations; ~0u: unknown

// The places at which that code was inlined, innermost first.
void source_callers(const Kernel *kernel, u32 pc, Place callers[PLACE_CALLERS]);

// Is the instruction code of the program's own, and not of a header of the toolkit, or unknown?
bool source_is_own(const Kernel *kernel, u32 pc);
