// Warming up, on devices that are made up: what a call takes there follows from how long the device
// has been busy.
#include "warm.h"
#include <criterion/criterion.h>
#include <math.h>

typedef double (*Slowness)(double busy); // by how much a call takes longer than on a warm device

enum { CALLS = 100 };
static const double EACH[] = { 40e-6, 60e-6 };

// Runs turns until it is enough; returns how long the device was busy.
static double warmed(Slowness slow, double scale, Warmth *w)
{
    double busy = 0;
    *w = (Warmth){ 0 };
    do
        for (int side = 0; side < 2; side++) {
            double seconds = CALLS * scale * EACH[side] * slow(busy);
            warm_run(w, side, seconds, CALLS);
            busy += seconds;
        }
    while (!warm_enough(w));
    return busy;
}

static double warm(double busy) { return busy < 0 ? 2 : 1; }
static double cold_for_a_while(double busy) { return busy < 0.35 ? 3 - busy / 0.2 : 1; }
static double never_the_same(double busy) { return exp(-busy); }

// Every other run is disturbed.
static double disturbed(double busy)
{
    static int run;
    (void)busy;
    return 1 + run++ / 2 % 2;
}

Test(warm, takes_two_stretches_of_what_is_warm)
{
    Warmth w;
    double busy = warmed(warm, 1, &w);
    cr_expect(busy >= 0.2 && busy < 0.22, "%g", busy);
    cr_expect_float_eq(w.quickest[0], EACH[0], 1e-9);
    cr_expect_float_eq(w.quickest[1], EACH[1], 1e-9);
}

Test(warm, waits_until_the_clock_has_risen)
{
    Warmth w;
    double busy = warmed(cold_for_a_while, 1, &w);
    cr_expect(busy > 0.45 && busy < 0.7, "%g", busy);
    cr_expect_float_eq(w.quickest[0], EACH[0], 1e-9, "what is left is the warm device's");
    cr_expect_float_eq(w.quickest[1], EACH[1], 1e-9);
}

Test(warm, looks_at_the_quickest)
{
    Warmth w;
    double busy = warmed(disturbed, 1, &w);
    cr_expect(busy < 0.25, "%g", busy);
    cr_expect_float_eq(w.quickest[0], EACH[0], 1e-9);
}

Test(warm, gives_up_after_two_seconds)
{
    Warmth w;
    double busy = warmed(never_the_same, 1, &w);
    cr_expect(busy >= 2 && busy < 2.02, "%g", busy);
}

// 4 s and 6 s a run: one turn, and no more.
Test(warm, lets_long_runs_be)
{
    Warmth w;
    double busy = warmed(warm, 1000, &w);
    cr_expect_float_eq(busy, 10, 1e-9);
    cr_expect_float_eq(w.quickest[1], 1000 * EACH[1], 1e-9);
}

// Either side may be the one that is still getting quicker, as a library that takes its time to
// begin.
Test(warm, waits_for_either_side)
{
    for (int late = 0; late < 2; late++) {
        Warmth w = { 0 };
        for (int turn = 0; turn < 3; turn++) {
            warm_run(&w, late, turn ? 0.05 : 0.06, 100);
            warm_run(&w, 1 - late, 0.06, 100);
            cr_expect_eq(warm_enough(&w), turn == 2, "side %d, turn %d", late, turn);
        }
    }
}
