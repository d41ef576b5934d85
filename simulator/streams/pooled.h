// Memory that was allocated in stream order: stream order must put every use after the allocation.
// The runtime (pool.c) keeps the accounts of pools.
#pragma once
#include "memory/memory.h"
#include "stream_order.h"

// The state of such an allocation.
typedef struct Pooled {
    u64 made;          // the operation that allocated it
    Order uses;        // the operations that have used it
    const u32 *access; // bit d: device d may access its pool's memory
} Pooled;

// An operation uses an allocation, which may belong to a pool. False: stream order does not put the
// operation after the allocation.
bool pooled_use(const Allocation *allocation, u64 operation);
bool pooled_has_use(const Allocation *allocation,
                    u64 operation); // it was noted, and was in order

bool pooled_reaches(const Allocation *allocation,
                    u32 device); // may kernels there access the pool's memory?
