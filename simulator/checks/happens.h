// Which of a grid's memory accesses come before which (PTX memory consistency model, "causality
// order"): by program order, barriers, __syncwarp(), and hand-offs, in which one thread writes a
// place strongly, behind a fence or as a release, and another reads it strongly, before a fence or
// as an acquire.
//
// Blocks have numbers among those of all launches that nothing puts in order: a flag may go from
// one to another.
//
// Time of a block is counted in ticks: an access happens in the tick that the block stands at, and
// whatever may hand over what was done so far ends the tick.
#pragma once
#include "knowledge.h"
#include "machine/observer.h"
#include "slots.h"

// What is known of a launch.
typedef struct RaceGrid {
    u32 operation;   // among those that are remembered (operations.h)
    u32 first_block; // number of its first block among those of all launches that are remembered
    struct Reads *reads; // of a part: what it has read (reads.h)
} RaceGrid;

static inline RaceGrid *race_grid(const Grid *g) { return g->kept[GRID_RACE]; }

enum {
    NEAR,
    CLUSTER,
    FAR,
    REACHES
}; // how far a fence or a flag reaches: its block, the blocks of its cluster, or all

// A place that was read strongly, and which of its messages was there then: what wrote that comes
// before what follows the read.
enum { MOST_OBSERVED = 4 };
typedef struct Observed {
    u64 key;
    u32 version;
} Observed;

typedef struct WarpOrder {
    u32 own[LANES]; // [v]: ticks of warp v of its block up to this come before what this warp does
                    // now
    u32 own_pending[REACHES][LANES]; // the same of what it has read a flag of, but with no fence
                                     // behind that reaches so far
    u32 own_hint[LANES];             // the same if every hand-off had its fences
    Knowledge known, pending[REACHES], hint; // the same of other blocks
    Knowledge reads;                  // and of what their threads have read, a barrier behind it
    Observed observed[MOST_OBSERVED]; // the latest first
    u64 seen;                         // the place that it read last,
    u32 seen_version;                 // as of then,
    bool seen_acquired;               // by an acquire
    u32 met[LANES]
           [LANES]; // [x][y]: the visit up to which lane x knows by __syncwarp() what lane y did
    u32 latest_met, all_met; // the latest of those; that up to which all of its lanes have met
} WarpOrder;

typedef struct BlockOrder {
    u32 tick;                   // from 1 on
    u32 all;                    // ticks up to this come before what any warp of the block does now
    u32 visit;                  // accesses that were looked at
    u32 fenced[REACHES][LANES]; // [v]: up to this tick a fence stands behind what warp v did
    Knowledge known, hint, reads; // what all warps of the block have
    Observed observed[MOST_OBSERVED];
    bool told; // something stands in `warps`: seldom, where the block's barrier is all the order
               // there is
    WarpOrder *warps;
} BlockOrder;

enum before {
    BEFORE,        // it comes before what the warp does now
    UNORDERED,     // nothing says so
    FENCE_MISSING, // a flag says so, but for a fence beside it
};

void happens_forget(void); // nobody is at work, and all that was done comes before what follows
void happens_block_make(Block *, BlockOrder *);
void happens_block_free(BlockOrder *, u32 warps);
void happens_block_start(BlockOrder *, u32 warps);

void happens_block_end(BlockOrder *, u32 warps,
                       Knowledge *known); // adds what it knows of other blocks
void happens_barrier(Block *, BlockOrder *);
void happens_part_barrier(Block *, BlockOrder *, u32 arrived, u32 freed);
void happens_warp_barrier(BlockOrder *, const Warp *, u32 lanes);
// At the cluster's barrier: adds to what those learn who wait there, and learns it. `hint`: as if a
// relaxed arrival released, too.
void happens_cluster_arrive(BlockOrder *, const Warp *, const Insn *, Knowledge *message,
                            Knowledge *hint);
void happens_cluster_wait(BlockOrder *, const Warp *, const Knowledge *message,
                          const Knowledge *hint);

void happens_fence(BlockOrder *, const Warp *, const Insn *);

// The strong side of an access: it reads before, and writes after the access is looked at.
bool happens_read(BlockOrder *, const Access *);  // has it heard anything new?
bool happens_write(BlockOrder *, const Access *); // has it told all that was done so far?

// Of mbarriers: an arrival tells what its warp knows to those who see the end of the phase that it
// helps to end, and to nobody before.
void happens_mbarrier_made(const Access *);
void happens_mbarrier_arrived(BlockOrder *, const Access *, bool completes);
void happens_mbarrier_waited(BlockOrder *, const Access *);

// Does what a warp of some block did in a tick, a store or a load, come before what this warp does
// now?
enum before happens_before(const BlockOrder *, const Warp *, u32 block, u32 warp, u32 tick,
                           bool store);

// Has the warp, or its block before a barrier, read what a strong write to that address left, or
// what atomics made of that? (PTX's observation order, in which nothing else comes before what
// follows the read.) The write was that of a warp of some block, in a tick.
bool happens_observed(const BlockOrder *, const Access *, u64 address, u32 block, u32 warp,
                      u32 tick);

// Has it any word of that other block?
bool happens_heard_of(const BlockOrder *, const Warp *, u32 block);

// Those of `others` of which the lane of this warp has not heard since a visit, at any
// __syncwarp().
u32 happens_unmet(const BlockOrder *, const Warp *, u32 lane, u32 others, u32 visit);
