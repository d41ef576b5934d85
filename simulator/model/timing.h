// How long a launch takes on the device that is imitated.
#pragma once
#include "machine/grid.h"

typedef struct Timing {
    double seconds;
    double warps; // that an SM with blocks held, on average
} Timing;

// Of the launch that ends: by the model in replay.c.
Timing timing_of(const Grid *grid);
