// Medians: one measurement that something else disturbed moves them little.
#include "ratio.h"
#include <math.h>
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

// How many at either end may be left out, and the true median still lies between the others in 95
// of 100 lists: of coins thrown `count` times so many heads or fewer come up once in 40 times at
// most.
static size_t ends(size_t count)
{
    double exactly = pow(0.5, (double)count), at_most = exactly;
    size_t heads = 0;
    while (at_most <= 0.025) {
        exactly *= (double)(count - heads) / (double)(heads + 1);
        at_most += exactly;
        heads++;
    }
    return heads ? heads - 1 : 0;
}

size_t ratio_turns(double seconds)
{
    double room = fmin(10 / seconds, GROUPS);
    return room < FEWEST_GROUPS ? FEWEST_GROUPS : (size_t)room;
}

Ratio ratio_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, ascending);
    size_t out = ends(count);
    Ratio r = { .median = quantile(values, count, 0.5),
                .low = quantile(values, count, 0.25),
                .from = values[out],
                .to = values[count - 1 - out] };
    r.spread = (quantile(values, count, 0.75) - r.low) / r.median;
    return r;
}

bool ratio_is_close(Ratio r, double bound) { return r.from < bound && r.to >= bound; }

enum bound ratio_bound(Ratio r, double bound)
{
    if (r.from >= bound) return BOUND_KEPT;
    if (r.to < bound) return BOUND_MISSED;
    return !ratio_is_steady(r) ? BOUND_UNSURE : r.median >= bound ? BOUND_KEPT : BOUND_MISSED;
}
