// Warps whose accesses follow those of the warp before them (sweep.h).
#pragma once
#include "warp.h"

// What warp after warp does, each right behind what the one before it did: whole rows of lines of
// global memory, a lane's beside the other's. The accesses of the first of them are seen one by
// one, those of the warps that follow all at once (sweep.c).
enum { MOST_SWEEP_STEPS = 8 };
typedef struct SweepStep {
    const Insn *insn;
    struct AccessPattern *pattern;
    u64 base;      // of the first warp's
    u64 next;      // of the next warp's
    u32 pc, bytes; // of its lanes together
    u32 rest;      // a bit for each observer that has to be told
    bool store;
} SweepStep;

typedef struct AccessSweep {
    u32 first;      // the warp that they follow
    u32 step_count; // accesses that it has made; 0: nobody is followed
    u32 warp, at;   // whose turn it is, and with which access
    u32 count;      // accesses that have followed
    SweepStep access[MOST_SWEEP_STEPS];
    u32 unchanged[MOST_SWEEP_STEPS
                  * MOST_WARPS]; // of each of those: lanes that stored what was there already
} AccessSweep;
