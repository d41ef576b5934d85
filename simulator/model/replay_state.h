// The state of a replay: the multiprocessor's units and the warps that are replayed.
#pragma once
#include "replay.h"

enum { L1_WAYS = 4, L1_QUEUE = 448, WIDE_KEPT = 16, GROUPS = 16 };

typedef struct L1Line {
    u64 line;
    u32 sectors;
    double used, ready;
} L1Line;

typedef struct Runner { // a warp that is being replayed
    const TraceWarp *warp;
    u32 at; // its next step
    u32 scheduler, slot;
    double start;           // when its block began
    double ready;           // when its next step's operands are ready
    double *reg;            // when each register is ready
    double wide[WIDE_KEPT]; // when its latest wide loads complete, by their numbers
    double copied;          // when all its copies so far complete,
    double groups[GROUPS];  // and those up to a committed group
    u32 group;
    double bulk;                           // when the sources of its copies in bulk have been read
    double scoreboard[NATIVE_SCOREBOARDS]; // when what each stands for is there
    bool native;                           // its latest step was
    struct Runner *behind;                 // the next runner that waits for the same phase
} Runner;

typedef struct Phase { // of an mbarrier
    u32 missing;       // steps that have yet to help to complete it
    double over;       // the latest of those so far
    Runner *waiting;
} Phase;

typedef struct Slot {  // a block that is being replayed
    u32 live, waiting; // warps
    double arrived;    // the last one at the barrier
    Runner *runner;    // warp_count of them
} Slot;

// What takes one after another: when it is free next, and how long it was busy so far.
typedef struct Resource {
    double free, busy;
} Resource;

typedef struct Machine {
    const Trace *trace;
    const DeviceLoad *load;
    u32 registers;
    Resource issue[SCHEDULERS], unit[SCHEDULERS][UNITS];
    double bank[SCHEDULERS][NATIVE_BANKS]; // of registers: when each is free next
    const Runner *latest[SCHEDULERS];      // whose instruction each has issued
    double queue[L1_QUEUE]; // when the latest loads in L1 complete; it has so many places
    u32 queued;
    double *leaving; // when the latest stored lines leave L1, where so many may wait
    u32 waiting_lines, stored;
    Resource l1, port, out, dram; // `port`: for what L2 sends; `out`: for what goes there
    double atomics;               // clocks for which `out` was busy with these
    double constant_free, adu_free, launcher, end;
    double held; // sum over the ended warps: the clocks that each was resident
    struct Due {
        double misses, late;
    } * due; // of each instruction: the fractions of a miss and of a late hit that are still due
    double l2_bytes, dram_bytes; // a clock, of this SM
    L1Line *l1_line;
    u32 l1_sets;
    Slot *slot;
    u32 slot_count, warp_count;
    Runner **heap; // those that can run, the earliest first
    u32 heap_count, next_block, block_count;
    Phase *phase; // as many as the trace has
} Machine;

static inline double later(double a, double b) { return a > b ? a : b; }

// Takes the resource from that clock on, when it is free.
static inline void take(Resource *r, double from, double clocks)
{
    r->free = from + clocks;
    r->busy += clocks;
}
