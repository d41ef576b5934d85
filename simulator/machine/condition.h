// Values that kernels set with cudaGraphSetConditional (condition.c).
#pragma once
#include "warp.h"

u32 condition_make(void);      // makes one, and returns its handle
u32 *condition_at(u64 handle); // NULL: no such handle. Valid until the next one is made
void run_set_condition(Warp *, const Insn *, u32 mask); // as print_functions has it
