// The locations through which threads synchronise: those that were written strongly, each with the
// clock that its writer released.
#pragma once
#include "causality.h"

// The warp and epoch of a strong write.
typedef struct Writer {
    u32 block, warp, epoch;
} Writer;
enum { WRITERS = 8 };

typedef struct SyncLocation {
    u64 key;     // address, or of a block's shared memory a pointer; 0: the entry is free
    u32 version; // counts the strong writes
    Writer writer[WRITERS]; // of the latest versions, each at version % WRITERS
    VectorClock written; // the writes in the current value: the latest store, and the atomics since
    u32 block, cluster;  // of the latest writer: which readers the narrower scopes concern
    VectorClock released[SYNC_SCOPES]; // what a reader acquires in the same block, the same
                                       // cluster, or anywhere
    VectorClock if_fenced;             // what a reader would acquire if there were fences
    VectorClock loads; // loads that the writer's barriers had completed (see causality_before())
} SyncLocation;

// The location at that address, as the access sees it; made if it is not there and `make` is set,
// otherwise NULL.
SyncLocation *sync_location_find(const Access *a, u64 address, bool make);

u32 sync_locations_count(void);
void sync_locations_clear(void);
