// What models count at each instruction of a launch, beside what the machine does (tally.h).
#pragma once
#include "machine/grid_state.h"

typedef struct MemoryCounts {
    u64 requests; // by warps with a lane that took part
    u64 sectors;  // 32-byte sectors that they touched
    u64 lines;    // lines of the cache, in which those lie
    u64 bytes;    // of one lane of each
    u64 hits;     // of loads: those that were in L1
} MemoryCounts;

typedef struct Counts {
    MemoryCounts global, local;
    u64 l2_misses;       // sectors that it asked L2 for, and that were not there
    u64 dram_sectors;    // that were fetched from DRAM for it
    u64 shared_requests; // shared memory: by warps, as one where ptxas makes them one
    u64 wavefronts;      // passes over the banks
    u64 conflicts;       // shared memory: passes beyond the ideal
    u64 far_requests,
        far_sectors;    // other blocks' shared memory: by warps, and the sectors that they touched
    u64 faults, moved;  // managed memory: page faults, and bytes that they moved to the device
    u64 received, sent; // other devices' memory: bytes over the link
    u64 polls, polling_threads; // loads of those who wait that found what the one before had found:
                                // by warps, and by active lanes
} Counts;

static inline Counts *counts_of(const Grid *g) { return g->counts; } // [pc]
