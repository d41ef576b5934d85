// Lesson 29: sums of whole numbers, exact in any order and large enough to tell which devices'
// numbers are in one; and of fractions, against a reference in double, which must be the same on
// every device to the last bit.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const float *input; // that of all devices, one after the other
static int count, devices;

static float input_of(int device, size_t i) { return input[(size_t)device * count + i]; }

// "device 0", "devices 0, 1 and 3"
static const char *list(char *words, size_t room, unsigned set)
{
    int many = __builtin_popcount(set), said = 0;
    size_t at = snprintf(words, room, many == 1 ? "device" : "devices");
    for (int d = 0; d < devices; d++)
        if (set >> d & 1) {
            said++;
            at += snprintf(words + at, room - at, "%s %d",
                           said == 1      ? ""
                           : said == many ? " and"
                                          : ",",
                           d);
        }
    return words;
}

// What the devices' numbers at one place, each taken not at all, once or twice, make of `got`: the
// devices taken at least once, and twice. False: nothing.
static bool find_terms(double got, size_t i, unsigned *once, unsigned *twice)
{
    for (unsigned two = 0; two < 1u << devices; two++)
        for (unsigned one = 0; one < 1u << devices; one++) {
            double sum = 0;
            if (two & ~one || !one) continue;
            for (int d = 0; d < devices; d++)
                sum += ((one >> d & 1) + (two >> d & 1)) * (double)input_of(d, i);
            if (sum == got) {
                *once = one;
                *twice = two;
                return true;
            }
        }
    return false;
}

static unsigned wrong_devices(const Mismatch *m)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < (size_t)count * devices; i++)
        if (m->is_wrong(i)) wrong |= 1u << i / count;
    return wrong;
}

// The devices of which the mismatch has wrong elements, if that is not all of them.
static const char *on_devices(const Mismatch *m)
{
    static char words[100];
    char names[60];
    unsigned wrong = wrong_devices(m);
    if (wrong == (1u << devices) - 1) return "";
    snprintf(words, sizeof words, " Wrong elements are on %s alone.",
             list(names, sizeof names, wrong));
    return words;
}

// Have some devices nothing, and the others all?
static bool none_on_some(const Mismatch *m)
{
    unsigned wrong = wrong_devices(m);
    return wrong != (1u << devices) - 1 && m->wrong == (size_t)count * __builtin_popcount(wrong);
}

// Where nothing was stored: is it what n / devices leaves over, and nothing else?
static bool left_over(const Mismatch *m)
{
    size_t whole = (size_t)(count / devices) * devices;
    for (size_t i = 0; i < (size_t)count * devices; i++)
        if (m->is_wrong(i) != (i % count >= whole)) return false;
    return true;
}

static const char *whose(const Mismatch *m)
{
    static char words[300];
    char names[60];
    size_t i = m->first % count;
    double got = m->out->f32[m->first];
    unsigned all = (1u << devices) - 1, once, twice;

    if ((uint32_t)m->out->i32[m->first] == POISON) {
        snprintf(words, sizeof words, "Nothing was stored there.%s%s", on_devices(m),
                 left_over(m) ? " Is there a chunk for what n / devices leaves over?"
                 : none_on_some(m)
                     ? " Was the kernel that stores there launched before the function returned?"
                     : "");
        return words;
    }
    if (got != got) return "Not a number: something was added, or passed on, before it was there.";
    if (!find_terms(got, i, &once, &twice)) return NULL;
    if (twice)
        snprintf(words, sizeof words, "That has %s twice.%s", list(names, sizeof names, twice),
                 on_devices(m));
    else if (__builtin_popcount(once) == 1)
        snprintf(words, sizeof words, "That is the number of %s alone.%s",
                 list(names, sizeof names, once), on_devices(m));
    else
        snprintf(words, sizeof words, "That is without %s.%s",
                 list(names, sizeof names, all & ~once), on_devices(m));
    return words;
}

// What is asked, and answered, from now on.
static void concerns(Buffer *out, Buffer *in, int n, int p)
{
    input = in->f32;
    count = n;
    devices = p;
    given("n = %d, devices = %d", n, p);
    as_matrix(out, p, n);
    as_matrix(in, p, n);
}

static void asks(Buffer *out, Buffer *in, int n, int p)
{
    size_t bytes = 4ull * n * p;
    concerns(out, in, n, p);
    call("all_reduce", spread(out, p), spread(in, p), i32(n), i32(p));
    compulsory(bytes, bytes);
    compulsory_link(2 * (bytes - 4ull * n) / p);
}

// Whole numbers up to 2^20: any sum of 8 is below 2^24, and no two sets of devices are likely to
// have the same.
static Buffer *whole_numbers(size_t n)
{
    Buffer *in = input_f32("in", n);
    for (size_t i = 0; i < n; i++) in->f32[i] = floorf((in->f32[i] + 1) / 2 * (1 << 20)) + 1;
    return in;
}

static void expect_sums(const Buffer *out, const Buffer *in, int n, int p)
{
    float *want = reference_f32((size_t)n * p);
    for (int d = 0; d < p; d++)
        for (int i = 0; i < n; i++)
            for (int e = 0; e < p; e++) want[(size_t)d * n + i] += in->f32[(size_t)e * n + i];
    diagnose(whose);
    expect_equal_f32(out, want);
}

static void adds_exactly(int n, int p)
{
    Buffer *in = whole_numbers((size_t)n * p), *out = output_f32("out", (size_t)n * p);
    asks(out, in, n, p);
    expect_sums(out, in, n, p);
}

// The first place where two devices have other bits; -1: none.
static long differs(const Buffer *out, int n, int p)
{
    for (long i = 0; i < (long)n * (p - 1); i++)
        if (memcmp(&out->f32[i], &out->f32[i + n], 4) != 0) return i;
    return -1;
}

static void adds_fractions(int n, int p)
{
    Buffer *in = input_f32("in", (size_t)n * p), *out = output_f32("out", (size_t)n * p);
    double *want = reference_f64((size_t)n * p);

    for (int d = 0; d < p; d++)
        for (int i = 0; i < n; i++)
            for (int e = 0; e < p; e++) want[(size_t)d * n + i] += in->f32[(size_t)e * n + i];
    asks(out, in, n, p);
    expect_close_f32(out, want, 1e-6, 1e-6);
    long i = differs(out, n, p);
    int d = i < 0 ? 0 : (int)(i / n);
    expect(i < 0,
           "out[%d][%ld] is %.9g and out[%d][%ld] is %.9g: another order of additions is rounded "
           "otherwise. Every device must have the same bits",
           d, i < 0 ? 0 : i % n, out->f32[i < 0 ? 0 : i], d + 1, i < 0 ? 0 : i % n,
           out->f32[i < 0 ? 0 : i + n]);
}

static void all_devices(int n) { adds_exactly(n, device_count()); }

Check(all_reduce, one_device)
{
    adds_exactly(0, 1);
    adds_exactly(1, 1);
    adds_exactly(1000, 1);
}

Check(all_reduce, two_devices)
{
    adds_exactly(1, 2);
    adds_exactly(2, 2);
    adds_exactly(31, 2);
    adds_exactly(4096, 2);
    adds_exactly(7919, 2);
}

// Now so many, now so many: what one call has set up must do for the next.
Check(all_reduce, fewer_than_there_are)
{
    int p = device_count() > 2 ? device_count() - 1 : 2;
    adds_exactly(3, p);
    adds_exactly(96, 1);
    adds_exactly(1000, device_count());
    adds_exactly(1000, p);
}

Check(all_reduce, all_devices)
{
    all_devices(32);
    all_devices(256);
    all_devices(4096);
    all_devices(16384);
}

Check(all_reduce, ragged)
{
    all_devices(31);
    all_devices(33);
    all_devices(255);
    all_devices(257);
    all_devices(1023);
    all_devices(1025);
    all_devices(7919);
    all_devices(16385);
}

Check(all_reduce, hardly_any)
{
    for (int n = 0; n <= 5; n++) all_devices(n);
}

Check(all_reduce, fractions)
{
    adds_fractions(1, device_count());
    adds_fractions(1000, device_count());
    adds_fractions(20011, device_count());
}

// Each call before the one before it is done, and of another size.
Check(all_reduce, in_a_row)
{
    static const int sizes[] = { 300, 1000, 300, 5000, 1000, 300 };
    enum { CALLS = sizeof sizes / sizeof *sizes };
    int p = device_count();
    Buffer *in[CALLS], *out[CALLS];

    given("%d calls in a row, devices = %d", CALLS, p);
    for (int k = 0; k < CALLS; k++) {
        in[k] = whole_numbers((size_t)sizes[k] * p);
        out[k] = output_f32("out", (size_t)sizes[k] * p);
        rotate("all_reduce", spread(out[k], p), spread(in[k], p), i32(sizes[k]), i32(p));
    }
    in_a_row();
    for (int k = 0; k < CALLS; k++) {
        concerns(out[k], in[k], sizes[k], p);
        expect_sums(out[k], in[k], sizes[k], p);
    }
}

// What profiles/lessons/29-all-reduce.cfg measures: a small vector, where steps count, and a large
// one, where bytes do.
Check(all_reduce, four_kib) { all_devices(1024); }

Check(all_reduce, four_million) { all_devices(1 << 22); }

// What profiles/lessons/29-all-reduce.cfg times on GPUs. The bytes that are stated are those of the
// links, so that the rate is what NCCL's tests call the bus bandwidth.
static void measures(int n)
{
    int p = device_count();
    size_t all = (size_t)n * p, sets = rotations(8ull * n);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = whole_numbers(all);
        out[s] = output_f32("out", all);
        rotate("all_reduce", spread(out[s], p), spread(in[s], p), i32(n), i32(p));
        compulsory(8ull * n * (p - 1) / p, 0);
    }
    measure();

    float *want = reference_f32(all);
    for (size_t s = 0; s < sets; s++) {
        for (int i = 0; i < n; i++) {
            float sum = 0;
            for (int d = 0; d < p; d++) sum += in[s]->f32[(size_t)d * n + i];
            for (int d = 0; d < p; d++) want[(size_t)d * n + i] = sum;
        }
        expect_equal_f32(out[s], want);
    }
}

Measure(all_reduce, small) { measures(1 << 10); }

Measure(all_reduce, large) { measures(1 << 26); }
