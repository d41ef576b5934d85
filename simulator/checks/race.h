// The interface between the files of the race detector: race.c checks every access, race_conflict.c
// tells whether two accesses race, race_shard.c defers the accesses of a shard of a grid,
// race_cluster.c checks that a cluster's other blocks are there, and race_report.c writes the
// reports.
#pragma once
#include "operations.h"
#include "exchanges.h"
#include "report/report.h"

// One side of a race.
typedef struct Side {
    const Operation *operation;
    u32 block, warp, lane, pc;
    bool store;
} Side;

typedef struct Race {
    Side now, before; // in the order in which they were checked, which says nothing of their order
    enum space space;
    const Block *owner; // of shared memory
    u64 address;
    enum causality order;
    bool block_only, cluster_only; // both are strong, but the scope of one is its block, or cluster
    bool in_step;                  // both are volatile, of lanes of one warp
    bool device_only;              // or its device, and they are on two devices
    const Insn *divergent_barrier; // one lane waits at this barrier, the other has passed it; or
                                   // NULL
    const Insn *missed; // the barrier of the block's other warps before which the earlier access's
                        // warp ended; or NULL
    bool in_loop;       // that warp has met a barrier of the same loop before
    bool cooperative;   // the launch is
} Race;

// A sweep: consecutive whole warps make the same accesses to global memory, each warp to the bytes
// that follow those of the warp before it. The struct holds the first warp's accesses and the
// number of all. The last warp may have made only some.
enum { MOST_SWEEP_ACCESSES = 8 };
typedef struct SweepAccess {
    u64 base;
    u32 pc;
    u16 bytes;
    bool store;
} SweepAccess;
typedef struct Sweep {
    u32 count;      // accesses of all warps
    u8 first, rows; // the first warp; accesses of each warp
    SweepAccess row[MOST_SWEEP_ACCESSES];
    u32 unchanged[MOST_SWEEP_ACCESSES * MOST_WARPS]; // Access.unchanged of each
} Sweep;
// A warp's latest access to the shared memory of another block of its cluster.
typedef struct RemoteAccess {
    u32 epoch; // 0: none
    Side side;
} RemoteAccess;

struct RaceBlock {
    BlockClocks order;
    Shadow shared;
    u64 shared_span;               // bytes, whole lines
    Sweep sweep;                   // in a shard: accesses that are yet to be deferred
    u32 latest[MOST_WARPS];        // of each warp: the epoch in which it last touched memory
    u32 missed;                    // warps that ended before the latest barrier of the others,
    const Insn *missed_barrier;    // this one
    Exchanges *exchanges;          // NULL: nothing
    u32 serial;                    // of the blocks in this slot; 0: a stand-in's (race_shard.c)
    u32 misread;                   // warps that have read in a race
    RemoteAccess *remote_accesses; // of each warp of the cluster's other blocks; NULL: none
    u32 phase;                     // in the block of rank 0: the cluster barrier's latest phase
    VectorClock released[2], if_fenced[2]; // of the barrier's two latest phases, by parity
};

static inline struct RaceBlock *race_block(const Block *b) { return b->kept[BLOCK_RACE]; }

extern Shadow race_global; // of global memory

// race.c: checks an access; to be called in the order of the grid's blocks.
bool race_access(Access *);
void race_synchronised(Grid *); // a warp may have acquired or released something

// race_conflict.c, as ShadowCheck asks it: does the access race with that earlier one, as far as
// bytes `from` up to `to` go? The race is reported then. And does the earlier read come before the
// access?
bool race_conflicts(ShadowCheck *, const Site *earlier, u64 from, u64 to);
bool race_follows(ShadowCheck *, const Site *earlier);
void race_conflicts_reset(void); // a launch begins: none has been reported

// Reports the race of two lanes, or, in a shard, aborts the shard.
bool race_found(const Access *, const ShadowCheck *, const Site *earlier, u32 lane, u32 other,
                enum causality order);

// A copy or fill may set a flag that a kernel reads strongly, or read one that it stores so.
bool race_may_be_flag(const Site *of_kernel);

// Does a lane store what another lane of the instruction stores, or, where `other` is LANES, what
// memory holds already?
bool race_stores_same(const Access *, u32 lane, u32 other);

// race_shard.c: a shard's accesses to global memory, and the events that order them, are deferred
// until every earlier block of the grid has been checked.
typedef struct Event {
    enum { EVENT_START, EVENT_BARRIER, EVENT_PARTIAL_BARRIER, EVENT_WARP_BARRIER } kind;
    u32 what, freed;
} Event;
void race_shard_make(Grid *shard);
void race_shard_free(Grid *shard);
void race_shard_rollback(Grid *shard);
bool race_defer(Access *);
void race_swept(Block *, u32 bit); // in a shard or not
void race_defer_sweep(Grid *shard, Sweep *);
void race_defer_event(const Block *, Event);
void race_free_replayed_block(void); // the grid has ended

// race_cluster.c: a thread touches another block's shared memory; a block ends whose shared memory
// others have touched.
void race_remote_access(const Access *);
void race_check_remote_accesses(const Block *);
void race_cluster_arrive(Warp *, const Insn *);
void race_cluster_wait(Warp *);

// race_report.c
void race_report(const Race *);

// Reports an access to the shared memory of a block that may not exist: the block may not have
// begun yet, or, with `ends`, it may end before the access.
void race_report_absent(const Side *, const Block *owner, bool ends);

// race.c, for runtime/copy.c: a copy or fill begins, and then each range of device memory that it
// reads or stores to. Reports conflicts with unordered operations on other streams. `lasts`: the
// host does not wait for it.
void race_transfer(const Operation *, bool lasts);
void race_range(u64 address, u64 bytes, bool store);

// Forgets every operation so far: all are complete, or their kernels were unloaded.
void race_forget(void);
