// A warp while it runs: 32 lanes, which run one instruction at a time under a mask.
#pragma once
#include "program/instruction.h"

// Backward branches after which a warp's turn ends, so that a warp that waits for another does not
// wait for ever. A spinning warp has shorter turns, so that waiting costs little, and longer ones
// again while nothing changes.
enum { WARP_TURNS = 4096, SPIN_TURNS = 64 };

// How a spinning warp repeats itself (deadlock.c).
typedef struct Spin {
    u64 state;     // a hash of registers, paths and local memory at the end of an earlier turn
    u64 progress;  // Grid.progress at that time
    u64 low, high; // the lowest and the highest address that its turn polled
    u32 age, span; // turns since that state, and until it is replaced
    bool repeats;  // the state has recurred: only another warp can end the spinning
} Spin;

typedef struct Path { // lanes at one instruction
    u32 pc, mask;
    bool held; // until other lanes reach it
    bool late; // until no other path can run, or a turn expires (shuffle.h)
    u32 depth; // calls that its lanes are in
} Path;

// One level of the call stacks of a warp's lanes.
typedef struct Frame {
    u32 back[LANES];     // the instruction after the call
    u32 function[LANES]; // index into the kernel's functions
    u32 top[LANES];      // bytes of local memory in use before the call
    u32 kept;            // lanes whose registers an outer call of the same function needs again
    u8 *regs;            // the saved register file
    u32 *taint;          // its marks (Warp.taint)
} Frame;

struct Warp {
    struct Block *block;
    u8 *regs;       // the register file: rows of 32 values
    u8 *local;      // local memory: local_bytes for each lane in turn
    u32 number;     // in its block
    u32 pc, active; // the path that runs
    u32 depth;      // calls that its lanes are in
    u32 stop;       // where it must stop and look again, because another path is there
    u32 live;       // lanes that have not ended
    u32 waiting;    // lanes at a barrier of the block: all that live, or none
    u32 barrier;    // the number of that barrier
    u32 arrived;    // lanes at a barrier to which others of the warp have not come
    u32 arrived_pc; // the barrier's instruction
    u32 arrived_at; // its number
    u32 votes;      // bar.red: the predicates of these lanes
    u32 arrival_count;
    Path arrival[LANES]; // the arriving instructions, or those of the latest barrier, the first
                         // ~0 if there was none: each path resumes after its own
    u32 skipped;         // lanes that were seen beyond that barrier
    u32 cluster_arrived; // lanes that have arrived at the cluster's barrier,
    u32 cluster_waiting; // those of them that wait there,
    u32 cluster_early;   // and those that arrived before the last phase ended and need not wait
    u32 cluster_pc;      // where the latest of them waits
    u32 turns;           // backward branches in this turn
    u32 turn_limit;      // backward branches that a turn may have
    bool turn_expired;   // its last turn reached the limit
    bool preempted;      // its turn was ended early (shuffle.h, warp_give_way())
    u64 preempted_at;    // Grid.progress when that happened last
    bool parted;         // lanes of it have fallen behind the others (shuffle.h),
    u64 parted_at;       // when Grid.progress was this
    u32 unserved; // lanes of `atomic`, the current instruction, that run after other warps' turns
    const Insn *atomic;
    bool check_stores; // its last turn read what others may change: compare what its stores find in
                       // memory
    bool spins;        // it read only what it had read in the turn before
    const Insn *polled; // the turn's latest strong instruction that reads what others may change
    u64 polled_low, polled_high; // the lowest and the highest address of these reads
    bool yielded;                // its latest turn ended at an mbarrier whose phase is not over
    bool reads_host_memory;      // it reads memory that the host may write
    bool reads_clock;            // it reads a clock, and may give up waiting at some time
    Spin spin;
    bool clock_ready; // Grid.steps is up to date for the next clock read
    u64 waited;       // clocks that it slept or polled a clock since its block began (polling.c)
    const Insn *clock_insn; // the instruction that read a clock last; NULL: none
    bool polls_clock;       // in a loop that does nothing else,
    u64 polls_since;        // since the clock showed this
    bool stack_used; // a lane has called a function, allocated on its stack, or launched: the
                     // fields below have changed
    u32 lane_depth[LANES];
    u32 frame_top[LANES];    // bytes of local memory in use
    u32 launch_error[LANES]; // the last error of each lane's launches (dynamic_launch.h)
    Frame *frames;           // [depth - 1]
    u32 frame_room;
    u32 *inside; // for each function: the lanes that are in a call of it
    u32 ready_count;
    Path ready[LANES]; // paths that do not run now
    u32 *taint; // an observer's marks, a word of lanes for each 64 bytes of registers; they move
                // with the values
    void (*watch)(Warp *, const Insn *,
                  u32 mask); // sees each instruction before it runs, even with no lane active (mask
                             // 0); NULL: not watched
    u32 *invariant;          // for each invariant instruction: the lanes that have run it
    struct Copies
        *copies; // asynchronous copies that it has not waited for (copy.h); NULL: none so far
    void *trace; // an observer's record of its steps; NULL: none is kept
};

enum { MOST_WARPS = 1024 / LANES }; // of a block

// For what watches: the warp's turn ends before the instruction that it is to run, and, with
// `blocks`, its block's turn, too. What is late may come now.
void warp_give_way(Warp *warp, bool blocks);

// Runs the warp until it ends, waits, or its turn ends.
void warp_run(Warp *warp);

// For a handler: these lanes resume at `pc` when their path is picked.
void warp_park(Warp *warp, u32 pc, u32 mask);

// Reports a warp that cannot make progress, with where its lanes wait, and ends the grid.
void warp_report_stuck(Warp *warp);

// For a handler: these lanes wait at `pc` until other lanes of the warp reach it.
void warp_hold(Warp *warp, u32 pc, u32 mask);

// Of lanes at an instruction for which each names its members, those of one mask whose members have
// all come there or ended. 0: of each mask some are missing.
u32 warp_complete(const Warp *warp, u32 lanes, const u32 *members);

// The x, y and z of a lane's thread in its block.
void warp_thread(const Warp *warp, u32 lane, u32 thread[3]);

static inline void *row_of(const Warp *warp, u32 row) { return warp->regs + row; }

// Copies `bytes` bytes of each active lane from one register row to another. The strides are the
// bytes from lane to lane.
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
