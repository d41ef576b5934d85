// Which of a grid's memory accesses come before which (PTX memory consistency model, "causality
// order"): by program order, barriers, __syncwarp(), and hand-offs, in which one thread writes a
// place strongly, behind a fence or as a release, and another reads it strongly, before a fence or
// as an acquire.
//
// Blocks have numbers among those of all launches that nothing puts in order: a flag may go from
// one to another.
//
// Time of a block is counted in epochs: an access happens in the epoch that the block stands at,
// and whatever may hand over what was done so far ends the epoch.
#pragma once
#include "vector_clock.h"
#include "machine/observer.h"
#include "slots.h"

// What is known of a launch.
typedef struct RaceGrid {
    u32 operation;   // among those that are remembered (operations.h)
    u32 first_block; // number of its first block among those of all launches that are remembered
    struct ShardReads *reads; // of a part: what it has read (shard_reads.h)
} RaceGrid;

static inline RaceGrid *race_grid(const Grid *g) { return g->kept[GRID_RACE]; }

enum {
    SYNC_CTA,
    SYNC_CLUSTER,
    SYNC_WIDE,
    SYNC_SCOPES
}; // how far a fence or a flag reaches: its block, the blocks of its cluster, or all

// A place that was read strongly, and which of its messages was there then: what wrote that comes
// before what follows the read.
enum { MOST_OBSERVED = 4 };
typedef struct Observed {
    u64 key;
    u32 version;
} Observed;

typedef struct WarpClocks {
    u32 own[LANES]; // [v]: epochs of warp v of its block up to this come before what this warp does
                    // now
    u32 own_unfenced[SYNC_SCOPES][LANES]; // the same of what it has read a flag of, but with no
                                          // fence behind that reaches so far
    u32 own_if_fenced[LANES];             // the same if every hand-off had its fences
    VectorClock clock, unfenced[SYNC_SCOPES], if_fenced; // the same of other blocks
    VectorClock loads;                // and of what their threads have read, a barrier behind it
    Observed observed[MOST_OBSERVED]; // the latest first
    u64 last_read;                    // the place that it read last,
    u32 last_read_version;            // as of then,
    bool last_read_acquired;          // by an acquire
    u32 synced[LANES]
              [LANES]; // [x][y]: the visit up to which lane x knows by __syncwarp() what lane y did
    u32 latest_synced,
        all_synced; // the latest of those; that up to which all of its lanes have met
} WarpClocks;

typedef struct BlockClocks {
    u32 epoch;         // from 1 on
    u32 barrier_epoch; // epochs up to this come before what any warp of the block does now
    u32 sequence;      // accesses that were looked at
    u32 fenced[SYNC_SCOPES][LANES]; // [v]: up to this epoch a fence stands behind what warp v did
    VectorClock clock, if_fenced, loads; // what all warps of the block have
    Observed observed[MOST_OBSERVED];
    bool has_warp_clocks; // something stands in `warps`: seldom, where the block's barrier is all
                          // the order there is
    WarpClocks *warps;
} BlockClocks;

enum causality {
    BEFORE,        // it comes before what the warp does now
    UNORDERED,     // nothing says so
    FENCE_MISSING, // a flag says so, but for a fence beside it
};

void causality_reset(void); // nobody is at work, and all that was done comes before what follows
void causality_block_make(Block *, BlockClocks *);
void causality_block_free(BlockClocks *, u32 warps);
void causality_block_start(BlockClocks *, u32 warps);

void causality_block_end(BlockClocks *, u32 warps,
                         VectorClock *clock); // adds what it knows of other blocks
void causality_barrier(Block *, BlockClocks *);
void causality_partial_barrier(Block *, BlockClocks *, u32 arrived, u32 freed);
void causality_warp_barrier(BlockClocks *, const Warp *, u32 lanes);
// At the cluster's barrier: adds to what those learn who wait there, and learns it. `if_fenced`: as
// if a relaxed arrival released, too.
void causality_cluster_arrive(BlockClocks *, const Warp *, const Insn *, VectorClock *released,
                              VectorClock *if_fenced);
void causality_cluster_wait(BlockClocks *, const Warp *, const VectorClock *released,
                            const VectorClock *if_fenced);

void causality_fence(BlockClocks *, const Warp *, const Insn *);

// The strong side of an access: it reads before, and writes after the access is looked at.
bool causality_strong_read(BlockClocks *, const Access *);  // has it heard anything new?
bool causality_strong_write(BlockClocks *, const Access *); // has it told all that was done so far?

// Of mbarriers: an arrival tells what its warp knows to those who see the end of the phase that it
// helps to end, and to nobody before.
void causality_mbarrier_init(const Access *);
void causality_mbarrier_arrive(BlockClocks *, const Access *, bool completes);
void causality_mbarrier_wait(BlockClocks *, const Access *);

// Does what a warp of some block did in a epoch, a store or a load, come before what this warp does
// now?
enum causality causality_before(const BlockClocks *, const Warp *, u32 block, u32 warp, u32 epoch,
                                bool store);

// Has the warp, or its block before a barrier, read what a strong write to that address left, or
// what atomics made of that? (PTX's observation order, in which nothing else comes before what
// follows the read.) The write was that of a warp of some block, in a epoch.
bool causality_observed(const BlockClocks *, const Access *, u64 address, u32 block, u32 warp,
                        u32 epoch);

// Has it any word of that other block?
bool causality_reaches_block(const BlockClocks *, const Warp *, u32 block);

// Those of `others` of which the lane of this warp has not heard since a visit, at any
// __syncwarp().
u32 causality_unsynchronised(const BlockClocks *, const Warp *, u32 lane, u32 others, u32 sequence);
