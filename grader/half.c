// Numbers of 16 bits: a sign, an exponent, a fraction.
//
//     f16   s eeeee ffffffffff      the bias is 15
//     bf16  s eeeeeeee fffffff      127, as a float's, whose upper half it is
#include "grader.h"
#include <math.h>

typedef struct Format {
    int fraction, bias; // bits of the fraction
} Format;

static const Format F16 = { 10, 15 }, BF16 = { 7, 127 };

static double value(Format f, uint16_t bits)
{
    int ones = (1 << (15 - f.fraction)) - 1, exponent = bits >> f.fraction & ones;
    int fraction = bits & ((1 << f.fraction) - 1), lowest = 1 - f.bias - f.fraction;
    double size = exponent == ones ? (fraction ? NAN : INFINITY)
                : exponent == 0    ? scalbn(fraction, lowest)
                                   : scalbn(fraction + (1 << f.fraction), exponent - 1 + lowest);
    return bits >> 15 ? -size : size;
}

static uint16_t bits(Format f, double x)
{
    unsigned sign = signbit(x) ? 0x8000 : 0, infinite = 0x7FFF >> f.fraction << f.fraction;
    double size = fabs(x);
    if (isnan(x)) return sign | infinite | 1 << (f.fraction - 1);
    if (isinf(x) || size == 0) return sign | (isinf(x) ? infinite : 0);

    // Whole units of the last place; below the smallest exponent these grow no finer. The
    // leading one of a normal number, or of what was rounded up, adds itself to the exponent.
    int smallest = 1 - f.bias, exponent = ilogb(size) < smallest ? smallest : ilogb(size);
    if (exponent > f.bias) return sign | infinite;
    unsigned units = (unsigned)nearbyint(scalbn(size, f.fraction - exponent));
    unsigned all = ((unsigned)(exponent - smallest) << f.fraction) + units;
    return sign | (all < infinite ? all : infinite);
}

double f16_value(uint16_t b) { return value(F16, b); }
double bf16_value(uint16_t b) { return value(BF16, b); }
uint16_t f16_bits(double x) { return bits(F16, x); }
uint16_t bf16_bits(double x) { return bits(BF16, x); }
