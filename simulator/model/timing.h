// The time of a launch on the simulated device.
#pragma once
#include "machine/grid.h"

typedef struct Timing {
    double seconds;
    double warps; // that an SM with blocks held, on average
} Timing;

// Of the launch that ends, by the model in replay.c.
Timing timing_of(const Grid *grid);
