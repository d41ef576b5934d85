// The costs of an instruction on the hardware (a part of op.c).
#pragma once
#include "op.h"

// Fills in unit, slots, own, busy, groups and latency of an op whose kind is known.
void op_find_cost(Op *op, const Insn *i);
