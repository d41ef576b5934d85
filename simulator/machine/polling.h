// How a kernel waits: by looking at a place, or at a clock, again and again, and asleep.
#pragma once
#include "program/module.h"

// Is what the instruction at `look` reads (a load or a clock) all that a loop asks for, which goes
// on until it likes what it finds? Its first instruction, and the one behind it.
bool polling_loop(const Kernel *kernel, u32 look, u32 *first, u32 *end);
