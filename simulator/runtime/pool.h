// Memory pools: memory that is allocated and freed in stream order.
#pragma once
#include "memory/memory.h"
#include "serve.h"

void pool_graph_begins(u32 device); // a graph is being launched
void pool_reset(u32 device);        // destroys the device's pools, except the default one
void pool_synchronised(
    void);                 // the host has synchronised: pools release what exceeds their threshold
u64 pool_idle(u32 device); // bytes that the device's pools hold unused

// Returns freed memory to its pool, if it has one.
void pool_freed(const Allocation *allocation);
