// A launch: a grid of blocks, each a set of warps that run until they end or wait.
#pragma once
#include "program/module.h"

typedef struct Grid Grid;

typedef struct Launch {
    Kernel *kernel;
    u32 grid[3], block[3];
    u32 cluster[3];     // blocks of a cluster; 0: it was launched without
    u32 dynamic_shared; // bytes
    const void *params; // param_bytes bytes, laid out as the kernel says
    u32 device;
    u32 depth;        // 0: the host launched it; else a kernel that was launched so
    bool cooperative; // its blocks wait for each other: all must be resident at once
    u64 limit;        // warp instructions after which it is stopped; 0: none
    u64 operation;    // among those of the streams (clock.h)
    double at_least;  // seconds that it takes, however short: it waits for others
    double seconds;   // out: how long it takes (timing.h)
} Launch;

// The most blocks of a grid and threads of a block, each way.
extern const u32 grid_most_blocks[3], grid_most_threads[3];

// Is the configuration one that the device takes? 0, or the cudaError_t that a real device gives.
int grid_check(const Launch *launch);

// A launch that runs, or waits for others to run. It lives until grid_free(), and its launch must
// live as long.
Grid *grid_start(Launch *launch);

enum grid_turn {
    GRID_ENDED, // or failed: nothing of it is left to run
    GRID_WAITS, // every warp waits for what others do: nothing comes of a further turn before they
                // have
    GRID_DEADLOCKED, // and will for ever, unless another launch changes something
};

// From now on blocks that may see one another begin, and they and their warps take turns, in an
// order that the seed makes, as they may on hardware, where only habit begins them by their
// numbers. CUB's and Thrust's kernels rely on that habit, and keep it. 0: by their numbers, each as
// far as it gets.
void grid_shuffle(u64 seed);
bool grid_is_shuffled(const Grid *grid);

// Gives it a turn, which lasts until it has ended or waits. `last`: nobody else can get on, so it
// goes on until it does something, or it is certain that it never will. `alone`: nor does the host
// do anything any more.
enum grid_turn grid_run(Grid *grid, bool last, bool alone);
bool grid_acted(const Grid *grid); // has it done anything in its last turn that others could see?
bool grid_reads_host_memory(const Grid *grid); // does it read memory that the host may write?

// It stands, and nobody can help it: reports that, and ends it. `behind`: what waits for its end,
// or NULL. `devices`: so many have kernels that stand, which touch one another's memory; 0: they do
// not.
void grid_report_deadlock(Grid *grid, const char *behind, u32 devices);
void grid_drop(Grid *grid, int status); // ends it as it is, with a sticky error

// It has ended: 0, or the sticky cudaError_t that it ended with. Observers have reported the rest.
int grid_finish(Grid *grid);
void grid_free(Grid *grid);
