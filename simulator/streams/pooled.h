// Memory that was allocated in stream order: a use must come behind the allocation, by the order of
// streams. The accounts of pools are the runtime's (pool.c).
#pragma once
#include "memory/memory.h"
#include "stream_order.h"

// What is known of such an allocation.
typedef struct Pooled {
    u64 made;          // the operation that allocated it
    Order uses;        // the operations that have used it
    const u32 *access; // bit d: device d may reach what is of its pool
} Pooled;

// An operation uses the allocation, which may be of a pool. False: nothing orders the operation
// behind its allocation.
bool pooled_use(const Allocation *allocation, u64 operation);
bool pooled_has_use(const Allocation *allocation,
                    u64 operation); // it has been told so, and all was well

bool pooled_reaches(const Allocation *allocation,
                    u32 device); // may kernels there touch what is of a pool?
