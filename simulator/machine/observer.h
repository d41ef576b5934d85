// The interface through which checkers and counters observe the machine. The executor calls every
// observer and knows none of them.
#pragma once
#include "isa/isa.h"
#include "grid_state.h"

// Neighbouring active lanes, each with the address of the lane before it or the next one after
// that. These lanes touch every byte of the span.
typedef struct Span {
    u64 address; // of the lowest lane
    u32 bytes;
    u32 lanes;
} Span;

enum { VALUE_BYTES = 16 }; // the most that a lane moves

// One memory instruction of one warp, before it happens; or one of its parts, where it accesses
// several places for each lane.
typedef struct Access {
    Warp *warp;
    Grid *grid;
    Block *owner; // of shared memory: its own block or another of the cluster; NULL: none
    const Insn *insn;
    u32 pc;             // of that instruction
    u32 mask;           // active lanes, at least one
    u32 first;          // the lowest of them
    enum space space;   // SPACE_GLOBAL, SPACE_SHARED or SPACE_LOCAL; generic ones are resolved
    bool store;         // it writes
    bool atomic;        // it reads and writes in one step
    u32 bytes;          // that each lane reads or writes
    u64 base;           // address[first]
    u8 elements, width; // registers that each lane loads or stores, and their bytes in memory
    u8 register_width;
    const u32 *vector; // their rows in the register file
    u8 element_bytes;  // of a matrix, whose elements are checked one by one; 0: no matrix
    bool trans;        // a matrix of 8 rows of 16 bytes, transposed into or out of the registers
    bool adds;         // a load that adds to the register's content, as the one before it left it
    const u8 *values;  // a store of values that are in no register: lane l's at VALUE_BYTES * l
    bool again;        // in a cluster: another part of the instruction has been observed (lsu.c)
    bool told;         // an observer has reported what there is to report about its order
    bool mbarrier;     // it moves no data; the mbarrier_* calls below tell what it orders
    bool bulk;         // a part of a copy in bulk: by one thread, past L1 and the load/store unit
    bool noted;        // in a shard: shard.c has seen it
    const u32 *unchanged; // of a store that has happened: the lanes that changed nothing; or NULL
    // Of an asynchronous copy: bit n % 16 of undefined[l + n / 16] says that byte n of lane l is
    // undefined. Its load sets the bits for its store.
    u16 *undefined;
    // Of an asynchronous copy's store: an observer's number for the copy's beginning, by which it
    // recognises the copy when it has been waited for; 0: none yet. NULL: no asynchronous copy.
    u32 *sequence;
    bool regular; // address[l] == address[first] + (l - first) * stride in the lanes of the mask
    s64 stride;   // bytes from lane to lane, where regular
    bool filled;  // `address` and `span` are filled in. Observers that are `frugal` call
                  // access_fill() (access_pattern.h) when they need them
    _Alignas(64) u64 address[LANES]; // global: device address; shared, local: offset
    u32 span_count;                  // 1 for contiguous or equal addresses, up to one for each lane
    Span span[LANES];                // in the order of lanes
    u32 sectors, lines;              // set by the observer that needs them first; 0: not yet
    struct AccessPattern *pattern;   // its instruction's; NULL: this is a part of an instruction
    // The pass that an observer gives: it need not see this instruction's accesses with this
    // pattern again, in this launch, if the lowest lane's address is aligned and in
    // [pass_from, pass_to).
    u64 pass_from, pass_to;
} Access;

// Does it go over the network between SMs to another block's shared memory?
static inline bool access_is_far(const Access *a)
{
    return a->space == SPACE_SHARED
        && (a->owner != a->warp->block || (a->insn->cluster && !a->mbarrier && !a->bulk));
}

static inline void access_pass_all(Access *a) { a->pass_from = 0, a->pass_to = ~0ull; }

struct PatternLines; // access_pattern.h

typedef struct Observer {
    void (*grid_start)(Grid *);
    void (*grid_turn)(Grid *); // it begins, or continues after others ran: memory may have changed
    void (*block_make)(Block *); // a slot, in which blocks run one after another
    void (*block_free)(Block *);
    void (*block_start)(Block *);       // a block begins in its slot
    void (*block_end)(Block *);         // its last warp has ended
    void (*step)(Warp *, const Insn *); // the next instruction of a warp that has a `trace`

    // A memory access. False: it must not happen, and the observer has called grid_fail(). An
    // asynchronous copy counts as reading and writing when it begins.
    bool (*access)(Access *);
    bool traced; // `access` only concerns atomics and warps that have a `trace`
    bool frugal; // `access` calls access_fill() where it needs the access's arrays
    // Called instead of `access` for the following warps of a sweep (access_sweep.h), after their
    // accesses, for steps that have this observer's bit in `rest`. NULL: `access` is called.
    void (*swept)(Block *, u32 bit);
    // Called instead of `access` for a global access that consists of moves only and whose lines
    // the pattern remembers.
    void (*known_lines)(Warp *, const Insn *, u32 pc, u64 address, const struct PatternLines *);
    void (*loaded)(Access *); // a load's values are in the registers
    void (*copy_completed)(
        Access *); // an asynchronous copy has been waited for: its store once more

    void (*barrier)(Block *, u32 arrived); // every warp has arrived, these, or has ended
    // A barrier of some warps: what the `arrived` ones did comes before what the `freed` ones do.
    void (*partial_barrier)(Block *, u32 arrived, u32 freed);
    void (*cluster_arrive)(Warp *, const Insn *); // lanes arrive at the cluster's barrier
    void (*cluster_wait)(Warp *);                 // lanes have passed the cluster's barrier
    void (*warp_barrier)(Warp *, u32 lanes);      // lanes have met at a __syncwarp()
    void (*waited)(Warp *, u64 clocks);           // by polling a clock or sleeping
    void (*fence)(Warp *, const Insn *);          // with its insn's order and scope
    // Lanes have initialised an mbarrier each; have arrived at one, or brought bytes, which may
    // complete its phase; have seen the end of a phase.
    void (*mbarrier_init)(Access *);
    void (*mbarrier_arrived)(Access *, bool completes);
    void (*mbarrier_waited)(Access *);
    void (*proxy_fence)(Warp *); // between generic accesses to shared memory and copies in bulk
    // Lane l of `here` has received register i->a of lane from[l], which may be inactive; or, with
    // NULL, what all of them have made of it together.
    void (*shuffled)(Warp *, const Insn *i, u32 here, const u8 *from);
    void (*grid_end)(Grid *);
    void (*grid_free)(Grid *); // what was kept of it is no longer needed

    // Launches whose blocks run in several threads (shard.h): a shard is a copy of the grid with
    // tallies, patterns and a slot of its own. The calls above, except the grid's, are then made in
    // the shard's thread.
    bool (*needs_block_order)(Grid *); // must blocks run in sequence? Asked after grid_start
    void (*shard_make)(Grid *shard);
    void (*shard_free)(Grid *shard);
    bool (*shards_may_commit)(Grid *, Grid *const *shards, u32 count);
    void (*shard_rollback)(Grid *shard); // memory has been restored: forget what the shard did
} Observer;

// In a shard: defers a call of `then` to the blocks' place in the order of the grid. The caller
// fills in the `bytes` of its argument at once. `dropped`: the shard was rolled back.
void *grid_defer(Grid *shard, void (*then)(Grid *, void *, bool dropped), size_t bytes);

// Notifies observers of the sweep so far. To be called before any other notification about the
// block.
void sweep_flush(Block *);

// In a shard: saves the memory that the access stores to. To be called before an observer writes
// down, outside of the shard, that the store happens.
void shard_save_before(Access *a);

// In a shard: may the kernel store to the allocation at the address, as far as is known yet?
bool shard_may_store(const Grid *shard, u64 address);

// In a shard: what follows depends on the order of blocks. The shard is rolled back, and its blocks
// run again in sequence.
void shard_abort(Grid *shard);

// Fills in `first`, `base`, the spans and the stride from the mask and the addresses
// (access_pattern.c).
void access_analyse(Access *);

// The observers, in the order of the calls: those that refuse an access come before those that
// count it. At most 10.
typedef struct Observers {
    const Observer *const *list;
    u32 count;
    u32 count_bytes; // of what they count at each instruction of a grid (Grid.counts): 64-bit sums,
                     // which begin at 0, and to which those of shards are added
    bool bare;       // they only keep kernels within their memory: no checks, counters or times
} Observers;

void observers_set(Observers);

extern const Observer *const *observers;
extern u32 observer_count;
extern bool observers_are_bare;
extern u32 observer_count_bytes;

#define OBSERVERS(method, ...)                                                                     \
    for (u32 o_ = 0; o_ < observer_count; o_++)                                                    \
        if (observers[o_]->method) observers[o_]->method(__VA_ARGS__)
