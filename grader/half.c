// Numbers of 16 bits: a sign, an exponent, a fraction.
//
//     f16   s eeeee ffffffffff      the bias is 15
//     bf16  s eeeeeeee fffffff      127, as a float's, whose upper half it is
#include "grader.h"
#include <math.h>
#include <string.h>

typedef struct Format {
    int fraction, bias; // bits of the fraction
} Format;

static const Format F16 = { 10, 15 }, BF16 = { 7, 127 };

// Normal numbers are a double's bits, with another bias and a longer fraction. Buffers have
// millions of them.
enum { FRACTION = 52, BIAS = 1023 };

static double value(Format f, uint16_t bits)
{
    int ones = (1 << (15 - f.fraction)) - 1, exponent = bits >> f.fraction & ones;
    int fraction = bits & ((1 << f.fraction) - 1), lowest = 1 - f.bias - f.fraction;
    uint64_t word = ((uint64_t)(bits & 0x7FFF) << (FRACTION - f.fraction))
                  + ((uint64_t)(BIAS - f.bias) << FRACTION);
    double size;
    memcpy(&size, &word, sizeof size);
    if (exponent == 0) size = scalbn(fraction, lowest);
    if (exponent == ones) size = fraction ? NAN : INFINITY;
    return bits >> 15 ? -size : size;
}

static uint16_t bits(Format f, double x)
{
    unsigned sign = signbit(x) ? 0x8000 : 0, infinite = 0x7FFF >> f.fraction << f.fraction;
    double size = fabs(x);
    uint64_t word, all;
    memcpy(&word, &size, sizeof word);
    if (isnan(x)) return sign | infinite | 1 << (f.fraction - 1);

    int smallest = 1 - f.bias, exponent = (int)(word >> FRACTION) - BIAS;
    if (exponent > f.bias) return sign | infinite;
    if (exponent >= smallest) {
        // To the nearest, and to even. What is rounded up to a power of two adds itself to the
        // exponent.
        int more = FRACTION - f.fraction;
        word += (1ULL << (more - 1)) - 1 + (word >> more & 1);
        all = (word >> more) - ((uint64_t)(BIAS - f.bias) << f.fraction);
    } else { // below the smallest exponent the units of the last place grow no finer
        all = (uint64_t)nearbyint(scalbn(size, f.fraction - smallest));
    }
    return sign | (all < infinite ? all : infinite);
}

double f16_value(uint16_t b) { return value(F16, b); }
double bf16_value(uint16_t b) { return value(BF16, b); }
uint16_t f16_bits(double x) { return bits(F16, x); }
uint16_t bf16_bits(double x) { return bits(BF16, x); }
