// Finds sweeps for lsu.c: warps that repeat the accesses of the warp before them (access_sweep.h).
#pragma once
#include "observer.h"

// To be called when a launch begins: reads which observers there are.
void sweep_start(void);

// Is the access the sweep's next? Then it is counted, and the caller only moves the values, at
// *address.
bool sweep_follow(Warp *w, const Insn *i, u32 mask, bool store, u64 *address);

// Can an access of this pattern begin a sweep?
bool sweep_may_begin(const Access *a);

// The access has happened and observers have seen it; it may begin a sweep.
void sweep_lead(const Access *a);
