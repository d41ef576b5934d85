// Instructions whose result is the same in each block of a launch: those that take nothing but
// parameters, constants and each other's results, to a register that nothing else writes. The
// registers of a slot stay from block to block, so a warp runs them once.
#pragma once
#include "program/module.h"
#include "warp.h"

// Finds them, unless that has been done: numbers them from 1 on (Insn.lasting).
void lasting_find(Kernel *k);

// Has the warp run it and all that follow it in a row in these lanes?
static inline bool lasting_run_is_done(const Warp *w, const Insn *i, u32 mask)
{
    return !(mask & ~w->lasting[i[i->lasting_run - 1].lasting]);
}

// Has the warp run it in these lanes? It has from now on.
static inline bool lasting_is_done(Warp *w, const Insn *i, u32 mask)
{
    u32 *lanes = &w->lasting[i->lasting];
    if (!(mask & ~*lanes)) return true;
    *lanes |= mask;
    return false;
}
