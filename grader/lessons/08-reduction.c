// Lesson 8: sums of whole numbers, which are exact in any order as long as they stay below 2^24, so
// that a wrong one tells what is missing; and sums of fractions, against a reference in double.
#include "grader.h"
#include <stdio.h>

static const float *input;
static int count;

static double sum_of(int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++) sum += input[i];
    return sum;
}

// The words if only the first or the last elements were added, as many as some warps or blocks
// take.
static const char *of_some(double got)
{
    static char words[100];
    int step = count > 32 ? 32 : 16;
    double sum = 0, all = sum_of(0, count);

    for (int i = step; i < count; i += step) {
        sum += sum_of(i - step, i);
        if (got != sum && got != all - sum) continue;
        snprintf(words, sizeof words, "That is the sum of the %s %d of %d.",
                 got == sum ? "first" : "last", got == sum ? i : count - i, count);
        return words;
    }
    return NULL;
}

static double answer;

static bool gives_the_answer(const uint32_t *times)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += (double)times[i] * input[i];
    return sum == answer;
}

// A tree of halves in which the threads add whose turn it was in the tree of neighbours.
static bool is_thread_0_alone(double got)
{
    double sum = input[0];
    for (int i = 1; i < count; i *= 2) sum += input[i];
    return count <= 256 && got == sum;
}

// The words if a tree of halves ends so early that its first sum has only elements some steps
// apart.
static const char *of_half_a_tree(double got)
{
    static char words[100];

    for (int apart = 2; apart <= 128 && count <= 256; apart *= 2) {
        double sum = 0;
        for (int i = 0; i < count; i += apart) sum += input[i];
        if (got != sum) continue;
        snprintf(words, sizeof words,
                 "Only elements 0, %d, %d and so on were added: the tree ends before its last %s.",
                 apart, 2 * apart, apart == 2 ? "step" : "steps");
        return words;
    }
    return NULL;
}

static const char *nothing_stored(void)
{
    if (count == 0)
        return "Nothing was written to out. The sum of nothing is 0, and it must be stored.";
    return counter("launch__count") == 1
             ? "One kernel ran, and nothing was written to out: the sums of the blocks must "
               "be added as well, by a second launch or the last block."
             : NULL;
}

// What beginners' reductions leave. Only for whole numbers: there each sum is exact, and no other
// part of the vector is likely to have the same.
static const char *which_part(const Mismatch *m)
{
    static char words[120];
    double got = m->out->f32[0], due = m->want(0), times = got / due;
    const char *some;

    if ((uint32_t)m->out->i32[0] == POISON) return nothing_stored();
    if (got != got)
        return "Not a number: something was added that was never set, in out, in scratch or in "
               "shared memory.";
    if (got == 0) return "That is 0: no element was added.";
    if (got < 0) return "All elements are positive: something was subtracted.";
    if (count > 1 && got == input[0]) return "That is in[0] alone.";
    answer = got;
    some = explain_stride((size_t)count, gives_the_answer);
    if (some) return some;
    if (times > 1 && times == (int)times) {
        snprintf(words, sizeof words, "That is %d times the sum.", (int)times);
        return words;
    }
    if (is_thread_0_alone(got))
        return "That is the sum of elements 0, 1, 2, 4, 8 and so on, which thread 0 adds: with "
               "halves, all threads "
               "below `stride` add in each step.";
    some = of_some(got);
    if (!some) some = of_half_a_tree(got);
    return some      ? some
         : got < due ? "All elements are positive: some were left out."
                     : "All elements are positive: some were added more than once.";
}

// What adding in float, one after the other, gives.
static float chain(void)
{
    float sum = 0;
    for (int i = 0; i < count; i++) sum += input[i];
    return sum;
}

static const char *how_rounded(const Mismatch *m)
{
    double got = m->out->f32[0], off = (got - m->want(0)) / m->want(0);

    if ((uint32_t)m->out->i32[0] == POISON) return nothing_stored();
    if (got != got) return which_part(m);
    if (m->out->f32[0] == chain())
        return "A single float took all elements, one after the other. Once it is large, small "
               "elements no longer change it.";
    if (got == (int)got && count <= 1000)
        return "That is a whole number, of fractions: somewhere an int cuts them off.";
    if (count <= 1000 && (off > 0 ? off : -off) < 1e-2)
        return "Nearly right, but floats are nearer: somewhere a number is kept in 16 bits.";
    return NULL;
}

static void asks(Buffer *in, Buffer *out)
{
    input = in->f32;
    count = (int)in->count;
    given("n = %d", count);
    call("reduce", device(out), device(in), i32(count),
         scratch(output_f32("scratch", count / 256 + 1024)));
    compulsory(4ull * count, 4);
}

// Whole numbers from 1 to `high`, whose sum must stay below 2^24.
static void adds_exactly(int n, int high)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", 1);
    float *want = reference_f32(1);

    for (int i = 0; i < n; i++) {
        in->f32[i] = (float)(1 + (int)((in->f32[i] + 1) / 2 * high));
        want[0] += in->f32[i];
    }
    diagnose(which_part);
    asks(in, out);
    expect_equal_f32(out, want);
}

// Fractions, all positive, so that the bound is relative to what was added. A rounding to half
// precision is off by some 1e-4; sums in float, added by parts, by some 1e-7.
static void adds_fractions(int n, float first, double relative)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", 1);
    double *want = reference_f64(1);

    for (int i = 0; i < n; i++) in->f32[i] = i == 0 && first > 0 ? first : (in->f32[i] + 1) / 2;
    for (int i = 0; i < n; i++) want[0] += in->f32[i];
    diagnose(how_rounded);
    asks(in, out);
    expect_close_f32(out, want, 0, relative);
}

Check(reduction, one_block)
{
    adds_exactly(1, 16);
    adds_exactly(31, 16);
    adds_exactly(32, 16);
    adds_exactly(33, 16);
    adds_exactly(255, 16);
    adds_exactly(256, 16);
}

Check(reduction, a_few_blocks)
{
    adds_exactly(257, 16);
    adds_exactly(1023, 16);
    adds_exactly(1024, 16);
    adds_exactly(1025, 16);
}

Check(reduction, primes)
{
    adds_exactly(7, 16);
    adds_exactly(7919, 16);
    adds_exactly(65537, 16);
    adds_exactly(1000003, 16);
}

Check(reduction, nothing) { adds_exactly(0, 1); }

Check(reduction, fractions)
{
    adds_fractions(1, 0, 1e-6);
    adds_fractions(33, 0, 1e-6);
    adds_fractions(1000, 0, 1e-6);
    adds_fractions(100003, 0, 1e-5);
}

// 2^24, beside which a float has no place for a fraction. A sum that adds all to it in turn loses
// them.
Check(reduction, small_beside_large) { adds_fractions(1000003, 16777216, 1e-3); }

// The check that profiles/lessons/08-reduction.cfg measures: 16 MiB to be read.
Check(reduction, four_million) { adds_exactly(1 << 22, 3); }

// ---- What profiles/lessons/08-reduction.cfg times on a GPU ----

static void measures(int n)
{
    size_t sets = rotations(4ull * n);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_f32("in", n);
        out[s] = output_f32("out", 1);
        for (int i = 0; i < n; i++) in[s]->f32[i] = (in[s]->f32[i] + 1) / 2;
        rotate("reduce", device(out[s]), device(in[s]), i32(n),
               scratch(output_f32("scratch", n / 256 + 1024)));
        compulsory(4ull * n, 4);
    }
    measure();

    double *want = reference_f64(1);
    for (size_t s = 0; s < sets; s++) {
        want[0] = 0;
        for (int i = 0; i < n; i++) want[0] += in[s]->f32[i];
        expect_close_f32(out[s], want, 0, 1e-5);
    }
}

// 256 MiB to be read: nothing counts but the speed of reading.
Measure(reduction, large) { measures(1 << 26); }

// 8 MiB: a launch more or less counts as well.
Measure(reduction, small) { measures(1 << 21); }
