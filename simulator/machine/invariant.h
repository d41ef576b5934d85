// Instructions whose result is the same in each block of a launch: those that take nothing but
// parameters, constants and each other's results, to a register that nothing else writes. The
// registers of a slot stay from block to block, so a warp runs them once.
#pragma once
#include "program/module.h"
#include "warp.h"

// Finds them, unless that has been done: numbers them from 1 on (Insn.invariant).
void invariant_find(Kernel *k);

// Has the warp run it and all that follow it in a row in these lanes?
static inline bool invariant_run_is_done(const Warp *w, const Insn *i, u32 mask)
{
    return !(mask & ~w->invariant[i[i->invariant_run - 1].invariant]);
}

// Has the warp run it in these lanes? It has from now on.
static inline bool invariant_is_done(Warp *w, const Insn *i, u32 mask)
{
    u32 *lanes = &w->invariant[i->invariant];
    if (!(mask & ~*lanes)) return true;
    *lanes |= mask;
    return false;
}
