// Copies in bulk (cp.async.bulk): one thread has thousands of bytes copied between global and
// shared memory.
#pragma once
#include "observer.h"

typedef struct Bulk {
    u32 pc, warp, lane; // who began it
    bool stores;   // to global memory, in a group of its thread's; else to shared memory, and it
                   // tells an mbarrier
    bool has_read; // its source may be changed
    u32 bytes, group;
    u64 to, from; // global: address; shared: byte
    u64 mbarrier; // byte of shared memory
    u8 *data;
    u16 *undefined; // a bit for each byte that nothing wrote
} Bulk;

struct Bulks {
    Bulk *bulk; // begun and not over, in that order
    u32 count, room;
    u32 (*group)[LANES]; // of each thread of each warp: groups that it has committed
};

// Somebody waits at the mbarrier there: the copies that tell it are over now. False: there are
// none.
bool bulks_arrive(Block *, u64 at);

void bulks_end(Block *); // the block has ended: so has what it copied
void bulks_free(Block *);
