// The time of a launch on the simulated device.
#pragma once
#include "machine/grid.h"
#include "report/report.h"

// Nsight Compute's rule: what is busy for less than that part of the time does not bound it.
#define BOUNDS_FROM 0.6

typedef struct Timing {
    double seconds;
    double warps;      // that an SM with blocks held, on average
    const char *bound; // what bounds it: "memory", "compute", "latency" or "atomics"
} Timing;

// Of the launch that ends, by the model in replay.c.
Timing timing_of(const Grid *grid);

// How far such times were off on the device of the profile in use. NULL: it was not compared.
const PredictionError *timing_error(const char *bound);
