// What the models count at each instruction of a launch, in addition to the machine's tally
// (tally.h).
#pragma once
#include "machine/grid_state.h"

typedef struct MemoryCounts {
    u64 requests; // by warps with an active lane
    u64 sectors;  // 32-byte sectors that they touched
    u64 lines;    // cache lines that hold those sectors
    u64 bytes;    // of one lane of each request
    u64 hits;     // of loads, in L1
} MemoryCounts;

typedef struct Counts {
    MemoryCounts global, local;
    u64 l2_misses;       // sectors that were requested from L2 and missed
    u64 l2_late;         // sectors that DRAM was still fetching for an earlier read
    u64 dram_sectors;    // fetched from DRAM because of it
    u64 shared_requests; // shared memory: by warps; merged accesses count once
    u64 wavefronts;      // passes over the banks
    u64 conflicts;       // wavefronts beyond the ideal
    u64 shared_words; // that the lanes of those requests wanted, those of several lanes each time
    u64 far_requests,
        far_sectors;    // other blocks' shared memory: requests, and sectors touched
    u64 far_bytes;      // that their lanes wanted
    u64 faults, moved;  // managed memory: page faults, and bytes that they migrated to the device
    u64 received, sent; // other devices' memory: bytes over the link
    u64 host_sectors, managed_sectors; // of the host's memory (pinned, or managed that stays
                                       // there), of managed memory
    u64 busy_threads;                  // threads whose first access to memory it was
    u64 shared_out,
        squares; // at instruction 0, of warps that have ended: sectors of global memory,
                 // and the squares of a busy lane's share of them, summed 32-fold
    u64 polls, polling_threads; // loads of polling warps that found an unchanged value: by warps,
                                // and by active lanes
} Counts;

static inline Counts *counts_of(const Grid *g) { return g->counts; } // [pc]
