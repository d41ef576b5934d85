// Lesson 6: each of the five functions against a reference in double, at the sizes at which its
// mistake shows.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 256 };

static int least(int a, int b) { return a < b ? a : b; }

// ---- differences

static const char *past_the_end(const Mismatch *m)
{
    return m->wrong == 1 && m->first == m->out->count - 1
             ? "That is the last difference: in[n - 1] is the last number, so out[n - 2] is the "
               "last there is."
             : NULL;
}

static void subtracts(int n)
{
    int count = n < 2 ? 0 : n - 1;
    Buffer *in = input_f32("in", n), *out = output_f32("out", count);
    double *want = reference_f64(count);

    for (int i = 0; i < count; i++) want[i] = (double)in->f32[i + 1] - in->f32[i];
    given("n = %d", n);
    diagnose(past_the_end);
    call("differences", device(out), device(in), i32(n));
    expect_close_f32(out, want, 1e-7, 1e-6);
}

Check(debugging, differences)
{
    int sizes[] = { 1000, 0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 258, 512, 513, 10007 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) subtracts(sizes[s]);
}

// ---- smooth

// One round over a run: what a round finds is not changed by it.
static void smooth_run(double *next, const double *run, int count)
{
    for (int t = 0; t < count; t++)
        next[t] = (run[t > 0 ? t - 1 : 0] + 2 * run[t] + run[t < count - 1 ? t + 1 : t]) / 4;
}

static double *smoothed(const float *in, int n, int rounds)
{
    double *want = reference_f64(n), next[RUN];

    for (int i = 0; i < n; i++) want[i] = in[i];
    for (int start = 0; start < n; start += RUN)
        for (int r = 0; r < rounds; r++) {
            int count = least(RUN, n - start);
            smooth_run(next, want + start, count);
            memcpy(want + start, next, count * sizeof *next);
        }
    return want;
}

static int asked_rounds;
static const float *asked_in;

// In each round what is wrong spreads by one number to either side: did it begin at the borders of
// warps, or of runs alone?
static bool from_borders(const Mismatch *m, int apart)
{
    if (asked_rounds < 1 || asked_rounds > 8) return false;
    for (size_t i = m->first; i < m->out->count; i++)
        if (m->is_wrong(i) && (int)((i + asked_rounds) % apart) >= 2 * asked_rounds
            && i + asked_rounds < m->out->count)
            return false;
    return true;
}

// Is the answer what one gets with another number of rounds? Or has a warp gone ahead of its
// neighbour?
static const char *which_rounds(const Mismatch *m)
{
    static char words[100];
    for (int rounds = 0; rounds <= asked_rounds + 1; rounds++) {
        bool same = rounds != asked_rounds;
        double *guess = smoothed(asked_in, (int)m->out->count, rounds);
        for (size_t i = 0; i < m->out->count && same; i++)
            same = fabs(m->out->f32[i] - guess[i]) <= 1e-6;
        if (same) {
            snprintf(words, sizeof words, "These are the values after %d round%s.", rounds,
                     rounds == 1 ? "" : "s");
            return words;
        }
    }
    if (from_borders(m, RUN)) {
        advise("work out by hand what the first and the last thread of a run use for the "
               "neighbour that is missing");
        return "All wrong elements are beside the ends of runs.";
    }
    if (from_borders(m, 32)) {
        advise("let all threads have read before any writes: a __syncthreads() between the two. "
               "with volatile or a fence no thread waits");
        return "All wrong elements are beside the borders of warps: a number was read after the "
               "neighbouring warp had overwritten it.";
    }
    return NULL;
}

static void smooths(int n, int rounds)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);

    for (int i = 0; i < n; i++)
        in->f32[i] +=
            i % RUN / 16; // a slope, so that nothing is the same from the left and from the right
    asked_in = in->f32, asked_rounds = rounds;
    given("n = %d, rounds = %d", n, rounds);
    diagnose(which_rounds);
    call("smooth", device(out), device(in), i32(n), i32(rounds));
    compulsory_operations((uint64_t)n * rounds);
    expect_close_f32(out, smoothed(in->f32, n, rounds), 1e-6, 1e-5);
}

Check(debugging, smooth)
{
    smooths(1000, 5);
    smooths(0, 3);
    int sizes[] = { 1, 2, 31, 32, 33, 255, 256, 257, 258, 10007 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) smooths(sizes[s], (int)s % 4);
}

// ---- sort_runs

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void sorts(Buffer *in)
{
    int n = (int)in->count;
    Buffer *out = output_f32("out", n);
    float *want = reference_f32(n);

    memcpy(want, in->f32, n * sizeof *want);
    for (int start = 0; start < n; start += RUN)
        qsort(want + start, least(RUN, n - start), sizeof *want, ascending);
    given("n = %d", n);
    call("sort_runs", device(out), device(in), i32(n));
    compulsory_operations((uint64_t)n * RUN);
    expect_equal_f32(out, want);
}

Check(debugging, sort_runs)
{
    int sizes[] = { 1000, 0, 1, 2, 31, 32, 33, 255, 256, 257, 258, 1543 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) sorts(input_f32("in", sizes[s]));
}

// The largest first: each number has the longest way to go. Then many alike, and infinite ones.
Check(debugging, sort_runs_of_any_kind)
{
    Buffer *in = input_f32("in", 2 * RUN);
    for (int i = 0; i < 2 * RUN; i++) in->f32[i] = (float)(RUN - i);
    sorts(in);
    for (int i = 0; i < 2 * RUN; i++)
        in->f32[i] = i % 5 == 0 ? INFINITY : i % 7 == 0 ? -INFINITY : (float)(i * 31 % 6);
    sorts(in);
}

// ---- column_means

static void averages(int rows, int cols)
{
    size_t n = (size_t)rows * cols;
    Buffer *in = input_f32("in", n), *out = output_f32("out", cols);
    double *want = reference_f64(cols);

    for (int c = 0; c < cols; c++) {
        for (int r = 0; r < rows; r++) want[c] += in->f32[(size_t)r * cols + c];
        want[c] /= rows;
    }
    given("rows = %d, cols = %d", rows, cols);
    call("column_means", device(out), device(in), i32(rows), i32(cols));
    compulsory(4 * n, 4ull * cols);
    expect_close_f32(out, want, 1e-6, 1e-5);
}

Check(debugging, column_means)
{
    averages(40, 300);
    averages(5, 0);
    averages(1, 1);
    averages(3, 31);
    averages(2, 32);
    averages(7, 33);
    averages(1, 257);
    averages(1009, 2);
    averages(64, 256);
}

// ---- gain

static int amplify(Buffer *out, Buffer *in, float factor, int threads)
{
    given("n = %zu, threads = %d", in->count, threads);
    return call_i32("gain", device(out), device(in), f32(factor), i32((int)in->count),
                    i32(threads));
}

static void amplifies(int n, float factor, int threads)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);
    double *want = reference_f64(n);

    for (int i = 0; i < n; i++) want[i] = (double)factor * in->f32[i];
    int code = amplify(out, in, factor, threads);
    expect(code == 0, "gain returned %d, should be 0: a block may have %d threads", code, threads);
    expect_close_f32(out, want, 0, 1e-6);
}

static void refuses(int n, int threads)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);
    int code = amplify(out, in, 2, threads);

    expect(code != 0,
           "gain returned 0, which is cudaSuccess; but no block has %d threads, so nothing was "
           "launched, and "
           "the caller is not told. What did the launch leave for cudaGetLastError()?",
           threads);
    for (size_t i = 0; i < out->count; i++)
        expect(memcmp(&out->f32[i], &(uint32_t){ POISON }, 4) == 0,
               "out[%zu] was written, though gain returned %d", i, code);
}

Check(debugging, gain)
{
    amplifies(1000, 3, 128);
    amplifies(0, 2, 32);
    amplifies(1, -1, 1);
    amplifies(1025, 0.5f, 1024);
    amplifies(257, 1e30f, 96);
}

Check(debugging, gain_of_too_many_threads)
{
    refuses(3000, 2048);
    amplifies(3000, 3, 256); // the error was that of the call before
    refuses(3000, 1025);
    amplifies(33, 2, 32);
}

// ---- What profiles/lessons/06-debugging.cfg measures

Check(debugging, smooth_a_quarter_million) { smooths(1 << 18, 8); }

Check(debugging, sort_sixteen_thousand) { sorts(input_f32("in", 1 << 14)); }

Check(debugging, means_of_a_thousand_columns) { averages(256, 1024); }

Measure(debugging, large)
{
    enum { N = 1 << 26, ROUNDS = 8 };
    size_t sets = rotations(8ull * N);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_f32("in", N), out[s] = output_f32("out", N);
        rotate("smooth", device(out[s]), device(in[s]), i32(N), i32(ROUNDS));
        compulsory(4ull * N, 4ull * N);
    }
    measure();
    for (size_t s = 0; s < sets; s++)
        expect_close_f32(out[s], smoothed(in[s]->f32, N, ROUNDS), 1e-6, 1e-5);
}
