// Lesson 8: sums of whole numbers, which are exact in any order as long as they stay below 2^24, so
// that a wrong one tells what is missing; and sums of fractions, against a reference in double. In
// a variant of the lesson something else takes the place of the sum.
#include "grader.h"
#include <math.h>
#include <stdio.h>

static const float *input;
static int count;

#define TASK(what) "sets out[0] to the " what " over all elements x of `in`, to 0 where n is 0"
#include "../variants/own.h"

static double sum_of(int from, int to)
{
    double sum = 0;
    for (int i = from; i < to; i++) sum = both(sum, own(input[i]));
    return sum;
}

// ---- What beginners' reductions leave ----

// The words if only the first or the last elements were added, as many as some warps or blocks
// take.
static const char *of_some(double got)
{
    static char words[100];
    int step = count > 32 ? 32 : 16;
    double sum = 0, all = sum_of(0, count);

    for (int i = step; i < count; i += step) {
        sum = both(sum, sum_of(i - step, i));
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
    for (int i = 0; i < count; i++) sum += (double)times[i] * own(input[i]);
    return sum == answer;
}

// A tree of halves in which the threads add whose turn it was in the tree of neighbours.
static bool is_thread_0_alone(double got)
{
    double sum = own(input[0]);
    for (int i = 1; i < count; i *= 2) sum += own(input[i]);
    return count <= 256 && got == sum;
}

// The words if a tree of halves ends so early that its first sum has only elements some steps
// apart.
static const char *of_half_a_tree(double got)
{
    static char words[100];

    for (int apart = 2; apart <= 128 && count <= 256; apart *= 2) {
        double sum = 0;
        for (int i = 0; i < count; i += apart) sum = both(sum, own(input[i]));
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

static bool is_near(double got, double due) { return fabs(got - due) <= 1e-5 * fabs(due); }

// What a variant's answer would be if the blocks' sums were elements again.
static double taken_twice(void)
{
    enum { TILE = 256 };
    double all = 0;

    for (int first = 0; first < count; first += TILE)
        all = both(all, own(sum_of(first, first + TILE < count ? first + TILE : count)));
    return all;
}

// In a variant: the words for the lesson's own answer, or for that of a second launch that does the
// same as the first.
static const char *of_variant(double got)
{
    double sum = 0;

    for (int i = 0; i < count; i++) sum += input[i];
    if (variant() < 0 || !count) return NULL;
    if (is_near(got, sum)) return variant_words("the sum of all elements");
    if (is_near(got, taken_twice()))
        return "That comes out if the blocks' results are taken for elements once more: what a "
               "block has found already counts as it is.";
    return NULL;
}

// Only for whole numbers: there each sum is exact, and no other part of the vector is likely to
// have the same.
static const char *which_part(const Mismatch *m)
{
    static char words[120];
    double got = m->out->f32[0], due = m->want(0), times = got / due;
    const char *some,
        *none = variant() < 0 ? "All elements are positive" : "No element counts as less than 0";

    if ((uint32_t)m->out->i32[0] == POISON) return nothing_stored();
    if (got != got)
        return "Not a number: something was added that was never set, in out, in scratch or in "
               "shared memory.";
    if ((some = of_variant(got))) return some;
    if (got == 0) return "That is 0: no element was added.";
    if (got < 0) {
        snprintf(words, sizeof words, "%s: something was subtracted.", none);
        return words;
    }
    if (count > 1 && got == own(input[0])) return "That is in[0] alone.";
    answer = got;
    some = adds() ? explain_stride((size_t)count, gives_the_answer) : NULL;
    if (some) return some;
    if (adds() && times > 1 && times == (int)times) {
        snprintf(words, sizeof words, "That is %d times the sum.", (int)times);
        return words;
    }
    if (is_thread_0_alone(got))
        return "That is the sum of elements 0, 1, 2, 4, 8 and so on, which thread 0 adds: with "
               "halves, all threads "
               "below `stride` add in each step.";
    some = of_some(got);
    if (!some) some = of_half_a_tree(got);
    if (some) return some;
    snprintf(words, sizeof words, "%s: some were %s.", none,
             got < due ? "left out"
             : adds()  ? "added more than once"
                       : "taken for what they are not");
    return words;
}

// What adding in float, one after the other, gives.
static float chain(void)
{
    float sum = 0;
    for (int i = 0; i < count; i++) sum = (float)both(sum, own(input[i]));
    return sum;
}

static const char *how_rounded(const Mismatch *m)
{
    double got = m->out->f32[0], off = (got - m->want(0)) / m->want(0);

    if ((uint32_t)m->out->i32[0] == POISON) return nothing_stored();
    if (got != got) return which_part(m);
    if (of_variant(got)) return of_variant(got);
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

// An element of (-1, 1) becomes a whole number from 1 to `high`; in a variant one that lies on
// either side of C. The n elements add up to 2^24 at most, or below.
static float whole(float x, int n, int high)
{
    int far = 16;

    if (variant() < 0) return (float)(1 + (int)((x + 1) / 2 * high));
    while (far > 1 && own(variant_number() + far) * n > 1 << 24) far--;
    return (float)(variant_number() - far + (int)((x + 1) / 2 * (2 * far + 1)));
}

static void adds_these(Buffer *in, Buffer *out)
{
    float *want = reference_f32(1);
    double sum = 0;

    for (size_t i = 0; i < in->count; i++) sum = both(sum, own(in->f32[i]));
    want[0] = (float)sum;
    diagnose(which_part);
    asks(in, out);
    expect_equal_f32(out, want);
}

// Whole numbers from 1 to `high`, whose sum must stay below 2^24. Where one element can be the
// answer, it is each of a few in turn.
static void adds_exactly(int n, int high)
{
    enum { FEW = 1 << 20, BEYOND = 30 };
    Buffer *in = input_f32("in", n), *out = output_f32("out", 1);
    int at[] = { sized(0, 0, n > 0 ? n - 1 : 0), n - 1, 0, n / 2 };

    for (int i = 0; i < n; i++) in->f32[i] = whole(in->f32[i], n, high);
    if (adds() || n == 0) adds_these(in, out);
    else
        for (int k = 0; k < (n <= FEW ? 4 : 1); k++) {
            float before = in->f32[at[k]];
            in->f32[at[k]] = (float)(variant_number() + (k % 2 ? BEYOND : -BEYOND));
            adds_these(in, out);
            in->f32[at[k]] = before;
        }
}

// Fractions, all positive, so that the bound is relative to what was added. A rounding to half
// precision is off by some 1e-4; sums in float, added by parts, by some 1e-7. In a variant they lie
// on either side of C.
static void adds_fractions(int n, float first, double relative)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", 1);
    double *want = reference_f64(1);

    for (int i = 0; i < n; i++) in->f32[i] = i == 0 && first > 0 ? first : fraction(in->f32[i]);
    for (int i = 0; i < n; i++) want[0] = both(want[0], own(in->f32[i]));
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
    adds_exactly(sized(7, 5, 15), 16);
    adds_exactly(sized(7919, 5000, 9000), 16);
    adds_exactly(sized(65537, 40000, 90000), 16);
    adds_exactly(sized(1000003, 700000, 1040000), 16);
}

Check(reduction, nothing) { adds_exactly(0, 1); }

Check(reduction, fractions)
{
    adds_fractions(1, 0, 1e-6);
    adds_fractions(sized(33, 33, 63), 0, 1e-6);
    adds_fractions(sized(1000, 600, 1000), 0, 1e-6);
    adds_fractions(sized(100003, 80000, 120000), 0, 1e-5);
}

// 2^24, beside which a float has no place for a fraction. A sum that adds all to it in turn loses
// them.
Check(reduction, small_beside_large)
{
    float large = 16777216;

    while (own(large) > 17e6) large /= 2;
    adds_fractions(sized(1000003, 700000, 1040000), large, 1e-3);
}

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
