// Lesson 9: scans of ints, which are exact, so that a wrong one tells what is missing; and of
// floats, against a reference in double. In a variant of the lesson something else takes the place
// of the sum.
#include "grader.h"
#include <stdio.h>

static const int32_t *input;
static int count;
static bool in_any_order; // blocks, and so what a look back finds

#define TASK(what)                                                                                 \
    "sets out[i] to the " what                                                                     \
    " over the elements x from in[0] to in[i], for every i below n, of ints and of floats"
#include "../variants/own.h"

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

// Every wrong element is the lesson's own answer: the sum.
static bool is_the_sum(const Mismatch *m)
{
    uint32_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += (uint32_t)input[i];
        if (m->is_wrong((size_t)i) && (uint32_t)m->out->i32[i] != sum) return false;
    }
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

    if (variant() >= 0 && is_the_sum(m)) return variant_words("the sum of the elements up to each");
    if (count < 2) return NULL;
    if (!adds()) return NULL; // what is missing does not show
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

static void scans_these(Buffer *in, Buffer *out)
{
    int32_t *want = reference_i32(in->count);
    double sum = 0; // exact, as it fits an int

    for (size_t i = 0; i < in->count; i++) want[i] = (int32_t)(sum = both(sum, own(in->i32[i])));
    input = in->i32;
    diagnose(which_mistake);
    asks_i32(in, out);
    expect_equal_i32(out, want);
}

// An int from 1 to 9 becomes one on either side of C. Where one element can be the answer, each
// GAP-th is farther away than all before it.
static int32_t varied(int32_t x, int i)
{
    enum { GAP = 61, FIRST = 20 };
    bool far = !adds() && i % GAP == FIRST;
    return variant_number() + ((x + i) % 2 ? 1 : -1) * (far ? 10 + i / GAP : x);
}

// Ints from 1 to 9: every sum is larger than the one before it.
static void scans_ints(int n)
{
    Buffer *in = input_i32("in", n, 1, 9), *out = output_i32("out", n);

    for (int i = 0; variant() >= 0 && i < n; i++) in->i32[i] = varied(in->i32[i], i);
    scans_these(in, out);
}

// In a variant: elements as far from C as the n of them may be, on the side of `end`.
static void scans_far(int n, int32_t end)
{
    Buffer *in = input_i32("in", n, 0, 1000), *out = output_i32("out", n);
    int32_t C = variant_number(), far = 1000;

    while (far < 1 << 28 && own(C + 2.0 * far) * (adds() ? n : 1) <= INT32_MAX) far *= 2;
    while (own(C + (double)far) * (adds() ? n : 1) > INT32_MAX) far /= 2;
    for (int i = 0; i < n; i++) {
        int32_t away = (int32_t)((int64_t)far * in->i32[i] / 1000) - in->i32[i] % 7;
        in->i32[i] = end > 0 ? C + away : C - away;
    }
    scans_these(in, out);
}

// Sums that swing from one end of what an int holds to 0 and back, above it or below it: whoever
// keeps them in a float loses their last digits.
static void scans_extremes(int n, int32_t end)
{
    if (variant() >= 0) {
        scans_far(n, end);
        return;
    }
    Buffer *in = input_i32("in", n, 0, 1000), *out = output_i32("out", n);
    int32_t before = 0;

    for (int i = 0; i < n; i++) {
        int32_t inwards = end > 0 ? in->i32[i] : -in->i32[i];
        int32_t sum = i % 2 ? inwards : end - inwards;
        in->i32[i] = sum - before;
        before = sum;
    }
    scans_these(in, out);
}

// Fractions, all positive, so that the bound is relative to what was added. In a variant they lie
// on either side of C.
static void scans_fractions(int n)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);
    double *want = reference_f64(n), sum = 0;

    for (int i = 0; i < n; i++) {
        in->f32[i] = fraction(in->f32[i]);
        want[i] = sum = both(sum, own(in->f32[i]));
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
        in->f32[i] = i == large ? 1e9f : fraction(in->f32[i]);
        want[i] = sum = both(sum, own(in->f32[i]));
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
    scans_ints(sized(7, 3, 15));
    scans_ints(sized(7919, 5000, 9000));
    scans_ints(sized(65537, 40000, 90000));
    scans_ints(sized(1100009, 900000, 1100009));
}

// A block that waits for the block before it, by blockIdx, waits for ever. And a look back meets
// tiles that know nothing yet, or only their own sum, more than 32 in a row.
Check(scan, any_order)
{
    shuffle_blocks();
    in_any_order = true;
    scans_ints(sized(500009, 440000, 560000));
    scans_ints(sized(65537, 40000, 90000));
}

Check(scan, no_elements) { scans_ints(0); }

Check(scan, extreme_ints)
{
    scans_extremes(33, INT32_MAX);
    scans_extremes(sized(10007, 8000, 12000), -INT32_MAX);
}

Check(scan, fractions)
{
    scans_fractions(sized(100003, 80000, 120000));
    scans_fractions(sized(1000, 600, 1400));
    scans_fractions(33);
    scans_fractions(1);
}

Check(scan, one_large_float)
{
    scans_past_a_large_one(1000, 999);
    scans_past_a_large_one(1000, 130);
    scans_past_a_large_one(sized(20011, 17000, 23000), 16000);
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
