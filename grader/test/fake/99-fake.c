// The lesson that the grader's own tests use: device and host pointers, a result, and every
// kind of argument.
#include "grader.h"

#include <stdlib.h>
#include <string.h>

static bool is_case(const char *name)
{
    const char *now = getenv("FAKE_CASE");
    return now && strcmp(now, name) == 0;
}

static void doubles(int n)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);
    double *want = reference_f64(n);
    for (int i = 0; i < n; i++) want[i] = 2.0 * in->f32[i];
    given("n = %d", n);
    call("twice", device(out), device(in), i32(n));
    compulsory(n * 4, n * 4);
    expect_close_f32(out, want, 0, 1e-6);
}

Check(fake, small_sizes)
{
    doubles(1);
    doubles(33);
    doubles(0);
}

// Here the grader itself goes wrong, in the cases named for it.
Check(fake, a_thousand)
{
    if (is_case("grader-exits")) exit(0); // Criterion counts this as passed
    if (is_case("grader-crashes")) abort();
    if (is_case("grader-no-picture")) picture_load("nowhere.png", 3);
    if (!is_case("grader-expects-nothing")) doubles(1000);
    cr_assert_not(is_case("grader-asserts"));
}

// Odd counts, so that nothing ends with a word.
static void narrow_numbers(int n)
{
    Buffer *half = output_f16("half", n), *brain = output_bf16("brain", n),
           *byte = output_u8("byte", n);
    Buffer *half_in = input_f16("half_in", n), *brain_in = input_bf16("brain_in", n);
    Buffer *byte_in = input_u8("byte_in", n, 3, 200);
    double *want = reference_f64(n);
    for (int i = 0; i < n; i++) want[i] = value_at(brain_in, i);
    given("n = %d", n);
    call("narrow", host(half), host(brain), host(byte), host(half_in), host(brain_in),
         host(byte_in), i32(n));
    if (n && strstr(getenv("FAKE_CASE"), "picture"))
        picture_show("byte", (Picture){ byte->u8, 11, n / 11, 1, 11 });
    expect_equal_f16(half, half_in->f16);
    expect_close_bf16(brain, want, 0, 1e-3);
    expect_equal_u8(byte, byte_in->u8);
}

Check(fake, every_argument)
{
    if (strstr(getenv("FAKE_CASE"), "narrow")) {
        narrow_numbers(33);
        narrow_numbers(0);
    }
    Buffer *in = input_i32("in", 40 * 70, -5, 5), *out = output_i32("out", 40 * 70);
    int32_t *want = reference_i32(40 * 70), sum = 0;
    for (int r = 0; r < 40; r++)
        for (int c = 0; c < 70; c++) {
            want[c * 40 + r] = in->i32[r * 70 + c];
            sum += in->i32[r * 70 + c];
        }
    as_matrix(out, 70, 40);
    call("turn", host(out), host(in), i32(40), i32(70), i64(1ll << 40), f32(0.5f), f64(-0.25));
    expect_equal_i32(out, want);
    int32_t got = call_i32("total", host(in), i32(40 * 70));
    expect(got == sum, "total returned %d, should be %d", got, sum);
}

static void measures(void)
{
    enum { N = 1000 };
    size_t sets = rotations(8 * N);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX];
    for (size_t s = 0; s < sets; s++) {
        in[s] = s && is_case("gpu-set-shared") ? in[0] : input_f32("in", N);
        out[s] = output_f32("out", N);
        for (int i = 0; is_case("gpu-peer-wrong") && i < N; i++)
            in[s]->f32[i] = 0.25f; // a GPU's seed is fresh, and these words are to be the same
        rotate("twice", device(out[s]), device(in[s]), i32(N));
        compulsory(4 * N, 4 * N);
    }
    measure();
    double *want = reference_f64(N);
    for (size_t s = 0; s < sets; s++) {
        for (int i = 0; i < N; i++) want[i] = 2.0 * in[s]->f32[i];
        expect_close_f32(out[s], want, 0, 1e-6);
    }
}

Measure(fake, in_turn) { measures(); }

// Beside which no other may run. A call prepares what is timed; it is not timed, nor counted.
Measure(fake, after_that)
{
    doubles(100);
    count_from_here();
    measures();
}
