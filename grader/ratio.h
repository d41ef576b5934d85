// What a list of ratios, measured one after the other, comes to, and what can be told from it of a
// bound.
//
// The turns are alike, so each ratio is as likely to lie below the true median as above it, however
// they spread: that 12 or more of 15 lie on one side of it happens once in 28 times. So the true
// median lies from the fourth of them to the fourth from the end, in 96 of 100 measurements, and a
// bound outside of that is judged. Of one inside, a median alone can tell, where the ratios hardly
// spread.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { GROUPS = 15, FEWEST_GROUPS = 6 }; // of A/B/B/A that are timed

typedef struct Ratio {
    double median;
    double spread;   // of the middle half of them, as a share of the median
    double low;      // a quarter of them lie below
    double from, to; // where the true median lies, in at least 95 of 100 such lists
} Ratio;

// How many turns to time if one takes so many seconds: GROUPS, or as many as ten seconds have room
// for. Of FEWEST_GROUPS the true median lies between the ends, in 96 of 100 measurements; fewer say
// less.
size_t ratio_turns(double seconds);

// Sorts `values`; count is above 0.
Ratio ratio_of(double *values, size_t count);

// The median alone will do.
static inline bool ratio_is_steady(Ratio r) { return r.spread <= 0.05; }

// Too close to call: the bound lies where the true median may. A measurement that comes out so for
// a bound that it is held to, or whose median alone will not do, is made once more, with longer
// runs. What that says holds, so that every submission gets the same number of tries by the same
// rule.
bool ratio_is_close(Ratio r, double bound);

enum bound { BOUND_MISSED, BOUND_UNSURE, BOUND_KEPT };

// Does the ratio reach a lower bound?
enum bound ratio_bound(Ratio r, double bound);
