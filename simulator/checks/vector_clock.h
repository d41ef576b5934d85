// What a warp knows of other blocks of its grid: for each of their warps, up to which of its epochs
// what it did comes before what the one who knows does now. Blocks that did the same are known by
// one run, so that thousands of them cost little.
#pragma once
#include "base/base.h"

enum { EVERY_WARP = LANES }; // a run's warp: all of the block's

typedef struct ClockRun {
    u32 warp;        // in its block, or EVERY_WARP
    u32 first, last; // blocks
    u32 epoch;
} ClockRun;

typedef struct VectorClock { // {0}: nothing is known
    ClockRun *runs;          // by warp, then by block, without overlap
    u32 count, room;
} VectorClock;

// What is known to `from` is known to `to` as well. Where there are very many runs they are taken
// together: then more counts as known than is.
void vector_clock_join(VectorClock *to, const VectorClock *from);
void vector_clock_add(VectorClock *to, u32 block, u32 warp, u32 epoch);

// Ticks of that warp up to this one are known; 0: none.
u32 vector_clock_at(const VectorClock *, u32 block, u32 warp);

bool vector_clock_has(const VectorClock *, u32 first,
                      u64 count); // anything of so many blocks, from that one on

void vector_clock_clear(VectorClock *);
void vector_clock_free(VectorClock *);
