// What the executor counts at each instruction of a launch.
#pragma once
#include "base/base.h"

// How often one instruction of a launch has run.
typedef struct Tally {
    u64 executed;  // by warps; until the grid ends, relative to the instruction before it
    u64 threads;   // by active lanes; likewise
    u64 divergent; // branches at which lanes of a warp diverged
} Tally;

// These lanes have run the instructions from `first` up to, but not including, `end`.
static inline void tally_run(Tally *tally, u32 first, u32 end, u32 lanes)
{
    u32 threads = (u32)__builtin_popcount(lanes);
    tally[first].executed++, tally[first].threads += threads;
    tally[end].executed--, tally[end].threads -= threads;
}

// Takes back one execution of that instruction, which will run again.
static inline void tally_take_back(Tally *tally, u32 pc, u32 lanes)
{
    u32 threads = (u32)__builtin_popcount(lanes);
    tally[pc].executed--, tally[pc].threads -= threads;
    tally[pc + 1].executed++, tally[pc + 1].threads += threads;
}
