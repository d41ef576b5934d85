// A grid while it runs (grid.h is what those see who launch one).
#pragma once
#include "program/constant.h"
#include "block.h"
#include "grid.h"
#include "tally.h"

enum { GRID_SLOTS = 6 };

struct Grid {
    Launch *launch;
    Kernel *kernel;
    Tally *tally; // for each instruction
    void *counts; // what observers count of it: sums, of so many bytes (observers_set)
    struct AccessPattern *patterns; // for each memory instruction: what its last access looked like
                                    // (access_pattern.h)
    u64 steps;                      // warp instructions executed
    u64 steps_before;   // by all other grids so far; with `waited`, what the clocks show
    u64 waited;         // added when nothing happens but that warps look at a clock
    u64 waited_alone;   // by the warp that has waited longest by a clock
    u32 number;         // of the launch
    bool begun, acted;  // it has had a turn; and in the last one it did what others could see
    u64 workspace;      // of grid.sync(), 0: the launch is not cooperative
    int status;         // cudaError_t; the grid ends when it is not 0
    u32 threads;        // in a block
    u64 blocks, next;   // blocks in all, and the next to start
    u32 cluster_blocks; // of a cluster; 1: there are none
    bool shuffled;      // its blocks and their warps have turns in no order (shuffle.h)
    u64 random;         // that of them
    u32 pace;           // and how seldom a block begins beside others
    u64 stride;         // shuffled: block stride * (n + 1) % blocks is the n-th; 0: they are not
    Block **slots;      // for blocks that are resident at the same time
    u32 slot_count;     // made so far
    u32 slot_limit;     // blocks that the device holds at once
    u32 resident, turn; // occupied slots; the one that runs
    u32 first_sm;       // where slot 0 lies
    const Constant *changing[16]; // those that change from block to block, of 4 kinds and 4 widths
    u32 changing_count;
    u64 idle_since; // Grid.steps when it last did
    bool in_step;   // warps of a block may run together
    bool waits;     // a warp has spun: others will
    u64 progress;   // counts what changes but registers and local memory: memory, barriers, ends
    Warp *running;
    bool *beyond; // instructions that can come after barrier beyond_pc; NULL: not worked out yet
    u32 beyond_pc;
    struct DynamicLaunches *dynamic_launches; // what it launches (dynamic_launch.h)
    struct Sharding *sharding; // its blocks may run beside each other (shard.h); NULL: they do not
    struct Shard *shard;       // it is a part of such a grid; NULL: it is a whole one
    void *kept[GRID_SLOTS];    // what observers know of it, a slot each
};

// For each instruction of the kernel: can it come after the barrier at `pc`?
const bool *grid_beyond(Grid *grid, u32 pc);

// Ends the grid with a sticky error. The first one stays.
void grid_fail(Grid *grid, int status);
