// Which bytes a site touches: the geometry of its lanes. Inline, since every line that is checked
// asks several of these questions.
#pragma once
#include <stdlib.h>

#include "shadow.h"

enum { WORD = 4 };

static inline s64 floor_of(s64 a, s64 b) { return a / b - (a % b && (a < 0) != (b < 0)); }

static inline u32 lanes_once(const Site *s, u64 from, u64 to)
{
    if (s->stride == 0) return s->base < to && from < s->base + s->bytes ? s->lanes : 0;
    u32 lanes = 0;
    if (s->stride < 0) {
        for (u32 rest = s->lanes; rest; rest &= rest - 1) {
            u64 at = s->base + __builtin_ctz(rest) * s->stride;
            if (at < to && from < at + s->bytes) lanes |= rest & -rest;
        }
        return lanes;
    }
    s64 low = floor_of((s64)(from - s->base - s->bytes), s->stride) + 1,
        high = floor_of((s64)(to - 1 - s->base), s->stride);
    if (low < 0) low = 0;
    if (high > LANES - 1) high = LANES - 1;
    if (low > high) return 0;
    return s->lanes & (~0u << low) & (~0u >> (LANES - 1 - high));
}

// Adds the lanes of the site's further groups.
static inline u32 all_repeats(const Site *s, u32 lanes)
{
    u32 all = lanes;
    for (u32 n = 1; n < s->repeats; n++) all |= lanes << n * __builtin_popcount(s->lanes);
    return all;
}

static inline u32 lanes_within(const Site *s, u64 from, u64 to)
{
    return all_repeats(s, lanes_once(s, from, to));
}
static inline u32 all_lanes(const Site *s) { return all_repeats(s, s->lanes); }

// Are the lanes contiguous, as most are?
static inline bool is_contiguous(const Site *s)
{
    u32 lanes = s->lanes >> __builtin_ctz(s->lanes);
    return s->stride == (s64)s->bytes && !(lanes & (lanes + 1));
}

// The part of a range that a site touches: its first and its last byte, and whether every byte
// between them is touched too.
typedef struct Extent {
    u64 from, to;
    bool solid;
} Extent;

static inline Extent extent_of(const Site *s, u64 from, u64 to)
{
    Extent p = { s->base, s->base + s->bytes, true };
    if (is_contiguous(s)) {
        p.from = s->base + (u32)__builtin_ctz(s->lanes) * s->bytes;
        p.to = p.from + (u32)__builtin_popcount(s->lanes) * s->bytes;
        if (p.to <= from || p.from >= to) return (Extent){ from, from, true };
    } else if (s->stride) {
        u32 lanes = lanes_within(s, from, to);
        if (!lanes) return (Extent){ from, from, true };
        u32 low = __builtin_ctz(lanes), high = 31 - __builtin_clz(lanes);
        u32 first = s->stride > 0 ? low : high, last = s->stride > 0 ? high : low;
        u32 holes = (lanes >> low) + 1;
        p = (Extent){ s->base + first * s->stride, s->base + last * s->stride + s->bytes, true };
        p.solid = first == last || ((u64)llabs(s->stride) <= s->bytes && !(holes & (holes - 1)));
    }
    if (p.from < from) p.from = from;
    if (p.to > to) p.to = to;
    return p;
}

static inline bool same_bytes(const Site *a, const Site *b)
{
    return a->base == b->base && a->stride == b->stride && a->bytes == b->bytes
        && a->lanes == b->lanes;
}

// Does site a touch all of those bytes that site b touches?
static inline bool covers(const Site *a, const Site *b, u64 from, u64 to)
{
    if (same_bytes(a, b)) return true;
    Extent x = extent_of(a, from, to);
    if (!x.solid) return false;
    Extent y = extent_of(b, from, to);
    return x.from <= y.from && y.to <= x.to;
}

// For two sites of one warp: does each lane of b touch only bytes that the same lane touches in a?
static inline bool covers_each(const Site *a, const Site *b)
{
    return a->stride == b->stride && a->base <= b->base && b->base + b->bytes <= a->base + a->bytes
        && !(all_lanes(b) & ~all_lanes(a))
        && (a->lanes == b->lanes || (a->repeats <= 1 && b->repeats <= 1));
}

static inline bool same_block(const Site *a, const Site *b)
{
    return a->operation == b->operation && a->block == b->block;
}

static inline bool same_warp(const Site *a, const Site *b)
{
    return same_block(a, b) && a->warp == b->warp;
}

// A warp's next read continues each lane's earlier one: extends that site instead of adding
// another.
static inline bool extend(Site *s, const Site *on)
{
    if (!same_warp(s, on) || s->epoch != on->epoch || s->strong || on->strong
        || s->stride != on->stride || s->lanes != on->lanes || s->repeats != on->repeats
        || on->base != s->base + s->bytes)
        return false;
    if (s->stride && (u64)llabs(s->stride) < (u64)s->bytes + on->bytes) return false;
    s->bytes += on->bytes;
    return true;
}

// The words of the line of which the site touches every byte.
static inline u32 words_of(const Site *s, u64 line)
{
    Extent p = extent_of(s, line, line + LINE_BYTES);
    u32 words = 0, first = (u32)(p.from - line + WORD - 1) / WORD, end = (u32)(p.to - line) / WORD;
    if (p.solid) return first < end ? ~0u >> (LINE_BYTES / WORD - (end - first)) << first : 0;
    for (u32 w = first; w < end && !(s->bytes % WORD); w++)
        if (lanes_within(s, line + w * WORD, line + (w + 1) * WORD)) words |= 1u << w;
    return words;
}
