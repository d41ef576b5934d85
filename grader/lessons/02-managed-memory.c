// Lesson 2: heat over short and long rods, no steps, odd and even numbers of them, and one long rod
// whose pages are counted. Not every right kernel rounds alike, hence a tolerance; half precision
// would round these temperatures, all below 1.5, by fifty times as much.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-5;

// The rod's states: before the first step, before the last one, and at the end.
static struct {
    double *first, *earlier, *last;
    int n, steps;
} rod;

static void take_step(double *next, const double *now, int n)
{
    for (int i = 0; i < n; i++) {
        double left = now[i > 0 ? i - 1 : 0], right = now[i < n - 1 ? i + 1 : n - 1];
        next[i] = 0.25 * left + 0.5 * now[i] + 0.25 * right;
    }
    next[n / 2] += 0.5 * (1.0 - now[n / 2]);
}

static void spreads(const Buffer *in, int steps)
{
    int n = (int)in->count;
    rod.n = n;
    rod.steps = steps;
    rod.first = reference_f64(n);
    rod.earlier = reference_f64(n);
    rod.last = reference_f64(n);

    for (int i = 0; i < n; i++) rod.first[i] = in->f32[i];
    memcpy(rod.last, rod.first, n * sizeof(double));
    for (int s = 0; s < steps && n; s++) {
        double *next = rod.earlier;
        take_step(next, rod.last, n);
        rod.earlier = rod.last;
        rod.last = next;
    }
}

static bool is_state(const Mismatch *m, const double *state)
{
    for (size_t i = 0; i < m->out->count; i++)
        if (!(fabs(m->out->f32[i] - state[i]) <= TOLERANCE)) return false;
    return true;
}

// The heater's cell is wrong, and nothing is that it cannot have warmed yet.
static bool only_near_the_heater(const Mismatch *m)
{
    for (size_t i = 0; i < m->out->count; i++)
        if (m->is_wrong(i) && labs((long)i - rod.n / 2) >= rod.steps) return false;
    return m->is_wrong(rod.n / 2) && m->wrong * 2 < m->out->count;
}

// The heater was on, and the cells that it cannot have warmed yet are all 0, as fresh managed
// memory is.
static bool began_with_nothing(const Mismatch *m)
{
    size_t far = 0;
    for (size_t i = 0; i < m->out->count; i++) {
        if (labs((long)i - rod.n / 2) < rod.steps) continue;
        far++;
        if (m->out->f32[i] != 0) return false;
    }
    return far > 0 && m->out->f32[rod.n / 2] != 0;
}

// The first of the cells at the rod's end that are 0, or as before the first time step: of them no
// thread made anything. The number of cells: there are none.
static size_t end_of_computed(const Mismatch *m)
{
    size_t i = m->out->count;
    while (i > 0 && (m->out->f32[i - 1] == 0 || m->out->f32[i - 1] == rod.first[i - 1])) i--;
    return i;
}

static const char *cells_left_out(const Mismatch *m)
{
    static char words[120];
    size_t first = end_of_computed(m);
    if (first == m->out->count || first == 0) return NULL;
    snprintf(words, sizeof words,
             "Cells from %zu on are 0, or as in in[]: no thread computes them in a time step.",
             first);
    advise("launch a thread for each cell: n / THREADS blocks, rounded up");
    return words;
}

static const char *not_the_last_state(const Mismatch *m)
{
    if (is_state(m, rod.first))
        return "That is in[] as it was: no step was taken, or its result was left behind.";
    if (is_state(m, rod.earlier))
        return "That is the rod one step earlier: the last step's result is in the other array.";
    if (only_near_the_heater(m))
        return "Only cells near the heater are wrong: its power comes from the temperature "
               "before each step.";
    if (began_with_nothing(m)) {
        advise("fill now, and launch step with next first, where it writes, and now second");
        return "Far from the heater all is 0: the first launch read an array that was never "
               "filled.";
    }
    return cells_left_out(m);
}

static void heats(int n, int steps)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);

    spreads(in, steps);
    diagnose(not_the_last_state);
    given("n = %d, steps = %d", n, steps);
    call("heat", host(out), host(in), i32(n), i32(steps));
    compulsory(4ull * n * steps, 4ull * n * steps);
    compulsory_journey(4ull * n, 4ull * n);
    compulsory_operations(32ull * steps); // a launch for each time step
    expect_close_f32(out, rod.last, TOLERANCE, 0);
}

Check(managed_memory, around_a_block)
{
    heats(255, 4);
    heats(256, 5);
    heats(257, 6);
    heats(1000, 7);
    heats(1025, 8);
}

Check(managed_memory, a_few_cells)
{
    heats(1, 3);
    heats(2, 3);
    heats(3, 4);
    heats(33, 50);
}

Check(managed_memory, odd_and_even_steps)
{
    heats(7919, 1);
    heats(7919, 2);
    heats(7919, 3);
}

Check(managed_memory, no_steps) { heats(100, 0); }

Check(managed_memory, no_cells)
{
    heats(0, 0);
    heats(0, 3);
}

Check(managed_memory, many_pages) { heats(100003, 9); }

// The check that profiles/lessons/02-managed-memory.cfg measures: each array is 4 MiB, 64 groups of
// 64 KiB, and both sides have 16 turns.
Check(managed_memory, a_million) { heats(1 << 20, 16); }
