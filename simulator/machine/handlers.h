// The handlers of instructions. Those whose lanes compute independently are in alu.c, made from the
// table.
#pragma once
#include "program/kernel.h"
#include "warp.h"

// Gives each of a kernel's instructions its handler, unless that has been done.
void handlers_bind(Kernel *kernel);

// Under the name of the op, or the row's own.
#define BY_OP(name, op, ...) void run_##op(Warp *, const Insn *, u32 mask);
#define OWN(name, ...) void run_##name(Warp *, const Insn *, u32 mask);
#define MEMORY BY_OP
#define FLOW BY_OP
#define MATRIX BY_OP
#define EXCHANGE OWN
#include "isa/isa.def"
#undef BY_OP
#undef OWN

void run_fence(Warp *, const Insn *, u32 mask);
void run_atomic(Warp *, const Insn *, u32 mask);

// Of what is DECODED.
void run_clock(Warp *, const Insn *, u32 mask);
void run_function(Warp *, const Insn *, u32 mask);
void run_isspacep_own(Warp *, const Insn *, u32 mask);
