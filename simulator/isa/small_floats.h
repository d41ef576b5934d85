// What the expressions of the instruction table's rows call: halves, bfloat16, tf32 and floats of
// eight bits.
//
// A format has a sign, so many bits of exponent and so many of fraction; every number of it is a
// double exactly. A NaN result is all ones below the sign, as the hardware gives it.
#pragma once
#include "arithmetic.h"

static inline u64 bits_of(f64 x)
{
    union {
        f64 value;
        u64 bits;
    } v = { x };
    return v.bits;
}
static inline f64 of_bits(u64 x)
{
    union {
        u64 bits;
        f64 value;
    } v = { x };
    return v.value;
}

static inline f64 of_small(u32 bits, u32 exponent_bits, u32 fraction_bits)
{
    u32 ones = (1u << exponent_bits) - 1, exponent = bits >> fraction_bits & ones;
    u64 fraction = bits & ((1u << fraction_bits) - 1),
        sign = (u64)(bits >> (exponent_bits + fraction_bits) & 1) << 63;
    s32 bias = ones / 2;
    if (exponent == ones)
        return of_bits(sign | 0x7ffull << 52
                       | (fraction ? 1ull << 51 | fraction << (52 - fraction_bits) : 0));
    if (!exponent)
        return of_bits(sign | bits_of(ldexp((f64)fraction, 1 - bias - (s32)fraction_bits)));
    return of_bits(sign | (u64)(1023 - bias + (s32)exponent) << 52
                   | fraction << (52 - fraction_bits));
}

// The bits without the sign of |x|, rounded in one of <fenv.h>'s modes. Beyond the range the
// exponent goes on upwards: what that means is the caller's business.
static inline u32 magnitude(f64 x, u32 exponent_bits, u32 fraction_bits, int mode)
{
    s32 least = 2 - (s32)(1u << (exponent_bits - 1)),
        exponent = (s32)(bits_of(x) >> 52 & 0x7ff) - 1023;
    bool away = mode == (signbit(x) ? FE_DOWNWARD : FE_UPWARD);
    if (exponent < -1022) return away && x != 0; // a double's denormals are far below all
    u64 fraction = (bits_of(x) & ((1ull << 52) - 1)) | 1ull << 52;
    u32 drop = 52 - fraction_bits + (exponent < least ? (u32)(least - exponent) : 0);
    if (drop > 54) drop = 54;
    u64 kept = fraction >> drop, rest = fraction & ((1ull << drop) - 1), half = 1ull << (drop - 1);
    bool nearer = rest > half || (rest == half && kept & 1);
    if (mode == FE_TONEAREST ? nearer : away && rest) kept++;
    return (u32)kept + (exponent > least ? (u32)(exponent - least) << fraction_bits : 0);
}

static inline u32 round_small(f64 x, u32 exponent_bits, u32 fraction_bits, int mode)
{
    u32 infinity = ((1u << exponent_bits) - 1) << fraction_bits,
        all = (1u << (exponent_bits + fraction_bits)) - 1;
    if (x != x) return all;
    u32 sign = signbit(x) ? all + 1 : 0;
    if (isinf(x)) return sign | infinity;
    u32 bits = magnitude(x, exponent_bits, fraction_bits, mode);
    bool inwards = mode == FE_TOWARDZERO || mode == (sign ? FE_UPWARD : FE_DOWNWARD);
    return sign | (bits < infinity ? bits : inwards ? infinity - 1 : infinity);
}

// From a double a NaN keeps its sign and the top of its payload.
static inline u32 small_of_f64(f64 x, u32 exponent_bits, u32 fraction_bits, int mode)
{
    if (x == x) return round_small(x, exponent_bits, fraction_bits, mode);
    u32 ones = (1u << exponent_bits) - 1, top = (u32)(bits_of(x) << 12 >> (64 - fraction_bits));
    return (signbit(x) ? 1u << (exponent_bits + fraction_bits) : 0) | ones << fraction_bits
         | 1u << (fraction_bits - 1) | top;
}
static inline u16 f16_of_f64(f64 x, int mode) { return small_of_f64(x, 5, 10, mode); }
static inline u16 bf16_of_f64(f64 x, int mode) { return small_of_f64(x, 8, 7, mode); }

static inline f64 of_f16(u32 x) { return of_small(x & 0xffff, 5, 10); }
static inline f64 of_bf16(u32 x) { return of_small(x & 0xffff, 8, 7); }
static inline u16 directed_f16(f64 x, int mode) { return round_small(x, 5, 10, mode); }
static inline u16 directed_bf16(f64 x, int mode) { return round_small(x, 8, 7, mode); }
static inline u16 round_f16(f64 x) { return round_small(x, 5, 10, FE_TONEAREST); }
static inline u16 round_bf16(f64 x) { return round_small(x, 8, 7, FE_TONEAREST); }
static inline u16 round_half_zero_f16(f64 x) { return round_small(x, 5, 10, FE_TOWARDZERO); }
static inline u16 round_half_zero_bf16(f64 x) { return round_small(x, 8, 7, FE_TOWARDZERO); }
static inline bool is_nan_f16(u32 x) { return (x & 0x7fff) > 0x7c00; }
static inline bool is_nan_bf16(u32 x) { return (x & 0x7fff) > 0x7f80; }

// A sum as a double whose last bit is set where it is not exact, so that rounding it again to fewer
// bits is right.
static inline f64 add_odd(f64 a, f64 b)
{
    f64 sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part);
    if (lost == 0 || lost != lost) return sum;
    u64 bits = bits_of(sum);
    if (bits & 1) return sum;
    return of_bits((lost > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

static inline f64 fma_odd_f16(u16 a, u16 b, u16 c)
{
    return add_odd(of_f16(a) * of_f16(b), of_f16(c));
}
static inline u16 fma_f16(u16 a, u16 b, u16 c) { return round_f16(fma_odd_f16(a, b, c)); }
static inline u16 fma_bf16(u16 a, u16 b, u16 c)
{
    return round_bf16(add_odd(of_bf16(a) * of_bf16(b), of_bf16(c)));
}
static inline u16 relu_half(u16 x) { return x == 0x7fff || !(x & 0x8000) ? x : 0; }
static inline u16 flush_f16(u16 x) { return x & 0x7c00 ? x : x & 0x8000; }
static inline u16 round_flushed_f16(f64 exact) // as flush_after()
{
    return __builtin_fabs(exact) < 0x1p-14 * (1 - 0x1p-12) ? (signbit(exact) ? 0x8000 : 0)
                                                           : round_f16(exact);
}
static inline f64 of_flushed_f16(u32 x) { return of_f16(flush_f16(x)); }
static inline u16 unit_f16(u16 x)
{
    return is_nan_f16(x) || x & 0x8000 ? 0 : x > 0x3c00 ? 0x3c00 : x;
}

#define HALF_ORDER(F)                                                                              \
    static inline u16 negate_##F(u16 a) { return is_nan_##F(a) ? 0x7fff : a ^ 0x8000; }            \
    static inline u16 absolute_##F(u16 a) { return is_nan_##F(a) ? 0x7fff : a & 0x7fff; }          \
    static inline u16 least_##F(u16 a, u16 b, bool nan)                                            \
    {                                                                                              \
        if (is_nan_##F(a) || is_nan_##F(b))                                                        \
            return nan || (is_nan_##F(a) && is_nan_##F(b)) ? 0x7fff : is_nan_##F(a) ? b : a;       \
        return of_##F(a) < of_##F(b) || (of_##F(a) == of_##F(b) && a & 0x8000) ? a : b;            \
    }                                                                                              \
    static inline u16 most_##F(u16 a, u16 b, bool nan)                                             \
    {                                                                                              \
        if (is_nan_##F(a) || is_nan_##F(b))                                                        \
            return nan || (is_nan_##F(a) && is_nan_##F(b)) ? 0x7fff : is_nan_##F(a) ? b : a;       \
        return of_##F(a) > of_##F(b) || (of_##F(a) == of_##F(b) && b & 0x8000) ? a : b;            \
    }                                                                                              \
    static inline u16 signed_##F(u16 x, u16 signs)                                                 \
    {                                                                                              \
        return is_nan_##F(x) ? x : (x & 0x7fff) | (signs & 0x8000);                                \
    }                                                                                              \
    static inline bool holds_##F(u16 a, u16 b, u32 relations)                                      \
    {                                                                                              \
        f64 x = of_##F(a), y = of_##F(b);                                                          \
        return relations & (x < y ? IS_LESS : x > y ? IS_MORE : x == y ? IS_EQUAL : IS_NEITHER);   \
    }
enum { IS_LESS = 1, IS_MORE = 2, IS_EQUAL = 4, IS_NEITHER = 8 };
HALF_ORDER(f16)
HALF_ORDER(bf16)
#undef HALF_ORDER

// Both halves of registers a, b and c: x, y and z are those of one.
#define HALVES_1(e)                                                                                \
    ({                                                                                             \
        u16 x = a;                                                                                 \
        u32 low = (u16)(e);                                                                        \
        x = a >> 16;                                                                               \
        low | (u32)(u16)(e) << 16;                                                                 \
    })
#define HALVES(e)                                                                                  \
    ({                                                                                             \
        u16 x = a, y = b;                                                                          \
        u32 low = (u16)(e);                                                                        \
        x = a >> 16, y = b >> 16;                                                                  \
        low | (u32)(u16)(e) << 16;                                                                 \
    })
#define HALVES_3(e)                                                                                \
    ({                                                                                             \
        u16 x = a, y = b, z = c;                                                                   \
        u32 low = (u16)(e);                                                                        \
        x = a >> 16, y = b >> 16, z = c >> 16;                                                     \
        low | (u32)(u16)(e) << 16;                                                                 \
    })

// 64-bit integers as doubles whose last bit is set where they are not exact.
static inline f64 odd_of_u64(u64 x)
{
    return x >> 53 ? (f64)((x >> 11) | ((x & 2047) != 0)) * 2048 : (f64)x;
}
static inline f64 odd_of_s64(s64 x) { return x < 0 ? -odd_of_u64(0 - (u64)x) : odd_of_u64(x); }

// A bfloat16 number is the upper half of a float, a NaN too.
static inline f32 upper_half(u16 x)
{
    union {
        u32 bits;
        f32 value;
    } v = { (u32)x << 16 };
    return v.value;
}

// Into the upper 19 bits: to nearest, ties away from zero or to even, or towards zero.
static inline u32 tf32_rounded(f32 x, u32 added)
{
    union {
        f32 value;
        u32 bits;
    } v = { x };
    if (x != x) return 0x7fffe000;
    return isinf(x) ? v.bits : (v.bits + added) & ~0x1fffu;
}
static inline u32 tf32_away(f32 x)
{
    union {
        f32 value;
        u32 bits;
    } v = { x };
    return x != x ? v.bits & ~0x1fffu : tf32_rounded(x, 0x1000); // a NaN's payload is cut off
}
static inline u32 tf32_zero(f32 x) { return tf32_rounded(x, 0); }
static inline u32 tf32_even(f32 x)
{
    union {
        f32 value;
        u32 bits;
    } v = { x };
    return tf32_rounded(x, 0xfff + (v.bits >> 13 & 1));
}
static inline u32 tf32_finite(u32 x) { return (x & 0x7f800000) == 0x7f800000 ? x - 0x2000 : x; }
static inline u32 tf32_relu(u32 x) { return x >> 31 ? 0 : x; }

// The largest number of the sign in place of infinity.
static inline u16 finite_f16(u16 x) { return (x & 0x7fff) == 0x7c00 ? x - 1 : x; }
static inline u16 unit_round_f16(f64 exact) { return unit_f16(round_f16(exact)); }
static inline u16 unit_round_flushed_f16(f64 exact) { return unit_f16(round_flushed_f16(exact)); }
static inline u16 finite_bf16(u16 x) { return (x & 0x7fff) == 0x7f80 ? x - 1 : x; }

// .satfinite: what is too large becomes the largest number. e4m3 has no infinity: its NaN is all
// ones.
static inline u32 round_e4m3(f64 x)
{
    u32 bits = x != x ? 0x7f : isinf(x) ? 0x7e : magnitude(x, 4, 3, FE_TONEAREST);
    if (x == x && bits > 0x7e) bits = 0x7e;
    return bits | (x == x && signbit(x) ? 0x80 : 0);
}

static inline u32 round_e5m2(f64 x)
{
    u32 bits = x != x ? 0x7f : isinf(x) ? 0x7b : magnitude(x, 5, 2, FE_TONEAREST);
    if (x == x && bits > 0x7b) bits = 0x7b;
    return bits | (x == x && signbit(x) ? 0x80 : 0);
}

static inline f64 of_e4m3(u32 x)
{
    x &= 0xff;
    if ((x & 0x7f) == 0x7f) return of_bits(0x7ff8ull << 48);
    u32 exponent = x >> 3 & 15, fraction = x & 7;
    f64 value = exponent ? ldexp(8 + fraction, (s32)exponent - 10) : ldexp(fraction, -9);
    return x & 0x80 ? -value : value;
}

static inline u16 relu_finite_f16(u16 x) { return relu_half(finite_f16(x)); }
static inline u16 relu_finite_bf16(u16 x) { return relu_half(finite_bf16(x)); }
static inline bool holds_flushed_f16(u16 a, u16 b, u32 relations)
{
    return holds_f16(flush_f16(a), flush_f16(b), relations);
}
#define HALVES_OF(high, low) ((u32)(high) << 16 | (low))

static inline u32 relu_8(u32 x) { return x & 0x80 ? 0 : x; }
