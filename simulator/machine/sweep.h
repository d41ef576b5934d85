// Warps that do what the warp before them did (access_sweep.h), as lsu.c finds them.
#pragma once
#include "observer.h"

// To be called when a launch begins: who looks on.
void sweep_start(void);

// Is the access what is to come next? Then it is noted, and the caller has but to move the values:
// *address is where.
bool sweep_follow(Warp *w, const Insn *i, u32 mask, bool store, u64 *address);

// Is it of a pattern in which others may follow?
bool sweep_may_begin(const Access *a);

// The access has been seen, and has happened: others may follow.
void sweep_lead(const Access *a);
