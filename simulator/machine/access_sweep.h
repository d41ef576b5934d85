// The sweep of a block: accesses of a warp that the following warps repeat (sweep.h).
#pragma once
#include "warp.h"

// In a sweep each warp makes the same accesses to global memory as the warp before it, at the bytes
// that follow: whole lines, contiguous from lane to lane. Observers see the first warp's accesses
// one by one and those of the following warps all at once (sweep.c).
enum { MOST_SWEEP_STEPS = 8 };
typedef struct SweepStep {
    const Insn *insn;
    struct AccessPattern *pattern;
    u64 base;      // the first warp's address
    u64 next;      // the next warp's address
    u32 pc, bytes; // bytes: of all lanes together
    u32 rest;      // observers to be notified, a bit for each
    bool store;
} SweepStep;

typedef struct AccessSweep {
    u32 first;      // the warp that leads
    u32 step_count; // accesses of the leading warp; 0: there is no sweep
    u32 warp, at;   // the warp and the access that come next
    u32 count;      // accesses of the following warps
    SweepStep access[MOST_SWEEP_STEPS];
    u32 unchanged[MOST_SWEEP_STEPS
                  * MOST_WARPS]; // of each of those: lanes that stored what was there already
} AccessSweep;
