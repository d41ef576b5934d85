// A block in its slot: the memory that blocks of the slot use one after another, the turns of the
// warps, and the barriers.
#pragma once
#include "access_sweep.h"
#include "grid.h"
#include "warp.h"

// A barrier of a block: for all its warps or, with `wanted`, for a number of threads.
enum { BARRIERS = 16 };
typedef struct Barrier {
    u32 wanted;       // threads; 0: all that live
    u32 threads;      // that have arrived; warps count as a whole
    u32 held, passed; // warps that wait, and warps that have only arrived (bar.arrive)
    u32 some, count;  // bar.red: has a lane a true predicate, and how many have
    bool not_all;     // some lane has a false predicate
} Barrier;

// The mbarriers that the block has initialised (mbarrier.c).
typedef struct Mbarriers {
    struct KnownMbarrier *known;
    u32 count, room;
} Mbarriers;

enum { BLOCK_SLOTS = 6 };

typedef struct Block {
    struct Grid *grid;
    u32 index[3];
    u32 number;              // in the grid, x fastest
    u32 slot;                // which of the grid's resident blocks it is
    u32 rank;                // in its cluster
    u32 shared_base;         // address of its shared memory (cluster.h)
    struct Cluster *cluster; // NULL: the kernel uses none
    bool stuck;              // it waits at the cluster's barrier and can do nothing else
    u32 sm;                  // that it runs on
    bool occupied;           // by a block that has not ended
    bool spins;              // its turn is over, and as far as it knows only others can change that
    u32 warp_count;
    Warp *warps;
    bool *invariant; // of each invariant instruction: all threads have run it
    u8 *shared;
    u32 shared_bytes; // static and dynamic
    u32 reserved_at;  // the system's part begins here, after a gap; it is empty unless the kernel
                      // asks for it
    u32 shared_span;  // and ends here, where all of it ends
    Barrier barriers[BARRIERS];
    Mbarriers mbarriers;
    struct Bulks *bulks;     // copies in bulk in flight (bulk.h); NULL: none so far
    u64 seen;                // Grid.progress after its latest turn,
    u64 spun;                // and after its latest turn in which every warp that ran spun
    bool gives_way;          // a warp of it gives way to other blocks
    bool slow;               // shuffled: it is passed over more often than others
    u32 rounds, meetings;    // of its present turn (block_run)
    bool arrivals;           // a warp has arrived at a barrier since the barriers were checked
    u64 since;               // Grid.steps when it began
    u32 barrier_count;       // counts barriers, over all blocks of the slot; never 0
    void *kept[BLOCK_SLOTS]; // the observers' data, a slot each
    AccessSweep sweep;
} Block;

// Makes a slot, whose memory suits any block of the grid. NULL: out of memory.
Block *block_make(Grid *grid, u32 slot);
void block_free(Block *block);

// Block `number` of the grid begins in the slot.
void block_start(Block *block, u32 number, u32 sm);

// Gives its warps turns. True: the block has ended. False: its turn is over (Block.spins), or the
// grid has failed.
bool block_run(Block *block);

// Runs warps of the block that are at one instruction in lockstep, so that each instruction is
// looked up once for all of them. Only for warps that see nothing of each other between barriers,
// and without observers. warp_run() does the rest. False: they soon diverged.
bool warps_run_together(struct Block *block);

// Releases a warp that waits at that barrier, with the barrier's results.
void barrier_free(Warp *warp, const Barrier *barrier);
