// Lesson 4: what copy_rate measures against the device's own clock, and polynomials against Horner's rule in double.
#include "grader.h"
#include <math.h>

enum { PAGEABLE, PINNED, DEVICE };

static const char *const kinds[] = {"PAGEABLE", "PINNED", "DEVICE"};

// ---- copy_rate

// The simulated device knows how long it was at work, and what it copied. A GPU tells neither: there the rate need
// only be one that there can be. (What is wrong everywhere has been found on the simulated device before.)
static int measures(int to, int from, int bytes, int repeats)
{
    given("to = %s, from = %s, bytes = %d, repeats = %d", kinds[to], kinds[from], bytes, repeats);
    int rate = call_i32("copy_rate", i32(to), i32(from), i32(bytes), i32(repeats));
    double ns = counter("devices__elapsed_ns.sum"), due = (repeats + 1) * (bytes / ns) * 1e3;
    uint64_t copied = counter("memcpy__bytes_htod.sum") + counter("memcpy__bytes_dtoh.sum");
    uint64_t all = (repeats + 1ull) * bytes;

    expect(rate > 0, "copy_rate returned %d, should be a rate in MB/s. Have the events happened when their time is asked for?", rate);
    if (ns == 0) {
        expect(rate < 100000000, "copy_rate returned %d MB/s, more than any memory can", rate);
        return rate;
    }
    expect((from == DEVICE && to == DEVICE) || copied == all,
           "%llu bytes were copied between host and device, should be %llu: one copy to warm up, and %d that are timed",
           (unsigned long long)copied, (unsigned long long)all, repeats);
    const char *hint = rate > 500 * due ? " A megabyte is 10^6 bytes."
        : rate < due / 500 ? " cudaEventElapsedTime gives milliseconds."
        : repeats > 1 && fabs(rate * repeats / due - 1) < 0.3 ? " How many copies lie between the events?" : "";
    expect(rate > 0.8 * due && rate < 1.25 * due, "copy_rate returned %d MB/s, but by the device's clock it was about %.0f.%s",
           rate, due, hint);
    return rate;
}

Check(roofline, rates_of_copies)
{
    measures(DEVICE, PAGEABLE, 1 << 20, 10);
    measures(DEVICE, PINNED, 1 << 20, 10);
    measures(PAGEABLE, DEVICE, 1 << 20, 10);
    measures(PINNED, DEVICE, 1 << 20, 10);
    measures(DEVICE, DEVICE, 1 << 24, 20);
    measures(DEVICE, PINNED, 1000003, 3);
    measures(DEVICE, PINNED, 1 << 20, 1);
}

Check(roofline, pinned_memory_is_faster)
{
    int pageable = measures(DEVICE, PAGEABLE, 1 << 22, 5), pinned = measures(DEVICE, PINNED, 1 << 22, 5);
    expect(pinned > 1.2 * pageable, "pinned memory gives %d MB/s, pageable memory %d: is each of its kind?", pinned, pageable);
}

// ---- polynomial

static struct {
    const float *x, *c;
    int degree;
} asked;

enum variant { AS_ASKED, TURNED, TOO_SHORT, NO_CONSTANT, VARIANTS };

static const char *const words[VARIANTS] = {
    [TURNED] = "So it is when the coefficients come in the other order: c[0] is the constant, c[degree] goes with the highest power.",
    [TOO_SHORT] = "So it is without the last coefficient, c[degree]: there are degree + 1 of them.",
    [NO_CONSTANT] = "So it is without c[0].",
};

static double value(double x, enum variant v)
{
    int degree = asked.degree - (v == TOO_SHORT);
    double sum = 0;
    for (int k = degree; k >= (v == NO_CONSTANT); k--)
        sum = sum * x + asked.c[v == TURNED ? degree - k : k];
    return v == NO_CONSTANT ? sum * x : sum;
}

static const char *which(const Mismatch *m)
{
    for (enum variant v = AS_ASKED + 1; v < VARIANTS; v++) {
        bool same = true;
        for (size_t i = 0; i < m->out->count && same; i++)
            same = fabs(m->out->f32[i] - value(asked.x[i], v)) <= 1e-4;
        if (same)
            return words[v];
    }
    return NULL;
}

// In Horner's rule or by powers, each step rounds: of a sum of degree + 1 terms below 1, 1e-7 each.
static void compare(Buffer *out, int degree)
{
    double *want = reference_f64(out->count);
    for (size_t i = 0; i < out->count; i++)
        want[i] = value(asked.x[i], AS_ASKED);
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

Check(roofline, polynomials)
{
    evaluates(1000, 3);
    int sizes[] = {0, 1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 255, 256, 257, 1023, 1024, 1025, 10007};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        evaluates(sizes[s], (int)s % 7);
}

Check(roofline, all_degrees)
{
    int degrees[] = {0, 1, 2, 7, 8, 9, 16, 31, 100, 1000};
    for (size_t s = 0; s < sizeof degrees / sizeof *degrees; s++)
        evaluates(515, degrees[s]);
}

// Numbers near 10, whose 30th power still is a float.
Check(roofline, large_powers)
{
    Buffer *in = input_f32("in", 100), *out = output_f32("out", 100), *c = input_f32("c", 31);
    double *want = reference_f64(100);

    for (int i = 0; i < 100; i++)
        in->f32[i] = 8 + i % 5 + in->f32[i];
    for (int k = 0; k <= 30; k++)
        c->f32[k] = fabsf(c->f32[k]);
    asked.x = in->f32, asked.c = c->f32, asked.degree = 30;
    for (int i = 0; i < 100; i++)
        want[i] = value(in->f32[i], AS_ASKED);
    given("degree = 30, n = 100, x near 10");
    call("polynomial", device(out), device(in), device(c), i32(30), i32(100));
    expect_close_f32(out, want, 0, 1e-5);
}

// The check that profiles/lessons/04-roofline.cfg measures.
Check(roofline, a_quarter_million)
{
    evaluates(1 << 18, 32);
}

// What it times on a GPU: a low degree, where memory is the limit.
Measure(roofline, large)
{
    enum { N = 1 << 26, DEGREE = 4 };
    size_t sets = rotations(8ull * N);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX], *c[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_f32("in", N), out[s] = output_f32("out", N), c[s] = input_f32("c", DEGREE + 1);
        rotate("polynomial", device(out[s]), device(in[s]), device(c[s]), i32(DEGREE), i32(N));
        compulsory(4ull * N, 4ull * N);
    }
    measure();
    for (size_t s = 0; s < sets; s++) {
        asked.x = in[s]->f32, asked.c = c[s]->f32, asked.degree = DEGREE;
        compare(out[s], DEGREE);
    }
}
