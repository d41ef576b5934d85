// A warp while it runs: 32 lanes, which run one instruction at a time under a mask.
#pragma once
#include "program/instruction.h"

// Backward branches after which a warp lets the others run, so that one that waits for another does
// not wait for ever: fewer once it spins, so that waiting costs little, and again more while
// nothing comes of it.
enum { WARP_TURNS = 4096, SPIN_TURNS = 64 };

// A warp that spins: whether it does the same over and over (deadlock.c).
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
    u32 arrival_count;
    Path arrival[LANES]; // the instructions by which they came: each goes on behind its own
    u32 skipped;         // lanes that were seen beyond it
    u32 cluster_arrived; // lanes that have arrived at the cluster's barrier,
    u32 cluster_waiting; // of them, those that wait there,
    u32 cluster_early;   // and those that have arrived before all last did, and need not wait
    u32 cluster_pc;      // where the latest of them waits
    u32 turns;           // backward branches since it was last given the machine
    u32 turn_limit;      // backward branches that a turn may have
    bool turn_expired;   // its last turn ended so
    bool preempted;      // it ended early (shuffle.h)
    u64 preempted_at;    // Grid.progress when one last did
    u32 unserved; // lanes of `atomic`, where it stands, whose turn other warps' may come before
    const Insn *atomic;
    bool check_stores; // its last turn went by with reading what others may change: does what it
                       // stores now change anything?
    bool spins;        // and it read only what it had read in the one before
    const Insn
        *polled; // the latest instruction of its turn that reads what others may change, strongly
    u64 polled_low, polled_high; // the lowest and the highest address of those
    bool yielded;                // its latest turn ended at an mbarrier whose phase is not over
    bool reads_host_memory;      // it reads memory that the host may write
    bool reads_clock;            // it reads a clock: it may give up waiting some time
    Spin spin;
    bool clock_ready; // Grid.steps is up to date for the clock that it reads next
    u64 waited;       // clocks since its block began: asleep, or looking at a clock (polling.c)
    const Insn *clock_insn; // by which it looked at a clock last; NULL: it has not
    bool polls_clock;       // in a loop that does nothing else,
    u64 polls_since;        // which it came to when the clock showed that
    bool stack_used; // some lane has called a function, taken of its stack, or launched: one of
                     // these has changed
    u32 lane_depth[LANES];
    u32 frame_top[LANES];    // bytes of local memory in use
    u32 launch_error[LANES]; // of each lane's own launches (dynamic_launch.h): the last
    Frame *frames;           // [depth - 1]
    u32 frame_room;
    u32 *inside; // for each function: lanes that are in a call of it
    u32 ready_count;
    Path ready[LANES]; // the paths that wait for their turn
    u32 *taint; // marks of an observer\'s, for each 64 bytes of registers: lanes. They go where
                // values go
    void (*watch)(Warp *, const Insn *,
                  u32 mask); // sees each instruction before it runs, also where no lane
                             // takes part (mask 0); NULL: nobody looks
    u32 *invariant;          // for each of those instructions: lanes that have run it
    struct Copies
        *copies; // asynchronous ones that it has not waited for (copy.h); NULL: it has begun none
    void *trace; // an observer notes each of its steps, and keeps that here; NULL: none does
};

enum { MOST_WARPS = 1024 / LANES }; // of a block

// Runs the warp until it ends, waits, or has had its turn.
void warp_run(Warp *warp);

// For a handler: these lanes go on at `pc` when they are next picked.
void warp_park(Warp *warp, u32 pc, u32 mask);

// Reports a warp that cannot go on, with where its lanes stand, and ends the grid.
void warp_report_stuck(Warp *warp);

// For a handler: lanes that wait at `pc` until others of their warp stand there too.
void warp_hold(Warp *warp, u32 pc, u32 mask);

// x, y, z of a lane's thread in its block.
void warp_thread(const Warp *warp, u32 lane, u32 thread[3]);

static inline void *row_of(const Warp *warp, u32 row) { return warp->regs + row; }

// So many bytes for each lane, from one row to another; each row's lanes lie so many bytes apart.
static inline void lanes_copy(u8 *to, u32 to_stride, const u8 *from, u32 from_stride, u32 bytes,
                              u32 mask)
{
    if (mask == ~0u && to_stride == bytes && from_stride == bytes) {
        __builtin_memcpy(to, from, LANES * bytes);
        return;
    }
    for (; mask; mask &= mask - 1) {
        u32 l = (u32)__builtin_ctz(mask);
        switch (bytes) {
        case 4: __builtin_memcpy(to + l * to_stride, from + l * from_stride, 4); break;
        case 8: __builtin_memcpy(to + l * to_stride, from + l * from_stride, 8); break;
        default: __builtin_memcpy(to + l * to_stride, from + l * from_stride, bytes);
        }
    }
}
