// How a kernel waits: it polls memory or a clock in a loop, or it sleeps.
#pragma once
#include "program/module.h"

// Does the instruction at `look`, a load or a clock read, alone decide whether the loop around it
// goes on? *first and *end delimit the loop.
bool polling_loop(const Kernel *kernel, u32 look, u32 *first, u32 *end);
