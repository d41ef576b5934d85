// How far an approximation may be off (PTX ISA 9.0, "Floating Point Instructions" and "Half
// Precision Floating Point Instructions", each instruction's notes). The reference is the C
// library's, in double.
#define _GNU_SOURCE
#include <math.h>
#include <string.h>

#include "forms.h"

typedef struct {
    int bits, exponent, fraction;
} Format; // of one number

static Format format_of(enum type t)
{
    switch (t) {
    case f64: return (Format){ 64, 11, 52 };
    case f16:
    case f16x2: return (Format){ 16, 5, 10 };
    case bf16:
    case bf16x2: return (Format){ 16, 8, 7 };
    default: return (Format){ 32, 8, 23 };
    }
}

static double value_of(uint64_t bits, Format f)
{
    union {
        uint64_t bits;
        double value;
    } wide = { bits };
    if (f.bits == 64) return wide.value;
    uint64_t ones = (1ull << f.exponent) - 1, exponent = bits >> f.fraction & ones;
    uint64_t hidden = exponent ? 1ull << f.fraction : 0,
             fraction = bits & ((1ull << f.fraction) - 1);
    int bias = (int)(ones / 2), power = (int)(exponent ? exponent : 1) - bias - f.fraction;
    double value =
        exponent == ones ? fraction ? NAN : INFINITY : ldexp((double)(hidden | fraction), power);
    return bits >> (f.bits - 1) & 1 ? -value : value;
}

static double least_normal(Format f) { return ldexp(1, 2 - (1 << (f.exponent - 1))); }
static double largest(Format f)
{
    return ldexp(2 - ldexp(1, -f.fraction), (1 << (f.exponent - 1)) - 1);
}
static double ulp(double x, Format f)
{
    double least = least_normal(f);
    return ldexp(1, (fabs(x) < least ? ilogb(least) : ilogb(x)) - f.fraction);
}

static bool is(const Form *f, const char *op) { return !strncmp(f->name, op, strlen(op)); }

static double exact(const Form *f, double a, double b)
{
    if (is(f, "div")) return a / b;
    if (is(f, "rcp")) return 1 / a;
    if (is(f, "sqrt")) return sqrt(a);
    if (is(f, "rsqrt")) return 1 / sqrt(a);
    if (is(f, "sin")) return sin(a);
    if (is(f, "cos")) return cos(a);
    if (is(f, "lg2")) return log2(a);
    if (is(f, "ex2")) return exp2(a);
    return tanh(a);
}

// What the result may be off by; negative: PTX promises nothing for these operands.
static double promise(const Form *f, Format type, double a, double b, double due)
{
    double relative = fabs(due);
    if (is(f, "div.approx"))
        return fabs(b) > 0x1p126 || fabs(b) < 0x1p-126 ? -1 : 2 * ulp(due, type);
    if (is(f, "div")) return fabs(b) > 0x1p126 || fabs(b) < 0x1p-126 ? -1 : 2 * ulp(due, type);
    if (is(f, "rcp") || is(f, "rsqrt"))
        return type.bits == 64 ? 0x1p-19 * relative : ulp(due, type) + 0x1p-22 * relative;
    if (is(f, "sqrt")) return 0x1p-23 * relative;
    if (is(f, "sin") || is(f, "cos"))
        return fabs(a) <= 2 * M_PI ? 0x1p-20 : fabs(a) <= 100 * M_PI ? 0x1p-14 : -1;
    if (is(f, "lg2")) return a > 0.5 && a < 2 ? 0x1p-22 : 0x1p-22 * relative;
    if (is(f, "ex2"))
        return (type.bits == 32 ? 0x1p-22 : type.fraction == 10 ? 0x1p-9 : 0x1p-7) * relative;
    return type.bits == 32 ? 0x1p-11 * relative : type.fraction == 10 ? 0x1p-10 : 0x1p-8;
}

static bool one_holds(const Form *f, Format type, uint64_t bits, uint64_t x, uint64_t y,
                      double *error)
{
    bool flushes = strstr(f->name, ".ftz") || is(f, "div.approx");
    if (strstr(f->name, "ftz.f64")) x &= ~0xffffffffull; // the upper half alone is looked at
    double a = value_of(x, type), b = value_of(y, type), got = value_of(bits, type);
    if (strstr(f->name, ".ftz") && fabs(a) < least_normal(type)) a = copysign(0, a);
    if (strstr(f->name, ".ftz") && fabs(b) < least_normal(type)) b = copysign(0, b);
    double due = exact(f, a, b), allowed = promise(f, type, a, b, due);
    if (allowed < 0) return true;
    if (isnan(due)) return isnan(got);
    if (fabs(due) > largest(type)) return isinf(got) || fabs(got) == largest(type);
    if (flushes && fabs(due) <= least_normal(type) && fabs(got) <= least_normal(type)) return true;
    // The reference has to be rounded, too; denormals are cut off.
    allowed += fabs(due) < least_normal(type) ? ulp(due, type) : 0.5 * ulp(due, type);
    *error = fmax(*error, fabs(got - due) / allowed);
    return fabs(got - due) <= allowed;
}

bool bound_holds(const Form *f, const uint64_t in[MOST_IN], uint64_t result, double *error)
{
    enum type t = f->out[0];
    Format type = format_of(t);
    bool both = t == f16x2 || t == bf16x2;
    uint64_t mask = type.bits == 64 ? ~0ull : (1ull << type.bits) - 1;
    for (int n = 0; n <= both; n++) {
        int shift = n * type.bits;
        if (!one_holds(f, type, result >> shift & mask, in[0] >> shift & mask,
                       in[1] >> shift & mask, error))
            return false;
    }
    return true;
}
