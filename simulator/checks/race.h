// What is between the rooms that look for races: race.c, which sees every access, race_shard.c,
// which puts off those of a part of a grid, race_cluster.c, which sees to it that other blocks are
// there, and race_report.c, which tells.
#pragma once
#include "operations.h"
#include "report/report.h"

// One side of a race.
typedef struct Side {
    const Operation *operation;
    u32 block, warp, lane, pc;
    bool store;
} Side;

typedef struct Race {
    Side now, before; // as they were looked at, which says nothing of their order
    enum space space;
    const Block *owner; // shared: whose it is
    u64 address;
    enum causality order;
    bool block_only,
        cluster_only; // both are strong, one of them for its own block alone, or cluster,
    bool device_only; // or for its own device alone, and they are of two
    const Insn *divergent_barrier; // a barrier at which one lane of the warp stands while another
                                   // has gone by; or NULL
    bool missed; // a barrier of the block's others came behind the end of the earlier one's warp
} Race;

// What whole warps did in global memory, one after the other, and each the same to the bytes right
// behind those of the warp before it: the accesses of the first of them, and how many it were. The
// last warp may not have done all.
enum { MOST_SWEEP_ACCESSES = 8 };
typedef struct SweepAccess {
    u64 base;
    u32 pc;
    u16 bytes;
    bool store;
} SweepAccess;
typedef struct Sweep {
    u32 count;      // accesses, warp by warp
    u8 first, rows; // warp; accesses of each
    SweepAccess row[MOST_SWEEP_ACCESSES];
    u32 unchanged[MOST_SWEEP_ACCESSES * MOST_WARPS]; // of each access: as Access.unchanged
} Sweep;
typedef struct RemoteAccess {
    u32 epoch;
    Side side;
} RemoteAccess; // epoch 0: there was none

struct RaceBlock {
    BlockClocks order;
    Shadow shared;
    u64 shared_span;        // bytes, whole lines
    Sweep sweep;            // in a part of a grid: what is not put off yet
    u32 latest[MOST_WARPS]; // of each warp: the epoch in which it last touched memory
    u32 missed; // warps that have ended without coming to a barrier at which the others have met
                // since
    RemoteAccess *remote_accesses; // in a cluster: for each warp of each other block, its latest to
                                   // this one's shared memory; NULL: none
    u32 phase;                     // of the block of rank 0: the latest of the cluster's barrier
    VectorClock released[2],
        if_fenced[2]; // what those learn who wait there: by phase, of which two are under way
};

static inline struct RaceBlock *race_block(const Block *b) { return b->kept[BLOCK_RACE]; }

extern Shadow race_global; // of global memory

// race.c: looks at an access, in its turn.
bool race_access(Access *);
void race_synchronised(
    Grid *); // somebody there has sync_count what another did, or has told what it did, or may have
// The bytes that a lane stores are there already, or, for another lane of the same instruction, are
// stored by that as well.
bool race_stores_same(const Access *, u32 lane, u32 other); // LANES: what is there

// race_shard.c: what a part does in global memory, and what orders it, to be looked at when its
// turn has come.
typedef struct Event {
    enum { EVENT_START, EVENT_BARRIER, EVENT_PARTIAL_BARRIER, EVENT_WARP_BARRIER } kind;
    u32 what, freed;
} Event;
void race_shard_make(Grid *shard);
void race_shard_free(Grid *shard);
void race_shard_rollback(Grid *shard);
bool race_defer(Access *);
void race_swept(Block *, u32 bit); // in a part or not
void race_defer_sweep(Grid *shard, Sweep *);
void race_defer_event(const Block *, Event);
void race_free_replayed_block(void); // the grid has ended

// race_cluster.c: a thread touches another block's shared memory, and the block ends that others
// have touched.
void race_remote_access(const Access *);
void race_check_remote_accesses(const Block *);
void race_cluster_arrive(Warp *, const Insn *);
void race_cluster_wait(Warp *);

// race_report.c
void race_report(const Race *);

// What is wrong where a block of a cluster touches the shared memory of another one, which may not
// be there: it may not have begun, or, at its end, `ends`, the access may still be to come.
void race_report_absent(const Side *, const Block *owner, bool ends);

// race.c, for runtime/copy.c
// A copy or fill begins, and this is a range of device memory that it reads, or stores to: reports
// what conflicts with operations on other streams that nothing puts before it. `lasts`: the host
// does not wait for it.
void race_transfer(const Operation *, bool lasts);
void race_range(u64 address, u64 bytes, bool store);

// The kernels of earlier operations are gone, or nothing is at work any more.
void race_forget(void);
