// A grid while it runs. (grid.h is the interface for launching one.)
#pragma once
#include "program/constant.h"
#include "block.h"
#include "grid.h"
#include "tally.h"

enum { GRID_SLOTS = 6 };

struct Grid {
    Launch *launch;
    Kernel *kernel;
    Tally *tally;                   // for each instruction
    void *counts;                   // the observers' 64-bit sums, of observer_count_bytes
    struct AccessPattern *patterns; // of each memory instruction (access_pattern.h)
    u64 steps;                      // warp instructions executed
    u64 steps_before;     // by all earlier grids; with `waited` and `steps`, what clocks show
    u64 waited;           // clocks that passed while warps only polled clocks
    u64 waited_alone;     // the longest Warp.waited
    u32 number;           // of the launch
    bool begun, acted;    // it has had a turn; its last turn did what others could see
    u64 workspace;        // of grid.sync(); 0: the launch is not cooperative
    bool asked_workspace; // the kernel calls grid.sync()
    int status;           // cudaError_t; the grid ends when it is not 0
    u32 threads;          // in a block
    u64 blocks, next;     // in all, and the next to start
    u32 cluster_blocks;   // of a cluster; 1: no clusters
    bool shuffled;        // its blocks and warps take turns in a random order (shuffle.h)
    u64 random;           // the state of that random sequence
    u32 pace;             // one in so many turns begins a new block
    u64 stride;           // shuffled: block stride * (n + 1) % blocks is the n-th; 0: not shuffled
    Block **slots;        // of the resident blocks
    u32 slot_count;       // made so far
    u32 slot_limit;       // blocks that can be resident at once
    u32 resident, turn;   // occupied slots; the slot that runs
    u32 first_sm;         // the SM of slot 0
    const Constant
        *changing[16]; // special registers that differ from block to block, of 4 kinds and 4 widths
    u32 changing_count;
    u64 idle_since; // Grid.steps when the grid last did something that others could see
    bool in_step;   // warps of a block may run in lockstep
    bool waits;     // a warp has spun, so others may
    u64 progress;   // counts changes of anything but registers and local memory: memory, barriers,
                    // ends
    Warp *running;
    bool *beyond; // the instructions that can follow barrier beyond_pc; NULL: not known yet
    u32 beyond_pc;
    struct DynamicLaunches *dynamic_launches; // what it launches (dynamic_launch.h)
    struct Sharding *sharding; // its blocks may run in several threads (shard.h); NULL: they do not
    struct Shard *shard;       // it is a shard of such a grid; NULL: a whole grid
    void *kept[GRID_SLOTS];    // the observers' data, a slot each
};

// For each instruction of the kernel: can it run after the barrier at `pc`?
const bool *grid_beyond(Grid *grid, u32 pc);

// Is the barrier in a loop, each round of which comes to it?
bool grid_meets_each_round(Grid *grid, u32 barrier);

// Ends the grid with a sticky error. The first error stays.
void grid_fail(Grid *grid, int status);
