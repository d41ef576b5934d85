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
    u32 blocks;                   // on one multiprocessor; 0: the block does not fit
    u32 limits[OCCUPANCY_LIMITS]; // the blocks that each limit alone would allow
    enum occupancy_limit limit;   // the tightest one, the first of equals
} Occupancy;

// For blocks of `threads` threads with that much dynamic shared memory. As exact as the kernel's
// hardware_registers.
Occupancy occupancy_blocks(const Kernel *kernel, u32 threads, u32 dynamic_shared);

// The most dynamic shared memory, up to `limit`, with which a multiprocessor holds that many
// blocks, with so many per cent preferred for shared memory (-1: no preference). As in NVIDIA's
// function, a block's reserved memory is not counted. False: it never holds so many.
bool occupancy_available(const Kernel *kernel, u32 threads, u32 blocks, u32 limit, int carveout,
                         u64 *bytes);

// The clusters that the device holds at once, if a multiprocessor holds so many of their blocks. A
// cluster lies within one group of multiprocessors.
u32 occupancy_clusters(u32 blocks_per_sm, u32 cluster_blocks);

// The blocks of a launch that the whole device holds at once, at least 1.
u32 occupancy_resident(const Launch *launch);
