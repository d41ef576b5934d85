// What the executor and the observers count at each instruction of a launch.
#pragma once
#include "base/base.h"

typedef struct MemoryTally {
    u64 requests; // by warps with a lane that took part
    u64 sectors;  // 32-byte sectors that they touched
    u64 lines;    // lines of the cache, in which those lie
    u64 bytes;    // of one lane of each
    u64 hits;     // of loads: those that were in L1
} MemoryTally;

// What was counted at one instruction of a launch.
typedef struct Tally {
    u64 executed;  // by warps; until the grid ends, how many more than of the instruction before it
    u64 threads;   // by active lanes; likewise
    u64 divergent; // branches that parted the lanes of a warp
    MemoryTally global, local;
    u64 l2_misses;       // sectors that it asked L2 for, and that were not there
    u64 dram_sectors;    // that were fetched from DRAM for it
    u64 shared_requests; // shared memory: by warps, as one where ptxas makes them one
    u64 wavefronts;      // passes over the banks
    u64 conflicts;       // shared memory: passes beyond the ideal
    u64 far_requests,
        far_sectors;    // other blocks' shared memory: by warps, and the sectors that they touched
    u64 faults, moved;  // managed memory: page faults, and bytes that they moved to the device
    u64 received, sent; // other devices' memory: bytes over the link
    u64 looks, looking; // loads of those who wait that found what the one before had found: by
                        // warps, and by active lanes
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
