// The place of a launch on the roofline (Williams et al., 2009): how much it computes for each byte
// that it moves, and how near it comes to the lowest of the device's roofs above that.
#pragma once
#include "machine/observer.h"
#include "report/report.h"

enum flop_precision { FLOP_HALF, FLOP_SINGLE, FLOP_DOUBLE, FLOP_TENSOR, FLOP_PRECISIONS };
enum flop_kind { FLOP_ADD, FLOP_MULTIPLY, FLOP_BOTH, FLOP_KINDS };

typedef struct Roofline {
    double done[FLOP_PRECISIONS][FLOP_KINDS]; // instructions of threads; of Tensor Cores, of warps
    double flop; // floating-point operations, of which FLOP_BOTH is two
    RoofReport roof;
} Roofline;

// Of a grid that has ended, with the sums of its counters. Peaks are those of the device's profile.
Roofline roofline_of(const Grid *grid, const u64 *sum, double seconds);
