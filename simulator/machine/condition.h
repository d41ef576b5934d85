// Values that kernels set with cudaGraphSetConditional (condition.c).
#pragma once
#include "warp.h"

u32 condition_make(void);      // a new one's handle
u32 *condition_at(u64 handle); // NULL: there is none. Valid until the next one is made
void run_set_condition(Warp *, const Insn *, u32 mask); // as print_functions has it
