// Random programs whose races are known beforehand. A program is a list of events in an order in
// which they can happen: loads and stores of a warp's lanes, and what puts them in order. One
// kernel runs any of them (kernel.cu); order.c says which of their accesses nothing orders; plan.c
// makes programs in which there are none, and takes something away that orders them.
#pragma once
#include <stdbool.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

enum what { LOAD, STORE, ADD, SET, WAIT, FENCE, MEET, MEET_LANES, ARRIVE, AWAIT };
enum where { GLOBAL, OWN, RANK, NOWHERE };
enum scope { WEAK, CTA, CLUSTER, GPU, SYS };
enum order { RELAXED, ACQUIRE, RELEASE, BOTH };
enum kind {
#define OP(name, ...) name,
#include "ops.def"
#undef OP
    KINDS
};
typedef struct Kind {
    const char *name;
    enum what what;
    enum where where;
    u32 bytes;
    enum scope scope;
    enum order order;
    u32 line;
} Kind;
extern const Kind kinds[KINDS];

enum {
    LANES = 32,
    MOST_WARPS = 8,
    MOST_THREADS = MOST_WARPS * LANES,
    MOST_BLOCKS = 4,
    MOST_EVENTS = 512,
    MOST_MBARRIERS = 128
};
enum {
    DATA = 512,
    FLAGS_FROM = DATA,
    AREA = DATA + 1024
};                              // bytes, in global memory and in each block's shared memory
enum { SUMS = 1, BY_LANE = 2 }; // Op.how: what it loads counts; each lane stores a value of its own

typedef struct Op {
    u32 kind, lanes, base; // lane l: base + l * stride
    int stride;
    u32 value, rank, how,
        phase; // rank: of the block, or number of the barrier; phase: of a cluster's barrier
} Op;

typedef struct Event {
    u32 warp, meeting;
    Op op;
} Event; // those of one meeting stand side by side; 0: none
typedef struct Mbarrier {
    u32 at, count, block;
} Mbarrier;

typedef struct Plan {
    u32 blocks, warps, cluster; // warps of a block; blocks of a cluster, 0: none
    bool cooperative, flags;    // flags: else blocks cannot see one another
    u32 count, mbarriers;
    Event event[MOST_EVENTS];
    Mbarrier mbarrier[MOST_MBARRIERS];
} Plan;

// plan.c: a program without races; and what is left of one when a thing that orders is taken away
// or weakened. NULL: it cannot be done; else the name of what it was. `whole`: it was taken away,
// and not weakened.
void plan_make(Plan *, u64 seed, bool flags);
const char *plan_spoil(Plan *, u64 seed, bool *whole);

// order.c
typedef struct Race {
    u32 first, second;
    bool sure;
} Race; // events; sure: also if what one lane learns all its warp knows

void order_start(const Plan *);
u32 order_next(
    u32 event,
    bool forget); // it happens, with its meeting; returns the event behind. `forget`: what is over
bool order_allows(
    const Event *,
    u32 *thread); // may it come next? If not, what that thread has done stands against it
u32 order_races(Race *races, u32 most); // of all that has happened
u32 order_sum(u32 thread);              // what it has loaded
u8 order_byte(u32 at);                  // of global memory

// kernel.cu: runs the program. False: threads have loaded, or left in memory, what order.c does not
// say.
bool run_plan(const Plan *, bool compare);
