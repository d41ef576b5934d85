// A vector clock: for each warp of each block an epoch. What the warp did up to that epoch comes
// before what the clock's owner does now. Blocks with the same epoch share one entry, so that a
// clock of thousands of blocks stays small.
#pragma once
#include "base/base.h"

enum { EVERY_WARP = LANES }; // ClockRun.warp: all warps of the blocks

typedef struct ClockRun {
    u32 warp;        // in its block, or EVERY_WARP
    u32 first, last; // blocks
    u32 epoch;
} ClockRun;

typedef struct VectorClock { // {0}: every epoch is 0
    ClockRun *runs;          // sorted by warp, then by block, without overlap
    u32 count, room;
} VectorClock;

// Raises `to` to the maximum of both. A clock of very many runs is coarsened: it then covers more
// than it should, so that a race may go unreported.
void vector_clock_join(VectorClock *to, const VectorClock *from);
void vector_clock_add(VectorClock *to, u32 block, u32 warp, u32 epoch);

// The warp's epoch; 0: none of its epochs is covered.
u32 vector_clock_at(const VectorClock *, u32 block, u32 warp);

// Does the clock cover anything of these blocks?
bool vector_clock_has(const VectorClock *, u32 first, u64 count);

void vector_clock_clear(VectorClock *);
void vector_clock_free(VectorClock *);
