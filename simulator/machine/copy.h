// Asynchronous copies from global to shared memory (cp.async) that a warp has begun and not waited
// for.
#pragma once
#include "observer.h"

// One instruction of one warp. What it reads is read when it begins; it gets to shared memory when
// its lanes wait for it.
typedef struct Copy {
    u32 pc;
    u32 lanes;        // whose part is not there yet
    u32 bytes;        // of each lane
    u32 epoch;        // Block.epoch when it began
    u32 group[LANES]; // of each lane: the group that it belongs to, counted from 0
    u64 number;       // of the warp's copies
    u32 sequence;     // Access.sequence
    u64 to[LANES];    // byte of shared memory
    _Alignas(16) u8 values[LANES * VALUE_BYTES];
    u16 undefined[LANES]; // a bit for each byte that nothing wrote
} Copy;

// Lanes that arrive at an mbarrier each when the copies are there that they had begun by then.
typedef struct CopyArrival {
    u32 pc, lanes;
    u64 before;    // number of the first copy after it
    u64 at[LANES]; // byte of shared memory
} CopyArrival;

typedef struct Copies {
    u32 group[LANES]; // of each lane: groups that it has committed
    Copy *copy;       // in the order in which they began
    u32 count, room;
    u64 begun;            // so far
    CopyArrival *arrival; // that have not happened
    u32 arrival_count, arrival_room;
} Copies;

// Of a lane of a copy's instruction, while it begins: its source's address, its place's byte of
// shared memory, and the bytes that it reads, the rest of what it writes being zeros.
u64 copy_from(const Warp *, const Insn *, u32 lane);
u64 copy_to(const Warp *, const Insn *, u32 lane);
u32 copy_given(const Warp *, const Insn *, u32 lane);

// Somebody waits at the mbarrier there: what copies are to arrive at it do now. False: none are.
bool copies_arrive(Block *, u64 at);

void copies_forget(Warp *); // a block begins
void copies_free(Warp *);
