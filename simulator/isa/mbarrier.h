// What the 64 bits of an mbarrier hold:
//
//     63      62         43   42      21   20         1   0
//     phase   2^20 - pending  bytes        2^20 - count   0
//
// So each arrival is an addition at bit 43, and the last one's carry turns the phase. The upper 21
// bits are those of the states that an H200 hands out; what it keeps below them it shows to nobody.
#pragma once
#include "base/base.h"

enum { MBARRIER_BITS = 20, MBARRIER_MOST = (1 << MBARRIER_BITS) - 1 };

typedef struct Mbarrier {
    u32 phase;   // odd or even
    u32 pending; // arrivals that this phase still waits for
    s32 bytes;   // that it still waits for: below 0 where copies have ended before anybody expected
                 // them
    u32 count;   // arrivals of the next phase
} Mbarrier;

static inline Mbarrier mbarrier_of(u64 bits)
{
    const u32 field = (1u << MBARRIER_BITS) - 1;
    return (Mbarrier){ .phase = bits >> 63,
                       .pending = -(u32)(bits >> 43) & field,
                       .bytes = (s32)((s64)(bits << 21) >> 42),
                       .count = -(u32)(bits >> 1) & field };
}

static inline u64 mbarrier_bits(const Mbarrier *m)
{
    const u64 field = (1u << MBARRIER_BITS) - 1;
    return (u64)m->phase << 63 | (-(u64)m->pending & field) << 43
         | ((u64)(u32)m->bytes & 0x3fffff) << 21 | (-(u64)m->count & field) << 1;
}
