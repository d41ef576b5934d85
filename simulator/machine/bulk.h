// Copies in bulk (cp.async.bulk): one thread starts a copy of thousands of bytes between global and
// shared memory.
#pragma once
#include "observer.h"

typedef struct Bulk {
    u32 pc, warp, lane; // the thread that started it
    bool stores; // to global memory, in a bulk group of its thread; otherwise to shared memory, and
                 // an mbarrier counts its bytes
    bool has_read; // its source may be overwritten
    u32 bytes, group;
    u64 to, from; // global: address; shared: byte
    u64 mbarrier; // byte of shared memory
    u8 *data;
    u16 *undefined; // a bit for each undefined byte
} Bulk;

struct Bulks {
    Bulk *bulk; // in flight, in the order in which they were started
    u32 count, room;
    u32 (*group)[LANES]; // for each thread of each warp: bulk groups that it has committed
};

// A thread waits at that mbarrier: completes the copies that signal it. False: there are none.
bool bulks_arrive(Block *, u64 at);

void bulks_end(Block *); // the block has ended, and its copies with it
void bulks_free(Block *);
