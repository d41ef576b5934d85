// Maps instructions to source lines.
#pragma once
#include "base/place.h"
#include "instruction.h"
#include "kernel.h"

// The place from which instruction `pc` of a kernel was compiled.
Place source_place(const Kernel *kernel, u32 pc);
Place source_of(const Kernel *kernel, u32 location); // of a location's index; ~0u: unknown

// The places at which that code was inlined, innermost first.
void source_callers(const Kernel *kernel, u32 pc, Place callers[PLACE_CALLERS]);

// Is the instruction in the program's own code, and not in a header of the toolkit or unknown?
bool source_is_own(const Kernel *kernel, u32 pc);

// Was it written in a header of the toolkit, wherever that was inlined? True if that is unknown.
bool source_is_toolkits(const Kernel *kernel, u32 pc);
