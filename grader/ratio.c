// Medians: one measurement that something else disturbed moves them little.
#include "ratio.h"
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The value at a share of the way through a sorted list.
static double quantile(const double *sorted, size_t count, double share)
{
    double at = share * (count - 1);
    size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

Ratio ratio_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    Ratio r = {.median = quantile(values, count, 0.5), .low = quantile(values, count, 0.25)};
    r.spread = (quantile(values, count, 0.75) - r.low) / r.median;
    return r;
}
