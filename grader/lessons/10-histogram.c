// Lesson 10: counts of bytes, which are exact, on data of every shape: the counts of a wrong answer
// tell which bytes were lost or counted twice.
#include "grader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 256 };

static const uint8_t *input;
static int count;
static int32_t before[BINS]; // what the call before this one should have given

static void count_bytes(int32_t bins[BINS], const uint8_t *bytes, int n)
{
    memset(bins, 0, BINS * sizeof *bins);
    for (int i = 0; i < n; i++) bins[bytes[i]]++;
}

// ---- What may have happened ----

static int32_t got(const Mismatch *m, int v) { return m->out->i32[v]; }
static int32_t due(const Mismatch *m, int v) { return (int32_t)m->want(v); }

static bool was_not_emptied(const Mismatch *m, int v)
{
    return got(m, v) == (int32_t)(POISON + (uint32_t)due(m, v));
}
static bool has_the_last_call(const Mismatch *m, int v)
{
    return got(m, v) == due(m, v) + before[v];
}
static bool is_in_bytes(const Mismatch *m, int v) { return (due(m, v) - got(m, v)) % 256 == 0; }
static bool is_zero(const Mismatch *m, int v) { return got(m, v) == 0; }

static bool all(const Mismatch *m, bool (*holds)(const Mismatch *m, int v))
{
    for (int v = 0; v < BINS; v++)
        if (!holds(m, v)) return false;
    return true;
}

// Counts of all bytes but the last n % stretch.
static int end_left_out(const Mismatch *m, int stretch)
{
    int32_t without[BINS];
    count_bytes(without, input, count - count % stretch);
    return memcmp(without, m->out->i32, sizeof without) == 0 ? count % stretch : 0;
}

// Counts of the first bytes alone, as many as some blocks have threads: that number, or 0.
static int first_only(const Mismatch *m)
{
    int32_t of_first[BINS] = { 0 };
    for (int i = 0; i < count; i++) {
        if (i && i % 1024 == 0 && memcmp(of_first, m->out->i32, sizeof of_first) == 0) return i;
        of_first[input[i]]++;
    }
    return 0;
}

// Nothing was added to the bins from some number on: that number, most likely a power of 2, or 0.
static int bins_right(const Mismatch *m)
{
    int end = BINS;
    while (end > 0 && got(m, end - 1) == 0) end--;
    if (m->wrong < 2 || end > (int)m->first) return 0;
    for (int b = BINS / 2; b >= 32; b /= 2)
        if (end <= b && b <= (int)m->first) return b;
    return (int)m->first;
}

// Bins from some number on were added to as they were before the call: that number, or 0.
static int bins_emptied(const Mismatch *m)
{
    for (int v = 0; v < BINS; v++)
        if (v < (int)m->first ? got(m, v) != due(m, v) : !was_not_emptied(m, v)) return 0;
    return (int)m->first;
}

// Each count began at a number whose four bytes are alike.
static bool began_elsewhere(const Mismatch *m, int v)
{
    int32_t began = got(m, v) - due(m, v);
    return began == got(m, 0) - due(m, 0) && began % 0x01010101 == 0;
}

// How many times too high all counts are, or 0.
static int times_too_high(const Mismatch *m)
{
    int v = (int)m->first, times = due(m, v) ? got(m, v) / due(m, v) : 0;
    for (v = 0; v < BINS; v++)
        if (got(m, v) != times * due(m, v)) return 0;
    return times;
}

static const char *of_the_end(const Mismatch *m)
{
    static char words[80];
    for (int stretch = 4; stretch <= 64; stretch *= 2) {
        int left = end_left_out(m, stretch);
        if (!left) continue;
        snprintf(words, sizeof words, "The last %d byte%s not counted: n is no multiple of %d.",
                 left, left == 1 ? " was" : "s were", stretch);
        return words;
    }
    return NULL;
}

static const char *of_the_sum(const Mismatch *m)
{
    static char words[120];
    long long sum = 0;
    for (int v = 0; v < BINS; v++) sum += got(m, v);
    if (sum <= 0) return NULL;
    if (sum == count)
        return "The bins add up to n: every byte was counted, but not each in its own bin.";
    snprintf(words, sizeof words, "The bins add up to %lld, %lld bytes too %s.", sum,
             llabs(count - sum), sum < count ? "few" : "many: some were counted more than once");
    return words;
}

static const int32_t *answer;

static bool gives_the_answer(const uint32_t *times)
{
    int32_t bins[BINS] = { 0 };
    for (int i = 0; i < count; i++) bins[input[i]] += (int32_t)times[i];
    return memcmp(bins, answer, sizeof bins) == 0;
}

static const char *which_mistake(const Mismatch *m)
{
    static char words[160];

    if (count > 0 && all(m, was_not_emptied))
        return "It is as if bins had been added to as they were: what they hold before the call "
               "means nothing.";
    if (all(m, has_the_last_call)) return "The counts of the call before are in there too.";
    if (all(m, is_zero)) return "No byte was counted.";
    answer = m->out->i32;
    const char *stride = explain_stride((size_t)count, gives_the_answer);
    if (stride) return stride;
    if (bins_emptied(m))
        snprintf(
            words, sizeof words,
            "Only the first %d bins were emptied: cudaMemset counts bytes, and a bin has four.",
            bins_emptied(m));
    else if (all(m, began_elsewhere))
        return "Every bin began at the same number, and not at 0: cudaMemset sets each of its four "
               "bytes.";
    else if (times_too_high(m))
        snprintf(words, sizeof words, "Every byte was counted %d times.", times_too_high(m));
    else if (all(m, is_in_bytes))
        return "Counts are off by multiples of 256: somewhere they were kept in 8 bits.";
    else if (first_only(m))
        snprintf(words, sizeof words,
                 "Only the first %d bytes were counted: there are more bytes than threads.",
                 first_only(m));
    else if (of_the_end(m)) return of_the_end(m);
    else if (bins_right(m))
        snprintf(words, sizeof words,
                 "The first %d bins are right, and nothing was added to the others: which thread "
                 "should have?",
                 bins_right(m));
    else return of_the_sum(m);
    return words;
}

// ---- The calls ----

static Buffer *input_of(int n) { return input_u8("in", n, 0, 255); }

// Zipf's law: value number k, counted from 1, comes 1 / k times as often as the first. Which values
// these are is mixed up.
static void make_skewed(Buffer *in)
{
    uint8_t value[4096];
    double sum = 0, at = 0;
    size_t filled = 0;

    for (int k = 1; k <= BINS; k++) sum += 1.0 / k;
    for (int k = 1; k <= BINS; k++)
        for (at += 1 / sum / k; filled < sizeof value && (filled < at * sizeof value || k == BINS);
             filled++)
            value[filled] = (uint8_t)(k * 37);
    for (size_t i = 0; i < in->count; i++) {
        uint32_t mixed = (uint32_t)(i * 2654435761u) ^ in->u8[i] * 0x9E3779B1u;
        in->u8[i] = value[(mixed ^ mixed >> 15) % sizeof value];
    }
}

static void asks(Buffer *in, const char *of)
{
    Buffer *bins = output_i32("bins", BINS);
    int32_t *want = reference_i32(BINS);

    input = in->u8;
    count = (int)in->count;
    count_bytes(want, input, count);
    diagnose(which_mistake);
    given("n = %d%s", count, of);
    call("histogram", device(bins), device(in), i32(count));
    compulsory(count, 4 * BINS);
    expect_equal_i32(bins, want);
    memcpy(before, want, sizeof before);
}

static void counts(int n) { asks(input_of(n), ""); }

static void counts_equal(int n, uint8_t value)
{
    Buffer *in = input_of(n);
    memset(in->u8, value, n);
    asks(in, ", all bytes equal");
}

// The largest comes first, as it tells most about a mistake.
Check(histogram, few_bytes)
{
    static const int sizes[] = { 125, 65, 63, 33, 32, 31, 17, 16, 15, 3, 2, 1 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) counts(sizes[s]);
}

// A block, blocks, and one byte to either side.
Check(histogram, some_blocks)
{
    static const int sizes[] = {
        65536, 8193, 8191, 1025, 1024, 1023, 513, 512, 511, 257, 256, 255
    };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) counts(sizes[s]);
}

Check(histogram, primes)
{
    counts(7);
    counts(7919);
    counts(65537);
    counts(300007);
}

Check(histogram, nothing)
{
    counts(0);
    counts(100);
    counts(0);
}

// Only the first bin and the last one.
Check(histogram, extreme_bytes)
{
    Buffer *in = input_of(10007);
    for (size_t i = 0; i < in->count; i++) in->u8[i] = in->u8[i] % 3 ? 255 : 0;
    asks(in, ", 0 and 255 only");
}

// Long stretches of one value, as pictures have them, and few values that come often, as in text.
Check(histogram, skewed)
{
    Buffer *runs = input_of(100003), *zipf = input_of(200003);
    for (size_t i = 0; i < runs->count; i++) runs->u8[i] = runs->u8[i - i % 1000];
    asks(runs, ", in runs of 1000");
    make_skewed(zipf);
    asks(zipf, ", few values often");
}

// The checks that profiles/lessons/10-histogram.cfg measures: 1 MiB and 4 MiB to be read.
Check(histogram, a_million_equal) { counts_equal(1 << 20, 77); }

Check(histogram, four_million) { counts(1 << 22); }

// ---- What profiles/lessons/10-histogram.cfg times on a GPU ----

static void measures(int n, void (*make)(Buffer *))
{
    size_t sets = rotations(n);
    Buffer *in[ROTATIONS_MAX], *bins[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_of(n);
        if (make) make(in[s]);
        bins[s] = output_i32("bins", BINS);
        rotate("histogram", device(bins[s]), device(in[s]), i32(n));
        compulsory(n, 4 * BINS);
    }
    measure();
    int32_t *want = reference_i32(BINS);
    for (size_t s = 0; s < sets; s++) {
        count_bytes(want, in[s]->u8, n);
        expect_equal_i32(bins[s], want);
    }
}

// 128 MiB to be read.
Measure(histogram, uniform) { measures(1 << 27, NULL); }

Measure(histogram, few_values_often) { measures(1 << 27, make_skewed); }
