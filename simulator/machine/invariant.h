// Block-invariant instructions: their result is the same in every block of a launch, because they
// read only parameters, constants and each other's results, and nothing else writes their
// destination. The registers of a slot persist from block to block, so a warp runs these
// instructions once. (A compiler hoists loop-invariant code likewise.)
#pragma once
#include "program/module.h"
#include "warp.h"

// Finds and numbers them, from 1 on (Insn.invariant), unless that has been done.
void invariant_find(Kernel *k);

// Has the warp run this instruction and the run of invariant ones that follows it, in these lanes?
static inline bool invariant_run_is_done(const Warp *w, const Insn *i, u32 mask)
{
    return !(mask & ~w->invariant[i[i->invariant_run - 1].invariant]);
}

// Has the warp run the instruction in these lanes? From now on it counts as run.
static inline bool invariant_is_done(Warp *w, const Insn *i, u32 mask)
{
    u32 *lanes = &w->invariant[i->invariant];
    if (!(mask & ~*lanes)) return true;
    *lanes |= mask;
    return false;
}
