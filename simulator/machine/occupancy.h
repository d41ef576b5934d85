// How many blocks of a kernel a multiprocessor holds at once.
#pragma once
#include "grid.h"

enum occupancy_limit {
    OCCUPANCY_WARPS,
    OCCUPANCY_BLOCKS,
    OCCUPANCY_REGISTERS,
    OCCUPANCY_SHARED,
    OCCUPANCY_LIMITS
};

typedef struct Occupancy {
    u32 blocks;                   // on one multiprocessor; 0: such a block fits on none
    u32 limits[OCCUPANCY_LIMITS]; // that many if nothing else limited them
    enum occupancy_limit limit;   // what does, the first of the smallest
} Occupancy;

// For blocks of `threads` threads with that many bytes of dynamic shared memory. It is as exact as
// the kernel's hardware_registers are.
Occupancy occupancy_blocks(const Kernel *kernel, u32 threads, u32 dynamic_shared);

// The most dynamic shared memory with which a multiprocessor is said to hold that many blocks, none
// of which may have more than `limit`, with so many per cent preferred for shared memory (-1:
// nothing is): what a block's reserved memory takes is not counted, here as in NVIDIA's. False: it
// never holds so many.
bool occupancy_available(const Kernel *kernel, u32 threads, u32 blocks, u32 limit, int carveout,
                         u64 *bytes);

// Clusters that the device holds at once, where a multiprocessor holds so many of their blocks: all
// blocks of one are on multiprocessors of one group, which has as many of them at least.
u32 occupancy_clusters(u32 blocks_per_sm, u32 cluster_blocks);

// Blocks of a launch that the whole device holds at once, at least 1.
u32 occupancy_resident(const Launch *launch);
