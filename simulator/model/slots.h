// The models' slots for their data, after those of the checks.
#pragma once
#include "checks/slots.h"
#include "machine/grid_state.h"

enum {
    KERNEL_OPS = CHECK_KERNEL_SLOTS, // op.c
    MODEL_KERNEL_SLOTS
};

enum {
    GRID_MANAGED = CHECK_GRID_SLOTS, // managed.c
    GRID_LINK,                       // link.c
    GRID_CACHES,                     // caches.c
    GRID_TRACE,                      // trace.c
    MODEL_GRID_SLOTS
};

enum {
    BLOCK_CACHES = CHECK_BLOCK_SLOTS, // caches.c
    BLOCK_SEEN,                       // counters.c
    MODEL_BLOCK_SLOTS
};

_Static_assert((int)MODEL_KERNEL_SLOTS <= (int)KERNEL_SLOTS, "a kernel has a slot for each");
_Static_assert((int)MODEL_GRID_SLOTS <= (int)GRID_SLOTS, "a grid has a slot for each");
_Static_assert((int)MODEL_BLOCK_SLOTS <= (int)BLOCK_SLOTS, "a block has a slot for each");
