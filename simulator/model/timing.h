// The time of a launch on the simulated device.
#pragma once
#include "machine/grid.h"
#include "replay.h"
#include "report/report.h"

// Nsight Compute's rule: what is busy for less than that part of the time does not bound it.
#define BOUNDS_FROM 0.6

typedef struct Timing {
    double seconds;
    double clocks;     // of them, those in which the kernel's blocks ran
    double l1, l2, sm; // of those, the clocks for which L1 was busy, the way to L2 or from it, and
                       // the schedulers or their busiest unit
    double warps;      // that an SM with blocks held, on average
    const char *bound; // what bounds it: "memory", "compute", "latency" or "atomics"
} Timing;

// Of the launch that ends, by the model in replay.c.
Timing timing_of(const Grid *grid);

// The same if something of the launch were otherwise.
typedef struct Assumed {
    const Trace *trace;
    const Counts *counts;
    u32 resident;       // blocks that an SM holds
    bool whole_sectors; // no sector is stored to in part
    bool no_spills;     // of registers
    bool no_contention; // of atomics for one place
} Assumed;
Assumed timing_as_it_was(const Grid *grid);
Timing timing_if(const Grid *grid, const Assumed *assumed);

// How far such times were off on the device of the profile in use. NULL: it was not compared.
const PredictionError *timing_error(const char *bound);
