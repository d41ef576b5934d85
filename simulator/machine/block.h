// A block in its slot: the memory that the slot's blocks use one after another, their warps' turns
// and their barriers.
#pragma once
#include "access_sweep.h"
#include "grid.h"
#include "warp.h"

// Barriers of a block: a set of warps each, or, with `wanted`, a number of threads.
enum { BARRIERS = 16 };
typedef struct Barrier {
    u32 wanted;       // threads; 0: all that live
    u32 threads;      // that have come: whole warps count
    u32 held, passed; // warps that wait, and that have only told that they have come
    u32 some, count;  // bar.red: is there a lane with a true predicate; how many
    bool not_all;     // a lane had a false one
} Barrier;

// The mbarriers of a block that were made since it began (mbarrier.c).
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
    struct Cluster *cluster; // NULL: its kernel knows of none
    bool stuck;              // it waits at the cluster's barrier, and can do nothing else
    u32 sm;                  // that it runs on
    bool occupied;           // by a block that has not ended
    bool spins; // it has had its turn and cannot go on without others, as far as it knows
    u32 warp_count;
    Warp *warps;
    bool *invariant; // of each of those instructions: all threads have run it
    u8 *shared;
    u32 shared_bytes; // static and dynamic
    u32 reserved_at; // the system's part begins there, behind a gap; if the kernel does not ask for
                     // it, it is empty
    u32 shared_span; // and ends there, as all of it does
    Barrier barriers[BARRIERS];
    Mbarriers mbarriers;
    struct Bulks *bulks;     // copies in bulk that are under way (bulk.h); NULL: it has begun none
    u64 seen;                // Grid.progress behind its latest turn
    u64 spun;                // and behind the latest in which all its warps that ran spun
    bool slow;               // shuffled: it is passed over more often than others
    u32 rounds, meetings;    // of its turn so far (block_run)
    bool arrivals;           // a warp has come to one of them since they were looked at
    u64 since;               // the grid's steps when it began
    u32 epoch;               // counts barriers, over all blocks of the slot; never 0
    void *kept[BLOCK_SLOTS]; // what observers know of it, a slot each
    AccessSweep sweep;
} Block;

// A slot, with memory of a size that all blocks of the grid share. NULL: there is none left.
Block *block_make(Grid *grid, u32 slot);
void block_free(Block *block);

// Block `number` of the grid begins in the slot.
void block_start(Block *block, u32 number, u32 sm);

// Gives its warps turns. True: the block has ended. Else it has had its turn (Block.spins), or the
// grid has failed.
bool block_run(Block *block);

// Runs warps of the block that stand at one instruction in step, each instruction for one warp
// after another: what is looked up for it is so once. It is for those that see nothing of each
// other but at barriers, while nobody looks on. Then the rest is warp_run()'s. False: they did not
// get far.
bool warps_run_together(struct Block *block);

// Lets a warp go on that waits at that barrier, with the barrier's results.
void barrier_free(Warp *warp, const Barrier *barrier);
