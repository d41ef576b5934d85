// The video instructions: arithmetic of bytes, halves and words picked out of registers, one number
// or two or four side by side, and what is done with the result and a third register (PTX ISA,
// "Scalar Video Instructions" and "SIMD Video Instructions").
#include "video.h"

static s64 clamp_to(s64 x, u32 bits, bool is_signed)
{
    s64 high = is_signed ? (1ll << (bits - 1)) - 1 : (1ll << bits) - 1,
        low = is_signed ? -high - 1 : 0;
    return x < low ? low : x > high ? high : x;
}

// Part `n` of a register of so many bits each.
static s64 part(u32 x, u32 n, u32 bits, bool is_signed)
{
    u32 top = x << (32 - bits * (n + 1));
    return is_signed ? (s32)top >> (32 - bits) : (s64)(top >> (32 - bits));
}

static s64 picked(u32 x, u32 pick, bool is_signed)
{
    if (pick == PICK_WORD) return is_signed ? (s64)(s32)x : (s64)x;
    if (pick >= PICK_H0) return part(x, pick - PICK_H0, 16, is_signed);
    return part(x, pick - PICK_B0, 8, is_signed);
}

// A 32-bit result and c: one of them, their sum, or the result in a part of c.
static u32 finish(s64 x, u32 c, VideoForm f)
{
    if (f.into == PICK_H1)
        return (c & 0xffff) | ((u32)x & 0xffff0000); // PTX says x << 16; an H200 gives this
    if (f.into) {
        bool half = f.into >= PICK_H0;
        u32 bits = half ? 16 : 8, ones = (1u << bits) - 1,
            at = (f.into - (half ? PICK_H0 : PICK_B0)) * bits;
        return (c & ~(ones << at)) | ((u32)x & ones) << at;
    }
    s64 third = f.signed_d ? (s64)(s32)c : (s64)c, result = f.signed_d ? (s64)(s32)x : (s64)(u32)x;
    switch (f.then) {
    case THEN_ADD: return (u32)x + c;
    case THEN_MIN: return (u32)(result < third ? result : third);
    case THEN_MAX: return (u32)(result > third ? result : third);
    default: return (u32)x;
    }
}

static u32 scalar(s64 (*compute)(s64, s64), u32 a, u32 b, u32 c, VideoForm f)
{
    u32 bits = f.into >= PICK_H0 ? 16 : f.into ? 8 : 32;
    s64 x = compute(picked(a, f.pick_a, f.signed_a), picked(b, f.pick_b, f.signed_b));
    return finish(f.saturate ? clamp_to(x, bits, f.signed_d) : x, c, f);
}

static u32 shift(s64 (*compute)(s64, s64), u32 a, u32 b, u32 c, VideoForm f)
{
    u32 bits = f.into >= PICK_H0 ? 16 : f.into ? 8 : 32;
    s64 by = picked(b, f.pick_b, false);
    by = f.wrap ? by & 31 : by > 32 ? 32 : by;
    s64 x = compute(picked(a, f.pick_a, f.signed_a), by);
    return finish(f.saturate ? clamp_to(x, bits, f.signed_d) : x, c, f);
}

static u32 multiply_add(u32 a, u32 b, u32 c, VideoForm f)
{
    bool is_signed = f.signed_a || f.signed_b || f.minus_product || f.minus_c;
    s128 x = (s128)picked(a, f.pick_a, f.signed_a) * picked(b, f.pick_b, f.signed_b);
    bool one = f.plus_one || f.minus_product || f.minus_c;
    if (f.minus_product) x = ~x;
    if (f.minus_c) c = ~c;
    x = (x + (is_signed ? (s128)(s32)c : (s128)c) + one) >> f.shift;
    if (!f.saturate) return (u32)x;
    s128 high = is_signed ? INT32_MAX : UINT32_MAX, low = is_signed ? INT32_MIN : 0;
    return (u32)(x < low ? low : x > high ? high : x);
}

static u32 simd(s64 (*compute)(s64, s64), u32 parts, u32 a, u32 b, u32 c, VideoForm f)
{
    u32 bits = 32 / parts, ones = (1u << bits) - 1, sum = c, merged = 0;
    for (u32 n = 0; n < parts; n++) {
        u32 pa = f.pick_a >> 3 * n & 7, pb = f.pick_b >> 3 * n & 7;
        s64 x = compute(part(pa < parts ? a : b, pa % parts, bits, f.signed_a),
                        part(pb < parts ? a : b, pb % parts, bits, f.signed_b));
        if (f.saturate) x = clamp_to(x, bits, f.signed_d);
        bool written = f.into >> n & 1;
        if (written) sum += (u32)x;
        merged |= ((written ? (u32)x : c >> bits * n) & ones) << bits * n;
    }
    return f.then == THEN_ADD ? sum : merged;
}

u32 video_compute(const IsaRow *row, VideoForm f, u32 a, u32 b, u32 c)
{
    switch (row->video) {
    case VIDEO_SHIFT: return shift(row->two, a, b, c, f);
    case VIDEO_MULTIPLY: return multiply_add(a, b, c, f);
    case VIDEO_PAIR: return simd(row->two, 2, a, b, c, f);
    case VIDEO_FOUR: return simd(row->two, 4, a, b, c, f);
    default: return scalar(row->two, a, b, c, f);
    }
}
