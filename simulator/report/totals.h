// The launches of a program by kernel: how many, their times, and the longest of each in full.
#pragma once
#include "report.h"

typedef struct KernelTotals {
    KernelReport *longest;     // the first of equals
    uint64_t launches, number; // in all; which of them, from 1, is the longest
    double total_ns, least_ns, most_ns;
    bool other_grids; // not all had the grid and the block of the longest
} KernelTotals;

// Copies of one kind, or migrations of managed memory of one cause.
typedef struct MoveTotals {
    const char *kind, *cause; // "HtoD"; "gpu-fault", or NULL: copies
    uint64_t times, bytes, faults;
} MoveTotals;

void totals_kernel(const KernelReport *kernel);
void totals_move(const char *kind, const char *cause, uint64_t bytes, uint64_t faults);

// Is it longer than all launches of that kernel so far?
bool totals_is_longest(const KernelReport *kernel);

// Those that took most time first. Valid until the next launch.
const KernelTotals *totals_kernels(size_t *count);
const MoveTotals *totals_moves(size_t *count);
double totals_time(void); // of all launches, ns

// Prints on stderr what the program has run so far: all kernels in a table, then the details of
// those that take a part of the time that matters, or of each. Then forgets them.
void totals_print(bool each);
