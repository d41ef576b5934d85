// What the executor counts at each instruction of a launch.
#pragma once
#include "base/base.h"

// How often one instruction of a launch has run.
typedef struct Tally {
    u64 executed;  // by warps; until the grid ends, how many more than of the instruction before it
    u64 threads;   // by active lanes; likewise
    u64 divergent; // branches that parted the lanes of a warp
} Tally;

// The instructions from `first` up to below `end` have run, one after the other, for these lanes.
static inline void tally_run(Tally *tally, u32 first, u32 end, u32 lanes)
{
    u32 threads = (u32)__builtin_popcount(lanes);
    tally[first].executed++, tally[first].threads += threads;
    tally[end].executed--, tally[end].threads -= threads;
}

// That instruction has not, though it was come to: it will be once more.
static inline void tally_take_back(Tally *tally, u32 pc, u32 lanes)
{
    u32 threads = (u32)__builtin_popcount(lanes);
    tally[pc].executed--, tally[pc].threads -= threads;
    tally[pc + 1].executed++, tally[pc + 1].threads += threads;
}
