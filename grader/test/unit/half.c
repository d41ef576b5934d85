// Numbers of 16 bits against what else knows them: the compiler's own, and a float's upper half.
#include "grader.h"
#include <math.h>
#include <string.h>

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static double upper_half(unsigned bits)
{
    unsigned word = bits << 16;
    float f;
    memcpy(&f, &word, sizeof f);
    return f;
}

Test(half, has_the_value_of_its_bits)
{
    for (unsigned b = 0; b < 65536; b++) {
        cr_assert(same(bf16_value(b), upper_half(b)), "bf16 %04x is %g", b, bf16_value(b));
        if (!isnan(bf16_value(b))) cr_assert_eq(bf16_bits(bf16_value(b)), b);
        if (!isnan(f16_value(b))) cr_assert_eq(f16_bits(f16_value(b)), b);
    }
    cr_expect(f16_value(0x3C00) == 1 && f16_value(0xC100) == -2.5 && f16_value(0x7BFF) == 65504);
    cr_expect(f16_value(0x0001) == 0x1p-24 && f16_value(0x0400) == 0x1p-14
              && isinf(f16_value(0xFC00)));
}

Test(half, is_rounded_to_the_nearest_and_to_even)
{
    cr_expect_eq(f16_bits(65519.9), 0x7BFF);
    cr_expect_eq(f16_bits(65520), 0x7C00);
    cr_expect_eq(f16_bits(-1e300), 0xFC00);
    cr_expect_eq(f16_bits(0x1p-25), 0);
    cr_expect_eq(f16_bits(-0x1.8p-24), 0x8002);
    cr_expect_eq(f16_bits(0x1.001p-25), 1);
    cr_expect_eq(f16_bits(1 + 0x1p-11), 0x3C00);
    cr_expect_eq(f16_bits(1 + 0x3p-11), 0x3C02);
    cr_expect_eq(f16_bits(0x1.FFEp0), 0x4000);
    cr_expect_eq(f16_bits(NAN) & 0x7E00, 0x7E00);
    cr_expect_eq(bf16_bits(1 + 0x1p-8), 0x3F80);
    cr_expect_eq(bf16_bits(1 + 0x3p-8), 0x3F82);
    cr_expect_eq(bf16_bits(0x1.FFp127), 0x7F80);
    cr_expect_eq(bf16_bits(0x1p-133), 1);
}

#ifdef __FLT16_MANT_DIG__
Test(half, is_the_compilers_own)
{
    unsigned long long x = 1;
    for (int i = 0; i < 200000; i++) {
        x = x * 6364136223846793005 + 1442695040888963407;
        double d = scalbn((double)(long long)x, (int)(x >> 58) - 96);
        _Float16 h = (_Float16)d;
        unsigned short b;
        memcpy(&b, &h, sizeof b);
        cr_assert_eq(f16_bits(d), b, "%a: %04x, not %04x", d, f16_bits(d), b);
        cr_assert(same(f16_value(b), h));
    }
}
#endif
