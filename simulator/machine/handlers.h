// The handlers of instructions, under the names that isa.def gives them.
#pragma once
#include "warp.h"

// Handlers that are not of the ALU (lsu.c, flow.c, waits.c, exchange.c), under the names that
// isa.def gives them.
#define FLOW(name, ...) void run_##name(Warp *, const Insn *, u32 mask);
#define EXCHANGE(name, ...) void run_##name(Warp *, const Insn *, u32 mask);
#include "isa/isa.def"

// Do the lanes that run it end, or leave the function that they are in?
static inline bool insn_ends(const Insn *i) { return i->run == run_ret || i->run == run_exit; }
static inline bool insn_jumps(const Insn *i) { return i->run == run_bra && !i->guard; }
void run_function(Warp *, const Insn *, u32 mask); // a call of a function that has a body
void run_compare(Warp *, const Insn *, u32 mask); // a COMPARE row with more than a predicate to set
void run_clock(Warp *, const Insn *, u32 mask);   // mov of a clock
void run_isspacep_own(Warp *, const Insn *, u32 mask); // isspacep.shared::cta
void run_atomic(Warp *, const Insn *, u32 mask);
void atomic_go_on(Warp *); // with those of its unserved lanes whose turn it is
void run_video(Warp *, const Insn *, u32 mask);
void run_fence(Warp *, const Insn *, u32 mask);
void run_multiply(Warp *, const Insn *, u32 mask);
void run_fragment_load(Warp *, const Insn *, u32 mask);
void run_fragment_store(Warp *, const Insn *, u32 mask);
void run_rows_load(Warp *, const Insn *, u32 mask);
void run_rows_store(Warp *, const Insn *, u32 mask);
void run_rows_transpose(Warp *, const Insn *, u32 mask);
void run_copy(Warp *, const Insn *, u32 mask);
void run_copy_commit(Warp *, const Insn *, u32 mask);
void run_copy_wait(Warp *, const Insn *, u32 mask);
void run_copy_arrive(Warp *, const Insn *, u32 mask);
void run_bulk(Warp *, const Insn *, u32 mask);
void run_bulk_commit(Warp *, const Insn *, u32 mask);
void run_bulk_wait(Warp *, const Insn *, u32 mask);
void run_load(Warp *, const Insn *, u32 mask);
void run_store(Warp *, const Insn *, u32 mask);
void run_load_param(Warp *, const Insn *, u32 mask);
void run_store_param(Warp *, const Insn *, u32 mask);
