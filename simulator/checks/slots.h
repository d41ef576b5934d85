// The slots that checks keep what they know in: of a kernel, a grid and a block. The machine has so
// many and knows none of them.
#pragma once

enum {
    KERNEL_ORDER, // operations.h
    CHECK_KERNEL_SLOTS
};

enum {
    GRID_RACE,      // happens.h
    GRID_UNDEFINED, // undefined.c
    CHECK_GRID_SLOTS
};

enum {
    BLOCK_RACE,       // race.h
    BLOCK_UNDEFINED,  // undefined.c
    BLOCK_UNFINISHED, // unfinished.c
    BLOCK_PROXY,      // proxy.c
    CHECK_BLOCK_SLOTS
};
