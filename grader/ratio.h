// What a list of ratios, measured one after the other, comes to.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { GROUPS = 15 };               // of A/B/B/A that are timed

typedef struct Ratio {
    double median;
    double spread;                  // of the middle half of them, as a share of the median
    double low;                     // a quarter of them lie below
} Ratio;

// Sorts `values`; count is above 0.
Ratio ratio_of(double *values, size_t count);

// A spread above this is too large to judge by.
static inline bool ratio_is_steady(Ratio r) { return r.spread <= 0.05; }
