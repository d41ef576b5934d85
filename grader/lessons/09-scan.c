// Lesson 9: scans of ints, which are exact, so that a wrong one tells what is missing; and of
// floats, against a reference in double.
#include "grader.h"
#include <stdio.h>

static const int32_t *input;
static int count;
static bool in_any_order; // blocks, and so what a look back finds

static double sum_before(const Mismatch *m, long i) { return i > 0 ? m->want(i - 1) : 0; }

// ---- What beginners' scans leave. Each says whether out[i] is what that mistake gives.

static bool is_exclusive(const Mismatch *m, long i, long block)
{
    (void)block;
    return m->out->i32[i] == sum_before(m, i);
}

static bool begins_at_zero(const Mismatch *m, long i, long block)
{
    return m->out->i32[i] == m->want(i) - sum_before(m, i / block * block);
}

static bool adds_one_block(const Mismatch *m, long i, long block)
{
    long first = i / block * block;
    return first > 0 && m->out->i32[i] == m->want(i) - sum_before(m, first - block);
}

static bool adds_its_own(const Mismatch *m, long i, long block)
{
    long first = i / block * block, end = first + block < count ? first + block : count;
    return m->out->i32[i] == m->want(i) + m->want(end - 1) - sum_before(m, first);
}

// What is missing is the same in each stretch: sums of whole tiles.
static bool lacks_tiles(const Mismatch *m, long i, long block)
{
    double lost = m->want(i) - m->out->i32[i];
    return lost > 0 && (i % block == 0 || lost == m->want(i - 1) - m->out->i32[i - 1]);
}

// Is every wrong element what that mistake gives?
static bool all(const Mismatch *m, bool (*mistake)(const Mismatch *, long, long), long block)
{
    for (long i = m->first; i < count; i++)
        if (m->is_wrong(i) && !mistake(m, i, block)) return false;
    return true;
}

// The block of the skeleton scans as many elements in a round as it has threads. Its first carry is
// the sum of a round, so a mistake in what is added to a carry shows in the third round. Where that
// block scans the sums of tiles, a tile is as long, and the first that is wrong comes after a whole
// number of rounds and one tile.
static bool is_first_of_a_round(size_t i)
{
    enum { TILE = 256, ROUND = TILE * TILE };
    return i == 2 * TILE || (i > ROUND && i % ROUND == TILE);
}

static const char *which_mistake(const Mismatch *m)
{
    static char words[160];

    if (count < 2) return NULL;
    if (all(m, is_exclusive, 0))
        return "Each is the sum of what lies before it, without itself: that is the exclusive "
               "scan.";
    for (long block = 16384; block >= 32; block /= 2) {
        if (block > count) continue;
        const char *what = all(m, begins_at_zero, block)
                             ? "begins anew: what lies before it was not added"
                         : all(m, adds_one_block, block)
                             ? "has the sum of the one before it alone, not of all before it"
                         : all(m, adds_its_own, block) ? "has its own sum added to it"
                                                       : NULL;
        if (what) {
            snprintf(words, sizeof words, "From there on each stretch of %ld elements %s.", block,
                     what);
            return words;
        }
    }
    for (long block = 16384; in_any_order && block >= 32; block /= 2)
        if (block <= count && all(m, lacks_tiles, block)) {
            snprintf(words, sizeof words,
                     "Tiles before it are missing, %ld elements or more each: does the look back "
                     "add those that know their own sum alone, too?",
                     block);
            return words;
        }
    if (is_first_of_a_round(m->first))
        return "It is the first of a block's round of 256, or of the first tile after such a "
               "round of sums: is what is carried from round to round right?";
    return NULL;
}

static void asks_i32(Buffer *in, Buffer *out)
{
    count = (int)in->count;
    given("ints, n = %d", count);
    call("scan_i32", device(out), device(in), i32(count),
         scratch(output_i32("scratch", count / 32 + 4096)));
    compulsory(4ull * count, 4ull * count);
}

static void asks_f32(Buffer *in, Buffer *out)
{
    count = (int)in->count;
    given("floats, n = %d", count);
    call("scan_f32", device(out), device(in), i32(count),
         scratch(output_i32("scratch", count / 32 + 4096)));
    compulsory(4ull * count, 4ull * count);
}

// Ints from 1 to 9: every sum is larger than the one before it.
static void scans_ints(int n)
{
    Buffer *in = input_i32("in", n, 1, 9), *out = output_i32("out", n);
    int32_t *want = reference_i32(n), sum = 0;

    for (int i = 0; i < n; i++) want[i] = sum += in->i32[i];
    input = in->i32;
    diagnose(which_mistake);
    asks_i32(in, out);
    expect_equal_i32(out, want);
}

// Sums that swing from one end of what an int holds to 0 and back, above it or below it: whoever
// keeps them in a float loses their last digits.
static void scans_extremes(int n, int32_t end)
{
    Buffer *in = input_i32("in", n, 0, 1000), *out = output_i32("out", n);
    int32_t *want = reference_i32(n);

    for (int i = 0; i < n; i++) {
        int32_t inwards = end > 0 ? in->i32[i] : -in->i32[i];
        want[i] = i % 2 ? inwards : end - inwards;
        in->i32[i] = want[i] - (i > 0 ? want[i - 1] : 0);
    }
    input = in->i32;
    diagnose(which_mistake);
    asks_i32(in, out);
    expect_equal_i32(out, want);
}

// Fractions, all positive, so that the bound is relative to what was added.
static void scans_fractions(int n)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);
    double *want = reference_f64(n), sum = 0;

    for (int i = 0; i < n; i++) {
        in->f32[i] = (in->f32[i] + 1) / 2;
        want[i] = sum += in->f32[i];
    }
    asks_f32(in, out);
    expect_close_f32(out, want, 0, 1e-5);
}

static const char *how_lost(const Mismatch *m)
{
    if (m->want(m->first) < 1e6)
        return "It stands before a large element, from which nothing should come to it. Was a sum "
               "subtracted again?";
    return NULL;
}

// One large element among small ones: what stands before it must know nothing of it.
static void scans_past_a_large_one(int n, int large)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);
    double *want = reference_f64(n), sum = 0;

    for (int i = 0; i < n; i++) {
        in->f32[i] = i == large ? 1e9f : (in->f32[i] + 1) / 2;
        want[i] = sum += in->f32[i];
    }
    diagnose(how_lost);
    asks_f32(in, out);
    expect_close_f32(out, want, 0, 1e-5);
}

// The largest comes first, as it tells most about a mistake.
Check(scan, one_block)
{
    scans_ints(256);
    scans_ints(255);
    scans_ints(33);
    scans_ints(32);
    scans_ints(31);
    scans_ints(2);
    scans_ints(1);
}

Check(scan, a_few_blocks)
{
    scans_ints(1025);
    scans_ints(1024);
    scans_ints(257);
    scans_ints(511);
    scans_ints(4095);
    scans_ints(4097);
    scans_ints(8192);
}

// The last one has more tiles of 1,024 than a block has threads.
Check(scan, primes)
{
    scans_ints(7);
    scans_ints(7919);
    scans_ints(65537);
    scans_ints(1100009);
}

// A block that waits for the block before it, by blockIdx, waits for ever. And a look back meets
// tiles that know nothing yet, or only their own sum, more than 32 in a row.
Check(scan, any_order)
{
    shuffle_blocks();
    in_any_order = true;
    scans_ints(500009);
    scans_ints(65537);
}

Check(scan, no_elements) { scans_ints(0); }

Check(scan, extreme_ints)
{
    scans_extremes(33, INT32_MAX);
    scans_extremes(10007, -INT32_MAX);
}

Check(scan, fractions)
{
    scans_fractions(100003);
    scans_fractions(1000);
    scans_fractions(33);
    scans_fractions(1);
}

Check(scan, one_large_float)
{
    scans_past_a_large_one(1000, 999);
    scans_past_a_large_one(1000, 130);
    scans_past_a_large_one(20011, 16000);
}

// The check that profiles/lessons/09-scan.cfg measures: 4 MiB to be read, and 4 to be written.
Check(scan, a_million) { scans_ints(1 << 20); }

// What profiles/lessons/09-scan.cfg times on a GPU: 256 MiB to be read, and as many to be written.
Measure(scan, large)
{
    enum { N = 1 << 26 };
    size_t sets = rotations(8ull * N);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_i32("in", N, -3, 9);
        out[s] = output_i32("out", N);
        rotate("scan_i32", device(out[s]), device(in[s]), i32(N),
               scratch(output_i32("scratch", N / 32 + 4096)));
        compulsory(4ull * N, 4ull * N);
    }
    measure();

    int32_t *want = reference_i32(N);
    for (size_t s = 0; s < sets; s++) {
        int32_t sum = 0;
        for (size_t i = 0; i < N; i++) want[i] = sum += in[s]->i32[i];
        expect_equal_i32(out[s], want);
    }
}
