// Lesson 1: vector_add over sizes around warps and blocks, and one large size that is measured.
// One addition of two floats is rounded once, on any device: the comparison is exact.
#include "grader.h"

// c is a + b only where both inputs arrived: names the one that did not.
static const float *first_input, *second_input;

static const char *one_input_only(const Mismatch *m)
{
    size_t i = m->first;
    float got = m->out->f32[i];

    if (got == first_input[i]) return "That is a[i] alone: b was not added.";
    if (got == second_input[i]) return "That is b[i] alone: a was not added.";
    if (got == first_input[i] - second_input[i] || got == first_input[i] * second_input[i])
        return "The sum is wanted: a[i] + b[i].";
    return NULL;
}

static void adds(int n)
{
    Buffer *a = input_f32("a", n), *b = input_f32("b", n), *c = output_f32("c", n);
    float *want = reference_f32(n);

    for (int i = 0; i < n; i++) want[i] = a->f32[i] + b->f32[i];

    first_input = a->f32;
    second_input = b->f32;
    diagnose(one_input_only);
    given("n = %d", n);
    call("vector_add", host(c), host(a), host(b), i32(n));
    compulsory(8ull * n, 4ull * n);
    compulsory_journey(8ull * n, 4ull * n);
    expect_equal_f32(c, want);
}

Check(first_kernel, one_element) { adds(1); }

Check(first_kernel, around_a_warp)
{
    adds(31);
    adds(32);
    adds(33);
}

Check(first_kernel, around_a_block)
{
    adds(255);
    adds(256);
    adds(257);
    adds(1023);
    adds(1024);
    adds(1025);
}

Check(first_kernel, primes)
{
    adds(7);
    adds(7919);
    adds(65537);
}

Check(first_kernel, nothing) { adds(0); }

// The check that profiles/lessons/01-first-kernel.cfg measures. Any right answer loads 100,000
// sectors and stores 50,000; and the simulated device takes less than a second when one thread adds
// all.
Check(first_kernel, large) { adds(400000); }
