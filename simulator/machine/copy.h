// Asynchronous copies from global to shared memory (cp.async) that a warp has begun and not waited for.
#pragma once
#include "observer.h"

// One instruction of one warp. What it reads is read when it begins; it gets to shared memory when its lanes wait for it.
typedef struct Copy {
    u32 pc;
    u32 lanes;              // whose part is not there yet
    u32 bytes;              // of each lane
    u32 epoch;              // Block.epoch when it began
    u32 group[LANES];       // of each lane: the group that it belongs to, counted from 0
    u64 to[LANES];          // byte of shared memory
    _Alignas(16) u8 values[LANES * VALUE_BYTES];
    u16 undefined[LANES];   // a bit for each byte that nothing wrote
} Copy;

typedef struct Copies {
    u32 group[LANES];       // of each lane: groups that it has committed
    Copy *copy;             // in the order in which they began
    u32 count, room;
} Copies;

void copies_forget(Warp *);         // a block begins
void copies_free(Warp *);
