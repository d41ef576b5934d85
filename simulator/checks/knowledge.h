// What a warp knows of other blocks of its grid: for each of their warps, up to which of its ticks
// what it did comes before what the one who knows does now. Blocks that did the same are known by
// one run, so that thousands of them cost little.
#pragma once
#include "base/base.h"

enum { EVERY_WARP = LANES }; // a run's warp: all of the block's

typedef struct Run {
    u32 warp;        // in its block, or EVERY_WARP
    u32 first, last; // blocks
    u32 tick;
} Run;

typedef struct Knowledge { // {0}: nothing is known
    Run *runs;             // by warp, then by block, without overlap
    u32 count, room;
} Knowledge;

// What is known to `from` is known to `to` as well. Where there are very many runs they are taken
// together: then more counts as known than is.
void knowledge_join(Knowledge *to, const Knowledge *from);
void knowledge_add(Knowledge *to, u32 block, u32 warp, u32 tick);

// Ticks of that warp up to this one are known; 0: none.
u32 knowledge_of(const Knowledge *, u32 block, u32 warp);

bool knowledge_has(const Knowledge *, u32 first,
                   u64 count); // anything of so many blocks, from that one on

void knowledge_clear(Knowledge *);
void knowledge_free(Knowledge *);
