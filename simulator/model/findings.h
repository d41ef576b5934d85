// What costs a launch time, by its cost.
#pragma once
#include "counters.h"

enum { MOST_FINDINGS = 24 };

// Of a grid that has ended. Returns how many, the costliest first. Their words are malloc'ed.
size_t findings_fill(Finding findings[MOST_FINDINGS], const Grid *grid, const Totals *totals,
                     const KernelReport *kernel);
