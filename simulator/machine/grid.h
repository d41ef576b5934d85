// A launch: a grid of blocks, each a set of warps that run until they end or wait.
#pragma once
#include "program/module.h"

typedef struct Grid Grid;

typedef struct Launch {
    Kernel *kernel;
    u32 grid[3], block[3];
    u32 cluster[3];     // blocks of a cluster; 0: launched without clusters
    u32 dynamic_shared; // bytes
    const void *params; // param_bytes bytes, in the kernel's layout
    u32 device;
    u32 depth;        // 0: the host launched it; otherwise nesting of dynamic launches
    bool cooperative; // its blocks wait for each other, so all must be resident at once
    bool reaches_all; // it may access every device's memory, whatever peer access there is
    u64 limit;        // warp instructions after which it is stopped; 0: no limit
    u64 operation;    // its number among the streams' operations (clock.h)
    double at_least;  // seconds that it takes at least, because it waits for others
    double seconds;   // out: the time it takes, as an observer says
} Launch;

// The limits of a grid in blocks and of a block in threads, in each dimension.
extern const u32 grid_most_blocks[3], grid_most_threads[3];

// Does the device accept the configuration? Returns 0, or the cudaError_t of a real device.
int grid_check(const Launch *launch);

// Starts a launch, which runs in turns. The grid lives until grid_free(), and its launch must live
// as long.
Grid *grid_start(Launch *launch);

enum grid_turn {
    GRID_ENDED,      // or failed: nothing is left to run
    GRID_WAITS,      // every warp waits for others: another turn is useless before they have done
                     // something
    GRID_DEADLOCKED, // and will wait for ever, unless another launch changes something
};

// Shuffles all later launches: blocks that may communicate begin, and they and their warps take
// turns, in an order that the seed decides. Hardware may do so too; only habit begins blocks by
// their numbers. CUB's and Thrust's kernels rely on the habit, and keep it. 0: by number, each as
// long as it makes progress.
void grid_shuffle(u64 seed);
bool grid_is_shuffled(const Grid *grid);

// Gives the grid a turn, until it has ended or waits. `last`: nothing else can run, so the turn
// lasts until the grid does something, or certainly never will. `alone`: the host does nothing more
// either.
enum grid_turn grid_run(Grid *grid, bool last, bool alone);
bool grid_acted(const Grid *grid); // did its last turn do anything that others could see?
bool grid_reads_host_memory(const Grid *grid); // does it read memory that the host may write?

void grid_drop(Grid *grid, int status); // ends it at once, with a sticky error

// Ends it. Returns 0, or the sticky cudaError_t; observers have reported the rest.
int grid_finish(Grid *grid);
void grid_free(Grid *grid);
