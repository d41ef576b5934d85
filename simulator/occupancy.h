// How many blocks of a kernel a multiprocessor holds at once.
#pragma once
#include "grid.h"

enum occupancy_limit { OCCUPANCY_WARPS, OCCUPANCY_BLOCKS, OCCUPANCY_REGISTERS, OCCUPANCY_SHARED, OCCUPANCY_LIMITS };

typedef struct Occupancy {
    u32 blocks;                         // on one multiprocessor; 0: such a block fits on none
    u32 limits[OCCUPANCY_LIMITS];       // that many if nothing else limited them
    enum occupancy_limit limit;         // what does, the first of the smallest
} Occupancy;

// For blocks of `threads` threads with that many bytes of dynamic shared memory. It is as exact as the kernel's
// hardware_registers are.
Occupancy occupancy_blocks(const Kernel *kernel, u32 threads, u32 dynamic_shared);

// Blocks of a launch that the whole device holds at once, at least 1.
u32 occupancy_resident(const Launch *launch);
