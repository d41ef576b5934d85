// What the expressions of the instruction table's rows call: arithmetic as the hardware does it
// where C's differs, or C has none.
#pragma once
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

// clang-format off
#define divide(a, b)                                                                               \
    _Generic((a), u64: divide_u64, s64: divide_s64, default: divide_narrow)(a, b)
#define remainder(a, b)                                                                            \
    _Generic((a), u64: remainder_u64, s64: remainder_s64, default: remainder_narrow)(a, b)
#define lesser(a, b) (isnan(a) ? number(b) : isnan(b) ? number(a) : \
    (a) < (b) || ((a) == (b) && signbit(a)) ? (a) : (b))
#define greater(a, b) (isnan(a) ? number(b) : isnan(b) ? number(a) : \
    (a) > (b) || ((a) == (b) && signbit(b)) ? (a) : (b))
#define clamp(x, low, high) _Generic((x), f32: clamp_f32, f64: clamp_f64)(x, low, high)
#define number(x) _Generic((x), f32: number_f32, f64: number_f64)(x)
// clang-format on

static inline f32 number_f32(f32 x)
{
    union {
        u32 bits;
        f32 value;
    } nan = { 0x7fffffff };
    return x != x ? nan.value : x;
}

// A NaN of doubles keeps its payload and becomes quiet. Of several operands that are NaN, it is b,
// then c, then a (of a division a, then b); of none, which numbers make, it has a sign, whatever
// the host makes of them.
static inline f64 number_f64(f64 x)
{
    union {
        f64 value;
        u64 bits;
    } v = { x };
    v.bits |= x != x ? 1ull << 51 : 0;
    return v.value;
}
static inline f64 nan_of_3(f64 result, f64 a, f64 b, f64 c)
{
    union {
        u64 bits;
        f64 value;
    } invalid = { 0xfff8000000000000 };
    return result == result ? result
                            : number_f64(b != b   ? b
                                         : c != c ? c
                                         : a != a ? a
                                                  : invalid.value);
}
static inline f64 nan_of_2(f64 result, f64 a, f64 b) { return nan_of_3(result, a, b, b); }
static inline f64 nan_of_1(f64 result, f64 a) { return nan_of_3(result, a, a, a); }

static inline f32 flush(f32 x)
{
    union {
        f32 value;
        u32 bits;
    } v = { x };
    v.bits = v.bits & 0x7f800000 ? v.bits : v.bits & 0x80000000;
    return v.value;
}

// .ftz makes zero of a result that, were there smaller exponents, would be rounded to less than the
// smallest normal number: `exact` decides, not what C rounds in the range of denormals.
static inline f32 flush_after(f32 result, f64 exact, int mode)
{
    f64 size = __builtin_fabs(exact), least = 0x1p-126;
    bool away = mode == (exact < 0 ? FE_DOWNWARD : FE_UPWARD);
    bool tiny = mode == FE_TONEAREST ? size < least * (1 - 0x1p-25)
              : away                 ? size <= least * (1 - 0x1p-24)
                                     : size < least;
    return tiny ? __builtin_copysignf(0, result) : flush(result);
}
static inline f32 flush_nearest(f32 result, f64 exact)
{
    return flush_after(result, exact, FE_TONEAREST);
}

// div.approx is a multiplication by the reciprocal: beyond 2^126 that is flushed, and the quotient
// is 0.
static inline f32 divide_approx(f32 a, f32 b)
{
    return number_f32(__builtin_fabsf(b) > 0x1p126f ? a * __builtin_copysignf(0, b) : a / b);
}

// PTX leaves division by zero open; the hardware gives all ones, and so it does for the remainder.
static inline s64 divide_narrow(s64 a, s64 b) { return b == 0 ? -1 : a / b; }
static inline u64 divide_u64(u64 a, u64 b) { return b == 0 ? ~0ull : a / b; }
static inline s64 divide_s64(s64 a, s64 b)
{
    return b == 0 ? -1 : b == -1 ? (s64)(0 - (u64)a) : a / b;
}
static inline s64 remainder_narrow(s64 a, s64 b) { return b == 0 ? -1 : a % b; }
static inline u64 remainder_u64(u64 a, u64 b) { return b == 0 ? ~0ull : a % b; }
static inline s64 remainder_s64(s64 a, s64 b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }

static inline u32 low_24(u32 x) { return x & 0xffffff; }
static inline s32 signed_24(u32 x) { return (s32)(x << 8) >> 8; }

// The sum of the products of count bytes of b with as many parts of a, of `bits` each.
static inline u32 dot(u32 a, u32 bits, bool a_signed, u32 b, bool b_signed, u32 count)
{
    u32 sum = 0;
    for (u32 n = 0; n < count; n++) {
        s32 x = (s32)(a >> bits * n << (32 - bits)), y = (s32)(b >> 8 * n << 24);
        sum += (a_signed ? (u32)(x >> (32 - bits)) : (u32)x >> (32 - bits))
             * (b_signed ? (u32)(y >> 24) : (u32)y >> 24);
    }
    return sum;
}
static inline u32 dot_4(u32 a, bool a_signed, u32 b, bool b_signed)
{
    return dot(a, 8, a_signed, b, b_signed, 4);
}
static inline u32 dot_2(u32 a, bool a_signed, u32 b, bool b_signed)
{
    return dot(a, 16, a_signed, b, b_signed, 2);
}

// .sat: NaN becomes 0.
static inline f32 unit(f32 x) { return x > 0 ? x < 1 ? x : 1 : 0; }
static inline f64 unit_f64(f64 x) { return x > 0 ? x < 1 ? x : 1 : 0; }

static inline s128 within(s128 x, s128 low, s128 high)
{
    return x < low ? low : x > high ? high : x;
}
static inline f32 trunc_flushed(f32 x) { return truncf(flush(x)); }
static inline f32 rint_flushed(f32 x) { return rintf(flush(x)); }
static inline f32 floor_flushed(f32 x) { return floorf(flush(x)); }
static inline f32 ceil_flushed(f32 x) { return ceilf(flush(x)); }

// The approximations of doubles look at the upper half alone, and see denormals as zeros.
static inline f64 coarse(f64 x)
{
    union {
        f64 value;
        u64 bits;
    } v = { x };
    v.bits &= v.bits << 1 >> 53 ? 0xffffffff00000000 : 1ull << 63;
    if (v.value != v.value) v.bits = 0x7fffffff00000000;
    return v.value;
}

static inline s32 saturate_s32(s64 x)
{
    return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
}
static inline s64 clamp_f32(f64 x, s64 low, s64 high)
{
    return x != x ? 0 : x <= low ? low : x >= high ? high : (s64)x;
}
static inline s64 clamp_f64(f64 x, s64 low, s64 high)
{
    s64 highest_bit = low ? low : (high + 1) / 2; // what a NaN becomes
    return x != x ? highest_bit : clamp_f32(x, low, high);
}
static inline s64 to_s64(f64 x)
{
    return x != x || x < -0x1p63 ? INT64_MIN : x >= 0x1p63 ? INT64_MAX : (s64)x;
}
static inline u64 to_u64(f64 x)
{
    return x != x ? 1ull << 63 : x <= 0 ? 0 : x >= 0x1p64 ? UINT64_MAX : (u64)x;
}

static inline u64 reverse_bits(u64 x)
{
    x = (x >> 1 & 0x5555555555555555) | (x & 0x5555555555555555) << 1;
    x = (x >> 2 & 0x3333333333333333) | (x & 0x3333333333333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0f) | (x & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(x);
}

// `length` bits of x from bit `start`; a signed field is extended from its highest bit that exists.
// Of words, the hardware looks at eight bits of start and length; of doublewords, where it is
// emulated, at all.
static inline u64 extract_bits(u64 x, u64 start, u64 length, u32 width, bool is_signed)
{
    if (width == 32) start &= 255, length &= 255;
    bool sign =
        is_signed && length && x >> (start + length > width ? width - 1 : start + length - 1) & 1;
    u64 field = start >= width ? 0 : x >> start;
    if (start + length > width) length = start >= width ? 0 : width - start;
    u64 mask = length > 63 ? ~0ull : (1ull << length) - 1;
    return (field & mask) | (sign ? ~mask : 0);
}

// The low `length` bits of a, in b from bit `start` on. What would lie beyond the top is dropped.
static inline u64 insert_bits(u64 a, u64 b, u32 start, u32 length, u32 width)
{
    if (width == 32) start &= 255, length &= 255;
    u64 ones = length > 63 ? ~0ull : (1ull << length) - 1;
    u64 mask = start > 63 ? 0 : ones << start;
    return (b & ~mask) | (start > 63 ? 0 : a << start & mask);
}

// prmt without a mode: each nibble of c picks one of the eight bytes of {b, a}, or (bit 3) its sign
// eight times.
static inline u32 permute_bytes(u32 a, u32 b, u32 c)
{
    u64 bytes = (u64)b << 32 | a;
    u32 result = 0;
    for (u32 i = 0; i < 4; i++) {
        u32 pick = c >> 4 * i;
        u32 byte = bytes >> 8 * (pick & 7) & 0xff;
        if (pick & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

// Arithmetic in another rounding mode. The compiler must neither move it out of its place nor work
// it out beforehand, so the numbers go through memory.
// clang-format off
#define ROUNDED(name, T, expression)                                                    \
    static inline T name(T a, T b, int mode)                                            \
    {                                                                                   \
        T result;                                                                       \
        fesetround(mode);                                                               \
        __asm__ volatile("" : "+m"(a), "+m"(b));                                        \
        result = (expression);                                                          \
        __asm__ volatile("" : "+m"(result));                                            \
        fesetround(FE_TONEAREST);                                                       \
        return result;                                                                  \
    }
#define CONVERTED(name, D, A)                                                           \
    static inline D name(A a, int mode)                                                 \
    {                                                                                   \
        D result;                                                                       \
        fesetround(mode);                                                               \
        __asm__ volatile("" : "+m"(a));                                                 \
        result = (D)a;                                                                  \
        __asm__ volatile("" : "+m"(result));                                            \
        fesetround(FE_TONEAREST);                                                       \
        return result;                                                                  \
    }
ROUNDED(add_rounded_f32, f32, a + b) ROUNDED(add_rounded_f64, f64, a + b)
ROUNDED(sub_rounded_f32, f32, a - b) ROUNDED(sub_rounded_f64, f64, a - b)
ROUNDED(mul_rounded_f32, f32, a * b) ROUNDED(mul_rounded_f64, f64, a * b)
ROUNDED(div_rounded_f32, f32, a / b) ROUNDED(div_rounded_f64, f64, a / b)
ROUNDED(sqrt_rounded_f32, f32, ((void)b, __builtin_sqrtf(a))) ROUNDED(sqrt_rounded_f64, f64, ((void)b, __builtin_sqrt(a)))
CONVERTED(f32_of_f64, f32, f64) CONVERTED(f32_of_u64, f32, u64) CONVERTED(f32_of_s64, f32, s64)
CONVERTED(f64_of_u64, f64, u64) CONVERTED(f64_of_s64, f64, s64)
#undef ROUNDED
#undef CONVERTED
    // clang-format on

    static inline f32 fma_rounded_f32(f32 a, f32 b, f32 c, int mode)
{
    fesetround(mode);
    __asm__ volatile("" : "+m"(a), "+m"(b), "+m"(c));
    f32 result = __builtin_fmaf(a, b, c);
    __asm__ volatile("" : "+m"(result));
    fesetround(FE_TONEAREST);
    return result;
}

static inline f64 fma_rounded_f64(f64 a, f64 b, f64 c, int mode)
{
    fesetround(mode);
    __asm__ volatile("" : "+m"(a), "+m"(b), "+m"(c));
    f64 result = __builtin_fma(a, b, c);
    __asm__ volatile("" : "+m"(result));
    fesetround(FE_TONEAREST);
    return result;
}

// cvt.pack: a and b, each within `bits` bits, side by side, b lowest, and the low bits of c above
// them.
static inline u32 pack_saturated(s32 a, s32 b, u32 c, u32 bits, bool is_signed)
{
    s64 high = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1,
        low = is_signed ? -high - 1 : 0;
    u64 ones = (1ull << bits) - 1, x = (u64)within(a, low, high) & ones,
        y = (u64)within(b, low, high) & ones;
    return (u32)(x << bits | y | (u64)c << 2 * bits);
}

// bmsk: b ones from bit a on. szext: the low b bits, extended. .wrap takes bit numbers modulo 32,
// .clamp at most 32.
static inline u32 bit_mask(u64 a, u64 b)
{
    return a > 31 ? 0 : (u32)(((1ull << (b > 32 ? 32 : b)) - 1) << a);
}
static inline u32 extend_from(u32 a, u32 b, bool is_signed)
{
    if (b > 31) return a;
    if (b == 0) return 0;
    return is_signed ? (u32)((s32)(a << (32 - b)) >> (32 - b)) : a & ((1u << b) - 1);
}

// fns: the place of the offset-th one bit of mask, from bit `base` on upwards, or downwards where
// offset is negative.
static inline u32 find_set(u32 mask, u32 base, s32 offset)
{
    if (offset == 0) return base < 32 && mask >> base & 1 ? base : ~0u;
    if (offset == INT32_MIN) return 0; // as the hardware has it
    s32 step = offset > 0 ? 1 : -1, left = offset > 0 ? offset : -offset;
    for (s64 at = base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0) return (u32)at;
    return ~0u;
}

// lop3: bit by bit, the bit of `table` that a, b and c number, a's the highest.
static inline u32 look_up(u32 a, u32 b, u32 c, u32 table)
{
    u32 result = 0;
    for (u32 n = 0; n < 8; n++)
        if (table >> n & 1) result |= (n & 4 ? a : ~a) & (n & 2 ? b : ~b) & (n & 1 ? c : ~c);
    return result;
}

// prmt with a mode: the low two bits of c pick one of four patterns, each a nibble for each byte.
static inline u32 permute_mode(u32 a, u32 b, u32 c, const u16 *patterns)
{
    return permute_bytes(a, b, patterns[c & 3]);
}
static const u16 f4e[] = { 0x3210, 0x4321, 0x5432, 0x6543 },
                 b4e[] = { 0x5670, 0x6701, 0x7012, 0x0123 };
static const u16 rc8[] = { 0x0000, 0x1111, 0x2222, 0x3333 },
                 rc16[] = { 0x1010, 0x3232, 0x1010, 0x3232 };
static const u16 ecl[] = { 0x3210, 0x3211, 0x3222, 0x3333 },
                 ecr[] = { 0x0000, 0x1110, 0x2210, 0x3210 };

// Both halves of a word as integers.
#define PAIR(T, e)                                                                                 \
    ({                                                                                             \
        T x = (T)a, y = (T)b;                                                                      \
        u32 low = (u16)(e);                                                                        \
        x = (T)(a >> 16), y = (T)(b >> 16);                                                        \
        low | (u32)(u16)(e) << 16;                                                                 \
    })

// min and max of floats that give NaN where one operand is, and those of magnitudes with the
// product's sign.
static inline f32 lesser_nan(f32 a, f32 b) { return a != a || b != b ? number(NAN) : lesser(a, b); }
static inline f32 greater_nan(f32 a, f32 b)
{
    return a != a || b != b ? number(NAN) : greater(a, b);
}
static inline f32 with_signs(f32 x, f32 a, f32 b)
{
    return x != x ? x : signbit(a) != signbit(b) ? -__builtin_fabsf(x) : __builtin_fabsf(x);
}
