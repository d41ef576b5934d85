// What checkers and counters see of the machine. The executor calls these and knows none of them.
#pragma once
#include "isa/isa.h"
#include "grid_state.h"

// Neighbouring lanes that take part, each at the address of the one before it or right behind that:
// all bytes of the span are touched, and none beside it by these lanes.
typedef struct Span {
    u64 address; // of the lowest of them
    u32 bytes;
    u32 lanes;
} Span;

enum { VALUE_BYTES = 16 }; // that a lane moves at most

// One memory instruction of one warp, before it happens; or a shard of one, where it touches
// several places for each lane.
typedef struct Access {
    Warp *warp;
    Grid *grid;
    Block *owner; // shared: whose it is, another one of the cluster's perhaps; NULL: nobody's
    const Insn *insn;
    u32 pc;           // of that
    u32 mask;         // lanes that take part, at least one
    u32 first;        // the lowest of them
    enum space space; // SPACE_GLOBAL, SPACE_SHARED or SPACE_LOCAL: generic addresses are sorted out
    bool store;       // it writes
    bool atomic;      // it reads and writes in one step
    u32 bytes;        // that each lane reads or writes
    u64 base;         // address[first]
    u8 elements,
        width; // registers of each lane that are loaded or stored, and bytes of each in memory
    u8 register_width;
    const u32 *vector; // their rows
    u8 element_bytes;  // of a matrix: bytes of its elements, each of which counts for itself; 0: it
                       // is none
    bool trans; // the register of a lane has what a transposed matrix of 8 rows of 16 bytes has
                // there
    bool adds;  // a load: to what the access before it put into the same register
    const u8 *values; // a store of what no register has as it is: lane l's bytes at values +
                      // VALUE_BYTES * l; else NULL
    bool again; // in a cluster: of an instruction of which another shard has been looked at (lsu.c)
    bool told;  // an observer has said all that there is to say of its order
    bool mbarrier; // of an mbarrier: no data is moved, and the calls below say whom it puts before
                   // whom
    bool bulk;  // a shard of a copy in bulk, by one thread, past L1 and beside the load/store unit
    bool noted; // in a shard of a grid: shard.c has seen it
    const u32 *unchanged; // a store that has happened: the lanes that stored what was there
                          // already; else NULL
    u16 *undefined; // an asynchronous copy: byte n of lane l is one that nothing wrote if bit n %
                    // 16 of undefined[l + n / 16] is set. The load says so to the store
    u32 *sequence;  // an asynchronous copy's store: the number that an observer has given its
                    // beginning, by which it is known again once it has been waited for, or 0; else
                    // NULL
    bool regular; // if so, address[l] == address[first] + (l - first) * stride in the lanes of the
                  // mask
    s64 stride;   // bytes from lane to lane, where regular
    bool filled; // the two arrays are filled in: whoever is `frugal` sees to that, by access_fill()
                 // (access_pattern.h)
    _Alignas(64) u64 address[LANES]; // global: device address; shared, local: offset
    u32 span_count; // one where all lanes read the same or side by side; one for each lane at worst
    Span span[LANES];   // by rising lane
    u32 sectors, lines; // once access_pieces() has worked them out (coalesce.h); 0: not yet
    struct AccessPattern *pattern; // what the instruction remembers of it (access_pattern.h); NULL:
                                   // this is a shard of what it does
    u64 pass_from, pass_to; // what an observer promises here: it need not see accesses of this
                            // instruction and pattern again, in this launch, whose lowest lane's
                            // address is aligned and from pass_from up to below pass_to
} Access;

// Does it go by the network between multiprocessors, to other blocks' shared memory?
static inline bool access_is_far(const Access *a)
{
    return a->space == SPACE_SHARED
        && (a->owner != a->warp->block || (a->insn->cluster && !a->mbarrier && !a->bulk));
}

static inline void access_pass_all(Access *a) { a->pass_from = 0, a->pass_to = ~0ull; }

struct PatternLines; // access_pattern.h

typedef struct Observer {
    void (*grid_start)(Grid *);
    void (*grid_turn)(Grid *); // it begins, or goes on after others have run: memory may have
                               // changed, and be gone
    void (*block_make)(
        Block *); // a slot, in which blocks run one after another: room for what is known of them
    void (*block_free)(Block *);
    void (*block_start)(Block *);       // a block begins in its slot
    void (*block_end)(Block *);         // its last warp has ended
    void (*step)(Warp *, const Insn *); // the next instruction of a warp that has a `trace`
    bool (*access)(Access *); // false: it must not happen; the observer has called grid_fail(). An
                              // asynchronous copy reads and writes, as far as they are concerned,
                              // when it begins
    bool traced;              // `access` looks at nothing but atomics and warps that have a `trace`
    bool frugal; // `access` does with the pattern of the access, or fills in its arrays itself
    // Instead of `access`, of those that follow (access_sweep.h) and have this observer's bit in
    // `rest`; they have happened. Without it each is seen by itself.
    void (*swept)(Block *, u32 bit);
    // Instead of `access`, of one to global memory that is nothing but moves, and whose lines its
    // pattern remembers.
    void (*known_lines)(Warp *, const Insn *, u32 pc, u64 address, const struct PatternLines *);
    void (*loaded)(Access *); // a load has put its values into the registers
    void (*copied)(Access *); // an asynchronous copy has been waited for: its access to shared
                              // memory once more
    void (*barrier)(
        Block *,
        u32 arrived); // every thread of the block has arrived, in these warps, or has ended
    // Of these warps some have met at a barrier that is not for all: what the `arrived` did comes
    // before what the `freed` do from now on.
    void (*partial_barrier)(Block *, u32 arrived, u32 freed);
    void (*cluster_arrive)(Warp *, const Insn *); // lanes of it arrive at the cluster's barrier
    void (*cluster_wait)(Warp *);            // and others go on that have waited there, or need not
    void (*warp_barrier)(Warp *, u32 lanes); // these lanes have met at a __syncwarp()
    void (*waited)(Warp *, u64 clocks);  // by its latest instruction, a look at a clock or a sleep
    void (*fence)(Warp *, const Insn *); // a membar or fence, of its insn's order and scope
    // Of mbarriers, lanes of an access: they have made one each; they have arrived at one, or
    // brought bytes, and all that its phase waits for may be there by that; they have seen the end
    // of a phase.
    void (*mbarrier_made)(Access *);
    void (*mbarrier_arrived)(Access *, bool completes);
    void (*mbarrier_waited)(Access *);
    void (*proxy_fence)(
        Warp *); // between generic accesses to shared memory and those of copies in bulk
    // Lane l of those `here` has got register i->a of lane from[l], which need not be here itself.
    void (*shuffled)(Warp *, const Insn *i, u32 here, const u8 from[LANES]);
    void (*grid_end)(Grid *);
    void (*grid_free)(Grid *); // nobody asks any more what was kept of it
    // Of a launch whose blocks run in several threads (shard.h), each on a shard of the grid; all
    // above but the grid's own are then called in that thread.
    bool (*needs_block_order)(
        Grid *); // must its blocks be seen one after another? Asked behind grid_start
    void (*shard_make)(
        Grid *shard); // a shard is the grid over again, with counts, patterns and a slot of its own
    void (*shard_free)(Grid *shard);
    bool (*shards_may_commit)(Grid *, Grid *const *shards,
                              u32 count); // may what they did count, and be taken over?
    void (*shard_rollback)(Grid *shard);  // it does not: memory is as it was before it
} Observer;

// In a shard: `then` is to be called in its place among all blocks of the grid, with the grid and
// with those bytes, which the caller fills in now; or `dropped`, when what the shard does does not
// count.
void *grid_defer(Grid *shard, void (*then)(Grid *, void *, bool dropped), size_t bytes);

// Tells observers of those that have followed so far. To be called before anything else is told of
// the block.
void sweep_flush(Block *);

// In a shard: an observer is about to note, outside of the shard, that the store happens, as if it
// could not be put back.
void shard_save_before(Access *a);

// In a shard: may the kernel store to the allocation there, as far as is known yet?
bool shard_may_store(const Grid *shard, u64 address);

// In a shard: what comes now depends on the order of blocks. What the shard does does not count,
// and its blocks run again.
void shard_abort(Grid *shard);

// Works out `first`, `base`, the pattern and the spans from the mask and the addresses
// (access_pattern.c).
void access_analyse(Access *);

// Who looks on, in the order in which they look: those that refuse an access come before those that
// count it. At most 10.
typedef struct Observers {
    const Observer *const *list;
    u32 count;
    u32 count_bytes; // of what they count at each instruction of a grid (Grid.counts): sums of 64
                     // bits, which begin at 0, and to which those of shards are added
    bool bare;       // they only keep kernels within their memory
} Observers;

void observers_set(Observers);

extern const Observer *const *observers;
extern u32 observer_count;
extern bool observers_are_bare;
extern u32 observer_count_bytes;

#define OBSERVERS(method, ...)                                                                     \
    for (u32 o_ = 0; o_ < observer_count; o_++)                                                    \
        if (observers[o_]->method) observers[o_]->method(__VA_ARGS__)
