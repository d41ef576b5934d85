// The machine while it runs: a grid's blocks, a block's warps, and the 32 lanes of a warp, which
// run one instruction at a time under a mask.
#pragma once
#include "grid.h"
#include "isa/isa.h"

// Where the windows onto shared and local memory, and onto the kernel's parameters, lie in the
// generic address space.
#define SHARED_WINDOW 0x100000000000ull
#define LOCAL_WINDOW 0x110000000000ull
#define PARAM_WINDOW 0x130000000000ull
#define WINDOW_SPAN (1ull << 32)
#define CLUSTER_WINDOW (1u << 24) // in shared memory: of each block of a cluster (cluster.h)

// One decoded instruction. Operands are offsets of rows in the warp's register file; a constant has
// a row too.
struct Insn {
    void (*run)(Warp *warp, const Insn *insn, u32 mask);
    u32 d, a, b, c;
    u32 guard;      // row of the predicate before it, 0: none
    u32 guard_flip; // ~0 for @!p
    bool moves; // its handler may change the warp's path; all others leave Warp.pc and Warp.active
                // alone
    bool plain; // nor does it look at them, touch memory, or fail
    bool aloud; // observers may be told of it otherwise than of an access to memory, or the kernel
                // may end by it
    u32 target; // a branch's instruction; a call's function; a clock; call parameters: bytes a lane
    u32 location; // index into the kernel's locations
    u32 shape;    // memory: its number among the kernel's
    u32 lasting; // its number among those whose result lasts from block to block (lasting.h); 0: it
                 // does not
    u32 lasting_run; // so many of those in a row, from this one on, with no branch to the others
    u32 vector[4];   // memory: rows of the registers loaded or stored
    const u32 *list; // atomics of vectors: rows of d's elements and then of b's; brx: instructions;
                     // matrices: rows of d, a, b and c's registers; else NULL
    const struct Matrix *matrix; // of a MATRIX row (isa/tensor.h)
    s64 offset;                  // memory: added to the address
    u16 row;                     // in the instruction table
    u8 elements;                 // memory: 1, 2 or 4 registers
    u8 width;                    // memory: bytes of each in memory
    u8 space;                    // memory: enum space
    u8 register_width;           // memory, convert: bytes of the register
    u8 source_width;             // convert: bytes of the source register
    bool is_signed;              // memory: extend the sign
    bool strong; // memory: .volatile, .relaxed, .acquire, .release, and atomics: any order but weak
    bool past_l1;   // loads: .cg and .cv, which L1 does not keep
    u8 order;       // memory, atomics, fences: enum order
    u8 scope;       // of that order: enum scope
    bool reduces;   // atomic: nobody reads d
    u8 added_up;    // atomic: enum added_up
    bool parts;     // branch: its lanes may go different ways
    bool bit_field; // or: puts bits of b into a word of memory, of which a keeps the others
    bool cluster;   // memory: shared memory of all blocks of the cluster
    u32 predicate;  // exchange, compare: row of q, 0: none; carry: row of the carry
    u32 members;    // exchange: row of the lanes that take part
    u32 flip;       // exchange: ~0 for !a; compare: for !c
    u8 combine;     // compare: enum combine; c: the predicate that is combined with it
    bool as_number; // compare: `set`: vector[0] gets the number `offset` or 0
};

// Memory order as PTX's memory consistency model has it. Volatile is relaxed at system scope, and
// its accesses are all made; atomics are relaxed at the scope of the GPU unless they say otherwise;
// membar and fence.sc are ORDER_SC.
enum order {
    ORDER_WEAK,
    ORDER_VOLATILE,
    ORDER_RELAXED,
    ORDER_ACQUIRE,
    ORDER_RELEASE,
    ORDER_ACQ_REL,
    ORDER_SC
};
enum scope { SCOPE_NONE, SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };

enum combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };

// Lanes of an atomic that want one word reach it each by itself; as one, if all of the warp take
// part; as one.
enum added_up { ADDED_APART, ADDED_UP_BY_ALL, ADDED_UP };

typedef struct Constant { // a row that holds one value in all lanes, or a special register
    u32 row;
    u8 width;   // bytes a lane
    u8 special; // enum special, SPECIAL_NONE: a value
    u64 value;
} Constant;

enum special {
    SPECIAL_NONE,
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_DYNAMIC_SMEM,
    SPECIAL_TOTAL_SMEM,
    SPECIAL_DYNAMIC_BASE,
    SPECIAL_RESERVED_SMEM,
    SPECIAL_CLUSTERID_X,
    SPECIAL_CLUSTERID_Y,
    SPECIAL_CLUSTERID_Z,
    SPECIAL_NCLUSTERID_X,
    SPECIAL_NCLUSTERID_Y,
    SPECIAL_NCLUSTERID_Z,
    SPECIAL_CLUSTER_CTAID_X,
    SPECIAL_CLUSTER_CTAID_Y,
    SPECIAL_CLUSTER_CTAID_Z,
    SPECIAL_CLUSTER_NCTAID_X,
    SPECIAL_CLUSTER_NCTAID_Y,
    SPECIAL_CLUSTER_NCTAID_Z,
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_EXPLICIT_CLUSTER,
    SPECIAL_AGGREGATE_SMEM,
    SPECIAL_SHARED,        // an address in shared memory: Constant.value is its offset
    SPECIAL_SHARED_WINDOW, // where the block's own begins in the generic address space
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_ENVREG_1,
    SPECIAL_ENVREG_2,
    SPECIAL_CLOCK,
    SPECIAL_CLOCK_HI,
    SPECIAL_GLOBALTIMER,
    SPECIAL_GLOBALTIMER_HI, // read when the instruction runs
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_LANEMASK_GE,
    SPECIALS
};

typedef struct MemoryTally {
    u64 requests; // by warps with a lane that took part
    u64 sectors;  // 32-byte sectors that they touched
    u64 lines;    // lines of the cache, in which those lie
    u64 bytes;    // of one lane of each
    u64 hits;     // of loads: those that were in L1
} MemoryTally;

// What was counted at one instruction of a launch.
typedef struct Tally {
    u64 executed;  // by warps; until the grid ends, how many more than of the instruction before it
    u64 threads;   // by active lanes; likewise
    u64 divergent; // branches that parted the lanes of a warp
    MemoryTally global, local;
    u64 l2_misses;       // sectors that it asked L2 for, and that were not there
    u64 dram_sectors;    // that were fetched from DRAM for it
    u64 shared_requests; // shared memory: by warps, as one where ptxas makes them one
    u64 wavefronts;      // passes over the banks
    u64 conflicts;       // shared memory: passes beyond the ideal
    u64 far_requests,
        far_sectors;    // other blocks' shared memory: by warps, and the sectors that they touched
    u64 faults, moved;  // managed memory: page faults, and bytes that they moved to the device
    u64 received, sent; // other devices' memory: bytes over the link
    u64 looks, looking; // loads of those who wait that found what the one before had found: by
                        // warps, and by active lanes
} Tally;

// The instructions from `first` up to below `end` have run, one after the other, for these lanes.
static inline void tally_run(Tally *tally, u32 first, u32 end, u32 lanes)
{
    u32 threads = (u32)__builtin_popcount(lanes);
    tally[first].executed++, tally[first].threads += threads;
    tally[end].executed--, tally[end].threads -= threads;
}

// That instruction has not, though it was come to: it will be once more.
static inline void tally_take_back(Tally *tally, u32 pc, u32 lanes)
{
    u32 threads = (u32)__builtin_popcount(lanes);
    tally[pc].executed--, tally[pc].threads -= threads;
    tally[pc + 1].executed++, tally[pc + 1].threads += threads;
}

// Backward branches after which a warp lets the others run, so that one that waits for another does
// not wait for ever: fewer once it spins, so that waiting costs little, and again more while
// nothing comes of it.
enum { WARP_TURNS = 4096, SPIN_TURNS = 64 };

// What a warp found when it last looked at a place that others may write.
typedef struct LastLook {
    u64 at, value;
    u32 pc, mask, block;
} LastLook;

// A warp that spins: whether it does the same over and over (stand.c).
typedef struct Spin {
    u64 state;     // of registers, paths and local memory, at the end of some earlier turn
    u64 progress;  // Grid.progress then
    u64 low, high; // the lowest and the highest address that its turn asked for
    u32 age, span; // turns since then, and up to when it is kept
    bool repeats;  // it has been in that state again: nothing but another's doing can end it
} Spin;

typedef struct Path { // lanes that stand at an instruction
    u32 pc, mask;
    bool held; // until others come to it
    u32 depth; // calls that its lanes are in
} Path;

// One depth of the call stack of a warp's lanes.
typedef struct Frame {
    u32 back[LANES];     // the instruction after the call
    u32 function[LANES]; // index into the kernel's functions
    u32 top[LANES];      // bytes of local memory in use before the call
    u32 kept;            // lanes whose registers an outer call of the same function still needs
    u8 *regs;            // those: of the size of the register file
    u32 *taint;          // and their marks
} Frame;

struct Warp {
    struct Block *block;
    u8 *regs;       // the register file: rows of 32 values
    u8 *local;      // local memory: local_bytes for each lane, one lane's after another's
    u32 number;     // in its block
    u32 pc, active; // the path that runs
    u32 depth;      // calls that its lanes are in
    u32 stop;       // it must look up when it reaches this: another path stands there
    u32 live;       // lanes that have not ended
    u32 waiting;    // lanes at a barrier of the block: all that live, or none
    u32 barrier;    // its number
    u32 arrived;    // lanes that have come to a barrier while others of the warp have not
    u32 arrived_pc; // that barrier
    u32 arrived_at; // its number
    u32 votes;      // bar.red: what they bring
    u32 come_count;
    Path come[LANES]; // the instructions by which they came: each goes on behind its own
    u32 skipped;      // lanes that were seen beyond it
    u32 cluster_come; // lanes that have arrived at the cluster's barrier,
    u32 cluster_held; // of them, those that wait there,
    u32 cluster_owed; // and those that have arrived before all last did, and need not wait
    u32 cluster_pc;   // where the latest of them waits
    u32 turns;        // backward branches since it was last given the machine
    u32 patience;     // backward branches that a turn may have
    bool tired;       // its last turn ended so
    bool cut;         // it ended early (shuffle.h)
    u64 cut_at;       // Grid.progress when one last did
    u32 unserved;     // lanes of `atomic`, where it stands, whose turn other warps' may come before
    const Insn *atomic;
    bool doubted; // its last turn went by with reading what others may change: does what it stores
                  // now change anything?
    bool spins;   // and it read only what it had read in the one before
    const Insn
        *asked; // the latest instruction of its turn that reads what others may change, strongly
    u64 asked_low, asked_high; // the lowest and the highest address of those
    bool gave_way;             // its latest turn ended at an mbarrier whose phase is not over
    bool asks_host;            // it reads memory that the host may write
    bool asks_time;            // it reads a clock: it may give up waiting some time
    Spin spin;
    bool clock_ready;     // Grid.steps is up to date for the clock that it reads next
    u64 waited;           // clocks since its block began: asleep, or looking at a clock (waits.c)
    const Insn *looks_at; // by which it looked at a clock last; NULL: it has not
    bool waits_by_it;     // in a loop that does nothing else,
    u64 looks_since;      // which it came to when the clock showed that
    bool stacked; // some lane has called a function, taken of its stack, or launched: one of these
                  // has changed
    u32 lane_depth[LANES];
    u32 frame_top[LANES];    // bytes of local memory in use
    u32 launch_error[LANES]; // of each lane's own launches (children.h): the last
    Frame *frames;           // [depth - 1]
    u32 frame_room;
    u32 *inside; // for each function: lanes that are in a call of it
    u32 ready_count;
    Path ready[LANES]; // the paths that wait for their turn
    u32 *taint;        // for each 64 bytes of registers: lanes whose value nothing defined
    void (*watch)(Warp *, const Insn *,
                  u32 mask); // sees each instruction before it runs, also where no lane
                             // takes part (mask 0); NULL: nobody looks
    u32 *lasting;            // for each of those instructions: lanes that have run it
    struct Copies
        *copies; // asynchronous ones that it has not waited for (copy.h); NULL: it has begun none
    struct TraceWarp *trace; // what it does is noted (trace.h); NULL: it is not
    LastLook look;           // strong, at one place in global memory: counters.c
};

enum { MOST_WARPS = 1024 / LANES }; // of a block

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

// What warp after warp does, each right behind what the one before it did: whole rows of lines of
// global memory, a lane's beside the other's. The accesses of the first of them are seen one by
// one, those of the warps that follow all at once (follow.c).
enum { MOST_LED = 8 };
typedef struct Led {
    const Insn *insn;
    struct Shape *shape;
    u64 base;      // of the first warp's
    u64 next;      // of the next warp's
    u32 pc, bytes; // of its lanes together
    u32 rest;      // a bit for each observer that has to be told
    bool store;
} Led;

typedef struct Followers {
    u32 first;    // the warp that they follow
    u32 led;      // accesses that it has made; 0: nobody is followed
    u32 warp, at; // whose turn it is, and with which access
    u32 count;    // accesses that have followed
    Led access[MOST_LED];
    u32 alike[MOST_LED * MOST_WARPS]; // of each of those: lanes that stored what was there already
} Followers;

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
    bool *lasting; // of each of those instructions: all threads have run it
    u8 *shared;
    u32 shared_bytes; // static and dynamic
    u32 reserved_at; // the system's part begins there, behind a gap; if the kernel does not ask for
                     // it, it is empty
    u32 shared_span; // and ends there, as all of it does
    Barrier barriers[BARRIERS];
    Mbarriers mbarriers;
    struct Bulks *bulks;    // copies in bulk that are under way (bulk.h); NULL: it has begun none
    u64 seen;               // Grid.progress behind its latest turn
    u64 spun;               // and behind the latest in which all its warps that ran spun
    bool slow;              // shuffled: it is passed over more often than others
    u32 rounds, meetings;   // of its turn so far (block_run)
    bool arrivals;          // a warp has come to one of them since they were looked at
    u64 since;              // the grid's steps when it began
    u32 epoch;              // counts barriers, over all blocks of the slot; never 0
    struct RaceBlock *race; // what observers keep of it: race.c
    struct DefinedBlock *defined;       // undefined.c
    struct CachedBlock *cached;         // caches.c
    struct UnfinishedBlock *unfinished; // unfinished.c
    struct ProxyBlock *proxy;           // proxy.c
    Followers followers;
} Block;

struct Grid {
    Launch *launch;
    Kernel *kernel;
    Tally *tally;         // for each instruction
    struct Shape *shapes; // for each memory instruction: what its last access looked like (shape.h)
    u64 steps;            // warp instructions executed
    u64 steps_before;     // by all other grids so far; with `waited`, what the clocks show
    u64 waited;           // added when nothing happens but that warps look at a clock
    u64 waited_alone;     // by the warp that has waited longest by a clock
    u32 number;           // of the launch
    bool begun, acted;    // it has had a turn; and in the last one it did what others could see
    u64 workspace;        // of grid.sync(), 0: the launch is not cooperative
    int status;           // cudaError_t; the grid ends when it is not 0
    u32 threads;          // in a block
    u64 blocks, next;     // blocks in all, and the next to start
    u32 cluster_blocks;   // of a cluster; 1: there are none
    bool shuffled;        // its blocks and their warps have turns in no order (shuffle.h)
    u64 random;           // that of them
    u32 pace;             // and how seldom a block begins beside others
    u64 stride;           // shuffled: block stride * (n + 1) % blocks is the n-th; 0: they are not
    Block **slots;        // for blocks that are resident at the same time
    u32 slot_count;       // made so far
    u32 slot_limit;       // blocks that the device holds at once
    u32 resident, turn;   // occupied slots; the one that runs
    u32 first_sm;         // where slot 0 lies
    const Constant *changing[16]; // those that change from block to block, of 4 kinds and 4 widths
    u32 changing_count;
    u64 quiet_since; // Grid.steps when it last did
    bool in_step;    // warps of a block may run together
    bool waits;      // a warp has spun: others will
    u64 progress;    // counts what changes but registers and local memory: memory, barriers, ends
    Warp *running;
    bool *beyond; // instructions that can come after barrier beyond_pc; NULL: not worked out yet
    u32 beyond_pc;
    u32 raced,
        first_block; // what observers keep of it: race.c: its number, and that of its first block
    struct Reads *reads;       // and, of a part, what it has read (reads.h)
    bool watched;              // undefined.c: some warp of it holds a value that nothing wrote
    struct Children *children; // what it launches (children.h)
    struct Spread *spread;     // its blocks may run beside each other (spread.h); NULL: they do not
    struct Part *part;         // it is a part of such a grid; NULL: it is a whole one
    struct ManagedGrid *managed; // managed.c
    struct PeerGrid *peered;     // peer.c
    struct CachedGrid *cached;   // caches.c
    struct TracedGrid *traced;   // trace.c
};

// Runs the warp until it ends, waits, or has had its turn.
void warp_run(Warp *warp);

// Runs warps of the block that stand at one instruction in step, each instruction for one warp
// after another: what is looked up for it is so once. It is for those that see nothing of each
// other but at barriers, while nobody looks on. Then the rest is warp_run()'s. False: they did not
// get far.
bool warps_run_together(struct Block *block);

// For a handler: these lanes go on at `pc` when they are next picked.
void warp_park(Warp *warp, u32 pc, u32 mask);

// Lets a warp go on that waits at that barrier, with the barrier's results.
void barrier_free(Warp *warp, const Barrier *barrier);

// Reports a warp that cannot go on, with where its lanes stand, and ends the grid.
void warp_report_stuck(Warp *warp);

// For a handler: lanes that wait at `pc` until others of their warp stand there too.
void warp_hold(Warp *warp, u32 pc, u32 mask);

// For each instruction of the kernel: can it come after the barrier at `pc`?
const bool *grid_beyond(Grid *grid, u32 pc);

// Ends the grid with a sticky error. The first one stays.
void grid_fail(Grid *grid, int status);

// x, y, z of a lane's thread in its block.
void warp_thread(const Warp *warp, u32 lane, u32 thread[3]);

static inline void *row_of(const Warp *warp, u32 row) { return warp->regs + row; }

// So many bytes for each lane, from one row to another; each row's lanes lie so many bytes apart.
static inline void lanes_copy(u8 *to, u32 to_apart, const u8 *from, u32 from_apart, u32 bytes,
                              u32 mask)
{
    if (mask == ~0u && to_apart == bytes && from_apart == bytes) {
        __builtin_memcpy(to, from, LANES * bytes);
        return;
    }
    for (; mask; mask &= mask - 1) {
        u32 l = (u32)__builtin_ctz(mask);
        switch (bytes) {
        case 4: __builtin_memcpy(to + l * to_apart, from + l * from_apart, 4); break;
        case 8: __builtin_memcpy(to + l * to_apart, from + l * from_apart, 8); break;
        default: __builtin_memcpy(to + l * to_apart, from + l * from_apart, bytes);
        }
    }
}

// Handlers that are not of the ALU (lsu.c, flow.c, waits.c, exchange.c), under the names that
// isa.def gives them.
#define UNARY(...)
#define BINARY(...)
#define TERNARY(...)
#define CONVERT(...)
#define COMPARE(...)
#define SELECT(...)
#define LOGIC(...)
#define PACK(...)
#define UNPACK(...)
#define TEST(...)
#define PACK_4(...)
#define UNPACK_4(...)
#define CARRY(...)
#define MEMORY(...)
#define ATOMIC(...)
#define INSERT(...)
#define FENCE(...)
#define COMPARE_2(...)
#define TABLE(...)
#define VIDEO(...)
#define SAME(...)
#define MATRIX(...)
#define RARE_1(...)
#define RARE_2(...)
#define RARE_3(...)
#define RARE_CONVERT(...)
#define FLOW(name, ...) void run_##name(Warp *, const Insn *, u32 mask);
#define EXCHANGE(name, ...) void run_##name(Warp *, const Insn *, u32 mask);
#include "isa/isa.def"
#undef UNARY
#undef BINARY
#undef TERNARY
#undef CONVERT
#undef COMPARE
#undef SELECT
#undef LOGIC
#undef PACK
#undef UNPACK
#undef TEST
#undef PACK_4
#undef UNPACK_4
#undef CARRY
#undef MEMORY
#undef ATOMIC
#undef INSERT
#undef FENCE
#undef COMPARE_2
#undef TABLE
#undef VIDEO
#undef SAME
#undef MATRIX
#undef RARE_1
#undef RARE_2
#undef RARE_3
#undef RARE_CONVERT
#undef FLOW
#undef EXCHANGE

// Do the lanes that run it end, or leave the function that they are in?
static inline bool insn_ends(const Insn *i) { return i->run == run_ret || i->run == run_exit; }
static inline bool insn_jumps(const Insn *i) { return i->run == run_bra && !i->guard; }
void run_function(Warp *, const Insn *, u32 mask); // a call of a function that has a body
void call_return(Warp *, u32 mask); // these lanes, all at one depth, return from a call
void call_stacks_free(Warp *);
void call_set_stack(u32 device, u64 bytes);       // cudaLimitStackSize
void call_make_room(const Launch *);              // sets its kernel's local_bytes for it
void run_compare(Warp *, const Insn *, u32 mask); // a COMPARE row with more than a predicate to set
void run_clock(Warp *, const Insn *, u32 mask);   // mov of a clock
void run_isspacep_own(Warp *, const Insn *, u32 mask); // isspacep.shared::cta
void run_atomic(Warp *, const Insn *, u32 mask);
void atomic_go_on(Warp *); // with those of its unserved lanes whose turn it is
void run_video(Warp *, const Insn *, u32 mask);
void run_fence(Warp *, const Insn *, u32 mask);
void run_multiply(Warp *, const Insn *, u32 mask);
void run_fragment_load(Warp *, const Insn *, u32 mask);
void run_fragment_store(Warp *, const Insn *, u32 mask);
void run_rows_load(Warp *, const Insn *, u32 mask);
void run_rows_store(Warp *, const Insn *, u32 mask);
void run_rows_transpose(Warp *, const Insn *, u32 mask);
void run_copy(Warp *, const Insn *, u32 mask);
void run_copy_commit(Warp *, const Insn *, u32 mask);
void run_copy_wait(Warp *, const Insn *, u32 mask);
void run_copy_arrive(Warp *, const Insn *, u32 mask);
void run_bulk(Warp *, const Insn *, u32 mask);
void run_bulk_commit(Warp *, const Insn *, u32 mask);
void run_bulk_wait(Warp *, const Insn *, u32 mask);
void run_load(Warp *, const Insn *, u32 mask);
void run_store(Warp *, const Insn *, u32 mask);
void run_load_param(Warp *, const Insn *, u32 mask);
void run_store_param(Warp *, const Insn *, u32 mask);
