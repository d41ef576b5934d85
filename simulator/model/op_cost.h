// What the hardware spends on an instruction (op.c's part).
#pragma once
#include "op.h"

// Fills in unit, slots, own, busy, groups and latency of an op whose kind is known.
void op_find_cost(Op *op, const Insn *i);
