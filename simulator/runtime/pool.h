// Memory pools: memory that is allocated and freed in stream order.
#pragma once
#include "memory/memory.h"
#include "serve.h"

void pool_graph_begins(u32 device); // it is being launched
void pool_reset(u32 device);        // its pools are gone, but the default one
void pool_synchronised(void); // the host has waited: pools give back what they keep too much of
u64 pool_idle(u32 device);    // bytes that pools keep and nobody uses

// It is freed: its pool, if it is of one, has it back.
void pool_freed(const Allocation *allocation);
