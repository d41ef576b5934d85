// Causality order of a grid's memory accesses, as the PTX memory consistency model defines it. The
// order comes from program order, barriers, __syncwarp(), and synchronisation through memory: one
// thread writes a location strongly (a release, or a write that follows a fence), and another
// thread reads that value strongly (an acquire, or a read that a fence follows).
//
// The order is kept as vector clocks in the manner of FastTrack. A block's time is counted in
// epochs. An access belongs to the epoch in which it happens; each operation that may release
// earlier accesses ends the epoch.
//
// Block numbers here count over all launches that may run at the same time, because a flag may go
// from a block of one launch to a block of another.
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

// The scopes of a fence or a strong access: the block, the blocks of its cluster, or every block.
enum { SYNC_CTA, SYNC_CLUSTER, SYNC_WIDE, SYNC_SCOPES };

// A location that was read strongly, and the version of it that was read. The writes that made up
// that version come before everything that follows the read (PTX's observation order).
enum { MOST_OBSERVED = 4 };
typedef struct Observed {
    u64 key;
    u32 version;
} Observed;

// What comes before the next access of a warp. `own` arrays hold an epoch for each warp of its own
// block; vector clocks hold those of other blocks.
typedef struct WarpClocks {
    u32 own[LANES];
    u32 own_unfenced[SYNC_SCOPES][LANES]; // read from a flag, but no fence of that scope followed
    u32 own_if_fenced[LANES];             // if every flag had been read and written with fences
    VectorClock clock, unfenced[SYNC_SCOPES], if_fenced; // the same for other blocks
    VectorClock loads;                // other blocks' loads that a barrier has completed
    Observed observed[MOST_OBSERVED]; // the latest first
    u64 last_read;                    // the location that the warp read strongly last,
    u32 last_read_version;            // which version,
    bool last_read_acquired;          // and whether that was an acquire
    u32 synced[LANES][LANES]; // [x][y]: lane x has synchronised with lane y, by __syncwarp(), up to
                              // this access of y
    u32 latest_synced;        // the highest of those
    u32 all_synced;           // up to this access every lane has synchronised with every other
} WarpClocks;

typedef struct BlockClocks {
    u32 epoch;                           // now; from 1 on
    u32 barrier_epoch;                   // all warps have met at a barrier since this epoch
    u32 sequence;                        // accesses so far
    u32 fenced[SYNC_SCOPES][LANES];      // [v]: what warp v did up to this epoch, a fence followed
    VectorClock clock, if_fenced, loads; // as in WarpClocks; they hold for every warp
    Observed observed[MOST_OBSERVED];
    bool has_warp_clocks; // false: `warps` is empty, as in most blocks, which have barriers only
    WarpClocks *warps;
} BlockClocks;

// How an earlier access relates to what a warp does now.
enum causality {
    BEFORE,
    UNORDERED,
    FENCE_MISSING, // a flag would order them if a fence stood beside it
};

void causality_reset(void); // every access so far comes before every later one

void causality_block_make(Block *, BlockClocks *);
void causality_block_free(BlockClocks *, u32 warps);
void causality_block_start(BlockClocks *, u32 warps);
void causality_block_end(BlockClocks *, u32 warps, VectorClock *join); // joins the block's clocks

void causality_barrier(Block *, BlockClocks *);
void causality_partial_barrier(Block *, BlockClocks *, u32 arrived, u32 freed);
void causality_warp_barrier(BlockClocks *, const Warp *, u32 lanes);

// The cluster's barrier: an arrival adds to the clocks `released` and `if_fenced`, and a wait joins
// them. `if_fenced` counts relaxed arrivals as if they released.
void causality_cluster_arrive(BlockClocks *, const Warp *, const Insn *, VectorClock *released,
                              VectorClock *if_fenced);
void causality_cluster_wait(BlockClocks *, const Warp *, const VectorClock *released,
                            const VectorClock *if_fenced);

void causality_fence(BlockClocks *, const Warp *, const Insn *);

// Strong accesses. The read is to be called before the access is checked for races, the write
// afterwards. Returns whether the read has acquired anything new, and whether the write has
// released everything so far.
bool causality_strong_read(BlockClocks *, const Access *);
bool causality_strong_write(BlockClocks *, const Access *);

// mbarriers: an arrival releases to the threads that see the end of the phase which it completes.
void causality_mbarrier_init(const Access *);
void causality_mbarrier_arrive(BlockClocks *, const Access *, bool completes);
void causality_mbarrier_wait(BlockClocks *, const Access *);

// Does a store or a load that a warp of some block made in an epoch come before what this warp does
// now?
enum causality causality_before(const BlockClocks *, const Warp *, u32 block, u32 warp, u32 epoch,
                                bool store);

// Has the warp observed a strong write to that address: by a strong read of the written value, or
// of what atomics made of it, or because its block did so before a barrier? The write is named by
// its block, warp and epoch.
bool causality_observed(const BlockClocks *, const Access *, u64 address, u32 block, u32 warp,
                        u32 epoch);

// Is that address itself the flag that would tell of what a warp did in an epoch, with fences? They
// would order it before what follows the flag, and not before the access to the flag.
bool causality_is_flag(const Access *, u64 address, u32 block, u32 warp, u32 epoch);

// Has the warp synchronised with that block in any way?
bool causality_reaches_block(const BlockClocks *, const Warp *, u32 block);

// The lanes of `others` with which the lane has not synchronised, by a __syncwarp(), since the
// access of that sequence number.
u32 causality_unsynchronised(const BlockClocks *, const Warp *, u32 lane, u32 others, u32 sequence);
