// A launch: a grid of blocks, each a set of warps that run until they end or wait.
#pragma once
#include "ptx/module.h"

typedef struct Launch {
    Kernel *kernel;
    u32 grid[3], block[3];
    u32 dynamic_shared;                 // bytes
    const void *params;                 // param_bytes bytes, laid out as the kernel says
    u32 device;
    bool cooperative;                   // its blocks wait for each other: all must be resident at once
    u64 limit;                          // warp instructions after which it is stopped; 0: none
    u64 operation;                      // among those of the streams (clock.h)
    double seconds;                     // out: how long it takes (timing.h)
} Launch;

// Is the configuration one that the device takes? 0, or the cudaError_t that a real device gives.
int grid_check(const Launch *launch);

// Runs it to its end. 0, or the sticky cudaError_t that it ended with. Observers have reported the rest.
int grid_run(Launch *launch);
