// The cases of a form: first each edge value with each (of two operands, or of three in turn), then
// random ones, the seed being the form's name. Whatever changes here makes the recorded answers
// useless.
#include <string.h>

#include "forms.h"

static uint64_t state;

// splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014)
static uint64_t next(void)
{
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static void seed(const char *name)
{
    state = 1469598103934665603u;
    for (; *name; name++) state = (state ^ (uint8_t)*name) * 1099511628211u;
}

// ---- edges ----

static const uint64_t edges_f32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0x3fc00000, 0xc0200000, 0x7f7fffff,
    0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 0x4f000000, 0xcf000000,
    0x4f7fffff, 0x5f000000, 0x477fe000, 0x33000001, 0x43ff8000, 0x437f0000,
};
static const uint64_t edges_f64[] = {
    0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001,
    0x000fffffffffffff, 0x0010000000000000, 0x8010000000000000, 0x3ff0000000000000,
    0xbff0000000000000, 0x3ff0000000000001, 0x3fefffffffffffff, 0x3fe0000000000000,
    0x4004000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xfff8123456789abc,
    0x41e0000000000000, 0xc1e0000000000000, 0x41efffffffe00000, 0x43e0000000000000,
    0xc3e0000000000000, 0x47efffffe0000000, 0x47effffff0000000, 0x36a0000000000000,
    0x380fffffc0000000, 0x40effc0000000000,
};
static const uint64_t edges_f16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400, 0x3c00,
    0xbc00, 0x3c01, 0x3bff, 0x3800, 0x3e00, 0xc100, 0x7bff, 0xfbff, 0x7c00,
    0xfc00, 0x7e00, 0x7c01, 0xfe12, 0x5bf8, 0x2e66, 0x7800, 0x1400,
};
static const uint64_t edges_bf16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x807f, 0x0080, 0x8080, 0x3f80,
    0xbf80, 0x3f81, 0x3f7f, 0x3f00, 0x3fc0, 0xc020, 0x7f7f, 0xff7f, 0x7f80,
    0xff80, 0x7fc0, 0x7f81, 0xffc1, 0x4f00, 0xcf00, 0x5f00, 0x477f,
};

static uint64_t edge_integer(int n, int bits)
{
    static const int shifts[] = { 0, 1, 7, 8, 15, 16, 23, 24, 31, 32, 47, 63 };
    int shift = shifts[n / 2 % 12] % bits;
    uint64_t one = 1ull << shift;
    return n < 24 ? n % 2 ? one : one - 1 : n % 2 ? 0 - one : ~one;
}

static const uint64_t *edges_of(enum type t, int *count)
{
#define LIST(list) return *count = (int)(sizeof list / sizeof *list), list
    switch (t) {
    case f32: LIST(edges_f32);
    case f64: LIST(edges_f64);
    case f16:
    case f16x2: LIST(edges_f16);
    case bf16:
    case bf16x2: LIST(edges_bf16);
    default: *count = t == pred ? 2 : 32; return NULL;
    }
#undef LIST
}

static uint64_t edge(enum type t, int n)
{
    int count;
    const uint64_t *list = edges_of(t, &count);
    if (t == f16x2 || t == bf16x2) return list[n % count] | list[(n / 3 + 5) % count] << 16;
    if (list) return list[n % count];
    return t == pred ? (uint64_t)(n & 1) : edge_integer(n % count, type_bits(t));
}

// ---- random ----

// A float whose exponent is near that of 1, so that sums cancel and quotients do not overflow.
static uint64_t near_one(int exponent_bits, int fraction_bits)
{
    uint64_t bias = (1ull << (exponent_bits - 1)) - 1,
             fraction = next() & ((1ull << fraction_bits) - 1);
    return (next() & 1) << (exponent_bits + fraction_bits)
         | (bias - 4 + next() % 9) << fraction_bits | fraction;
}

static uint64_t tame(enum type t)
{
    switch (t) {
    case f32: return near_one(8, 23);
    case f64: return near_one(11, 52);
    case f16: return near_one(5, 10);
    case bf16: return near_one(8, 7);
    case f16x2: return near_one(5, 10) | near_one(5, 10) << 16;
    case bf16x2: return near_one(8, 7) | near_one(8, 7) << 16;
    default: return next() % 72;
    }
}

static uint64_t any(enum type t)
{
    switch (next() % 4) {
    case 0: return edge(t, (int)(next() % 997));
    case 1: return tame(t);
    default: return next();
    }
}

void inputs_make(const Form *f, uint64_t in[CASES][MOST_IN])
{
    seed(f->name);
    for (int c = 0; c < CASES; c++) {
        for (int n = 0; n < MOST_IN; n++) {
            enum type t = n < f->in_count ? f->in[n] : NONE;
            uint64_t value = t == NONE ? 0
                           : c >= 1024 ? any(t)
                                       : edge(t, n == 0   ? c % 32
                                                 : n == 1 ? c / 32
                                                          : (int)(next() % 997));
            if (f->few) value = c / 32 % 2 ? value % 3 : 7;
            int bits = type_bits(t);
            if (t == pred) value &= 1;
            else if (bits < 64) value &= (1ull << bits) - 1;
            in[c][n] = value;
        }
    }
}
