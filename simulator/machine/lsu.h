// Shared by the files of the load/store unit: where the bytes of an access are.
#pragma once
#include "observer.h"

// A lane's bytes begin at base + address[lane] + lane * pitch.
typedef struct Bytes {
    u8 *base;
    const u64 *address;
    u64 pitch;
} Bytes;

static inline Bytes bytes_of(const Access *a)
{
    const Warp *w = a->warp;
    switch (a->space) {
    case SPACE_SHARED: return (Bytes){ a->owner->shared, a->address, 0 };
    case SPACE_LOCAL: return (Bytes){ w->local, a->address, w->block->grid->kernel->local_bytes };
    default: return (Bytes){ NULL, a->address, 0 };
    }
}

static inline u8 *place(Bytes b, u32 lane) { return b.base + b.address[lane] + lane * b.pitch; }

// The warp has changed what others may read, so the rest of its turn needs no comparison of stores.
static inline void changed_something(Warp *w)
{
    w->block->grid->progress++;
    w->check_stores = false;
}
