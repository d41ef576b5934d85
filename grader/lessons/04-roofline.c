// Lesson 4: what copy_rate measures against the device's own clock, and polynomials against
// Horner's rule in double.
#include "grader.h"
#include <math.h>
#include <stdio.h>

enum { PAGEABLE, PINNED, DEVICE };

static const char *const kinds[] = { "PAGEABLE", "PINNED", "DEVICE" };

// ---- copy_rate

static bool near(double value, double due) { return fabs(value / due - 1) < 0.03; }

// What makes a rate `times` what it should be.
static const char *why_off(double times, int bytes, int repeats)
{
    if (near(times, 1e3)) return " That is a thousand times as much: MB/s are 10^6 bytes a second.";
    if (near(times, 1e-3))
        return " That is a thousandth: cudaEventElapsedTime gives milliseconds, and MB/s are 10^6 "
               "bytes a second.";
    if (near(times, 1e6 / (1 << 20))) return " A megabyte is 10^6 bytes, not 2^20.";
    if (near(times * bytes, bytes / 1000000 * 1e6))
        return " bytes / 1000000 is a whole number in C, and so cut off: make it a double first.";
    if (repeats > 1 && near(times, 1.0 / repeats))
        return " That is the rate of one copy in the time of all: how many copies are between the "
               "events?";
    if (repeats > 1 && near(times, repeats / (repeats + 1.0)))
        return " That is the time of one copy more: the one to warm up goes before the first "
               "event.";
    return " The time is from event to event: all copies but the first are between the two.";
}

static const char *why_negative(int bytes, int repeats)
{
    return bytes > INT32_MAX / repeats
             ? "bytes * repeats does not fit an int: make it a double first."
             : "Have the events happened when their time is asked for, and in that order?";
}

// A rate says nothing of copies that were not made.
static void expect_copies(int to, int from, int bytes, int repeats)
{
    uint64_t in = counter("memcpy__bytes_htod.sum"), back = counter("memcpy__bytes_dtoh.sum"),
             copied = from == to ? counter("memcpy__bytes_dtod.sum") : in + back,
             copies = counter("memcpy__count.sum");

    expect(from == to || (to == DEVICE ? in : back) > 0,
           "the bytes went from %s to %s. cudaMemcpy has the destination first, as memcpy",
           kinds[to], kinds[from]);
    expect(copied == (repeats + 1.0) * bytes,
           "%llu bytes were copied %s, should be %.0f: one copy to warm up, and %d that are timed",
           (unsigned long long)copied, from == to ? "within the device" : "between host and device",
           (repeats + 1.0) * bytes, repeats);
    expect(copies > (uint64_t)repeats,
           "there were %llu copies, should be %d: one to warm up, and %d that are timed",
           (unsigned long long)copies, repeats + 1, repeats);
}

// The simulated device knows how long it was at work, and what it copied. A GPU tells neither:
// there the rate need only be one that there can be. (What is wrong everywhere has been found on
// the simulated device before.) Some microseconds may lie between an event and the work beside it.
static int measures(int to, int from, int bytes, int repeats)
{
    given("to = %s, from = %s, bytes = %d, repeats = %d", kinds[to], kinds[from], bytes, repeats);
    int rate = call_i32("copy_rate", i32(to), i32(from), i32(bytes), i32(repeats));
    double all = (repeats + 1.0) * bytes, ns = counter("devices__elapsed_ns.sum"),
           due = all / ns * 1e3;
    double took = (double)bytes * repeats / rate * 1e3, should = ns * repeats / (repeats + 1);

    if (ns == 0) {
        expect(rate > 0, "copy_rate returned %d, should be a rate in MB/s. %s", rate,
               why_negative(bytes, repeats));
        expect(rate < 100000000, "copy_rate returned %d MB/s, more than any memory can", rate);
        return rate;
    }
    expect_copies(to, from, bytes, repeats);
    expect(rate > 0, "copy_rate returned %d, should be a rate in MB/s. %s", rate,
           why_negative(bytes, repeats));
    expect(took > 0.985 * should && took < 1.015 * should + 4000,
           "copy_rate returned %d MB/s, but by the device's clock it was about %.0f.%s", rate, due,
           why_off(rate / due, bytes, repeats));
    return rate;
}

Check(roofline, rates_of_copies)
{
    measures(DEVICE, PAGEABLE, 1500000, 10);
    measures(DEVICE, PINNED, 1 << 20, 10);
    measures(PAGEABLE, DEVICE, 1 << 20, 10);
    measures(PINNED, DEVICE, 1 << 20, 10);
    measures(DEVICE, PINNED, 1000003, 3);
    measures(DEVICE, PINNED, 1 << 20, 1);
    measures(DEVICE, DEVICE, 1 << 25, 65); // more than 2^31 bytes in all
}

Check(roofline, pinned_memory_is_faster)
{
    int pageable = measures(DEVICE, PAGEABLE, 1 << 22, 5),
        pinned = measures(DEVICE, PINNED, 1 << 22, 5);
    expect(pinned > 1.2 * pageable,
           "pinned memory gives %d MB/s, pageable memory %d: is each of its kind?", pinned,
           pageable);
}

// ---- polynomial

static struct {
    const float *x, *c;
    int degree;
} asked;

enum variant { AS_ASKED, TURNED, TOO_SHORT, TOO_LONG, NO_CONSTANT, STOPPED, RAISED, VARIANTS };

static const char *const words[VARIANTS] = {
    [TURNED] = "These are the values with the coefficients in the other order: c[0] is the "
               "constant, and c[degree] goes with the highest power.",
    [TOO_SHORT] = "These are the values without the last coefficient, c[degree]: there are degree "
                  "+ 1 coefficients.",
    [TOO_LONG] = "These are the values with c[degree] twice: the sum begins with it, so the loop "
                 "begins with the coefficient before it.",
    [NO_CONSTANT] = "These are the values without c[0].",
    [STOPPED] = "These are the values one step before the end: c[0] comes last.",
    [RAISED] = "These are the values with each coefficient one power too high: c[0] goes with no "
               "x, c[1] with x.",
};

static double value(double x, enum variant v)
{
    int degree = asked.degree - (v == TOO_SHORT), last = v == NO_CONSTANT || v == STOPPED;
    double sum = v == TOO_LONG ? asked.c[degree] : 0;
    for (int k = degree; k >= last; k--) sum = sum * x + asked.c[v == TURNED ? degree - k : k];
    return v == NO_CONSTANT || v == RAISED ? sum * x : sum;
}

// Is it always the same one of four elements?
static const char *one_of_four(const Mismatch *m)
{
    static char text[80];
    if (m->out->count % 4 || m->wrong != m->out->count / 4) return NULL;
    for (size_t i = m->first; i < m->out->count; i += 4)
        if (!m->is_wrong(i)) return NULL;
    snprintf(text, sizeof text, "All wrong elements are the %c of their float4.", "xyzw"[m->first]);
    return text;
}

static const char *which(const Mismatch *m)
{
    for (enum variant v = AS_ASKED + 1; v < VARIANTS; v++) {
        bool same = true;
        for (size_t i = 0; i < m->out->count && same; i++)
            same = fabs(m->out->f32[i] - value(asked.x[i], v)) <= 1e-4;
        if (same) return words[v];
    }
    return one_of_four(m);
}

// In Horner's rule or by powers, each step rounds: of a sum of degree + 1 terms below 1, 1e-7 each.
static void compare(Buffer *out, int degree)
{
    double *want = reference_f64(out->count);
    for (size_t i = 0; i < out->count; i++) want[i] = value(asked.x[i], AS_ASKED);
    expect_close_f32(out, want, 1e-6 * (degree + 1), 1e-6);
}

static void evaluates_with(Buffer *in, Buffer *c)
{
    int n = (int)in->count, degree = (int)c->count - 1;
    Buffer *out = output_f32("out", n);

    asked.x = in->f32, asked.c = c->f32, asked.degree = degree;
    given("degree = %d, n = %d", degree, n);
    diagnose(which);
    call("polynomial", device(out), device(in), device(c), i32(degree), i32(n));
    compulsory(4ull * n, 4ull * n);
    compulsory_operations((uint64_t)n * degree);
    compare(out, degree);
}

static void evaluates(int n, int degree)
{
    evaluates_with(input_f32("in", n), input_f32("c", degree + 1));
}

// Numbers near 10, whose 30th power still is a float.
static void evaluates_large_powers(void)
{
    Buffer *in = input_f32("in", 100), *out = output_f32("out", 100), *c = input_f32("c", 31);
    double *want = reference_f64(100);

    for (int i = 0; i < 100; i++) in->f32[i] = 8 + i % 5 + in->f32[i];
    for (int k = 0; k <= 30; k++) c->f32[k] = fabsf(c->f32[k]);
    asked.x = in->f32, asked.c = c->f32, asked.degree = 30;
    for (int i = 0; i < 100; i++) want[i] = value(in->f32[i], AS_ASKED);
    given("degree = 30, n = 100, x near 10");
    call("polynomial", device(out), device(in), device(c), i32(30), i32(100));
    expect_close_f32(out, want, 0, 1e-5);
}

Check(roofline, polynomials)
{
    evaluates(1000, 3);
    int sizes[] = {
        0, 1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 255, 256, 257, 1023, 1024, 1025, 10007
    };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) evaluates(sizes[s], (int)s % 7);
    int degrees[] = { 0, 1, 2, 7, 8, 9, 16, 31, 100, 1000 };
    for (size_t s = 0; s < sizeof degrees / sizeof *degrees; s++) evaluates(515, degrees[s]);
    evaluates_large_powers();
}

// The check that profiles/lessons/04-roofline.cfg measures.
Check(roofline, two_million) { evaluates(1 << 21, 32); }

// What it times on a GPU: a low degree, where memory is the limit.
Measure(roofline, large)
{
    enum { N = 1 << 26, DEGREE = 4 };
    size_t sets = rotations(8ull * N);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX], *c[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_f32("in", N), out[s] = output_f32("out", N),
        c[s] = input_f32("c", DEGREE + 1);
        rotate("polynomial", device(out[s]), device(in[s]), device(c[s]), i32(DEGREE), i32(N));
        compulsory(4ull * N, 4ull * N);
    }
    measure();
    for (size_t s = 0; s < sets; s++) {
        asked.x = in[s]->f32, asked.c = c[s]->f32, asked.degree = DEGREE;
        compare(out[s], DEGREE);
    }
}
