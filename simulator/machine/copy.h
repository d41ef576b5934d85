// Asynchronous copies from global to shared memory (cp.async) that a warp has started and not
// waited for.
#pragma once
#include "observer.h"

// One instruction of one warp. It reads its source at once, and writes shared memory when its lanes
// wait for it.
typedef struct Copy {
    u32 pc;
    u32 lanes;         // that have not waited yet
    u32 bytes;         // of each lane
    u32 barrier_count; // Block.barrier_count at its start
    u32 group[LANES];  // of each lane: its group, counted from 0
    u64 number;        // among the warp's copies
    u32 sequence;      // Access.sequence
    u64 to[LANES];     // byte of shared memory
    _Alignas(16) u8 values[LANES * VALUE_BYTES];
    u16 undefined[LANES]; // a bit for each undefined byte
} Copy;

// Lanes that arrive at an mbarrier each when the copies that they started before have completed.
typedef struct CopyArrival {
    u32 pc, lanes;
    u64 before;    // the number of the first copy after it
    u64 at[LANES]; // byte of shared memory
} CopyArrival;

typedef struct Copies {
    u32 group[LANES]; // of each lane: groups that it has committed
    Copy *copy;       // in the order in which they were started
    u32 count, room;
    u64 begun;            // started so far
    CopyArrival *arrival; // outstanding ones
    u32 arrival_count, arrival_room;
} Copies;

// For a lane of a copy that starts: its source address, its destination in shared memory, and the
// bytes that it reads. The rest of the destination is filled with zeros.
u64 copy_from(const Warp *, const Insn *, u32 lane);
u64 copy_to(const Warp *, const Insn *, u32 lane);
u32 copy_given(const Warp *, const Insn *, u32 lane);

// A thread waits at that mbarrier: completes the copies that are to arrive there. False: there are
// none.
bool copies_arrive(Block *, u64 at);

void copies_forget(Warp *); // a block begins
void copies_free(Warp *);
