// Values as text and as bits, and when two of them agree.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

static const uint64_t NAN_32 = 0x7fc00000, NAN_64 = 0x7ff8000000000000;

int type_bits(enum type type)
{
    static const int bits[] = {
        [pred] = 1, [u8] = 8,   [s8] = 8,   [u16] = 16, [s16] = 16, [u32] = 32,
        [s32] = 32, [u64] = 64, [s64] = 64, [f32] = 32, [f64] = 64
    };
    return bits[type];
}

static uint64_t low(uint64_t bits, int count)
{
    return count == 64 ? bits : bits & ((1ull << count) - 1);
}

static uint64_t bits_of_float(double value, enum type type)
{
    union {
        double value;
        uint64_t bits;
    } wide = { value };
    union {
        float value;
        uint32_t bits;
    } narrow = { (float)value };
    if (value != value) return type == f32 ? NAN_32 : NAN_64;
    return type == f32 ? narrow.bits : wide.bits;
}

static double float_of_bits(uint64_t bits, enum type type)
{
    union {
        uint64_t bits;
        double value;
    } wide = { bits };
    union {
        uint32_t bits;
        float value;
    } narrow = { (uint32_t)bits };
    return type == f32 ? (double)narrow.value : wide.value;
}

bool value_read(const char *text, enum type type, uint64_t *bits)
{
    char *end;
    bool is_float = type == f32 || type == f64;
    if (is_float && text[0] == '0' && (text[1] == 'f' || text[1] == 'd'))
        *bits = strtoull(text + 2, &end, 16);
    else if (type == f32) *bits = bits_of_float(strtof(text, &end), f32);
    else if (type == f64) *bits = bits_of_float(strtod(text, &end), f64);
    else if (*text == '-') *bits = low((uint64_t)strtoll(text, &end, 0), type_bits(type));
    else *bits = strtoull(text, &end, 0);
    return !*end && end != text && low(*bits, type_bits(type)) == *bits;
}

static int64_t extended(uint64_t bits, enum type type)
{
    int unused = 64 - type_bits(type);
    return (int64_t)(bits << unused) >> unused;
}

static bool is_signed(enum type type)
{
    return type == s8 || type == s16 || type == s32 || type == s64;
}

static char *text_buffer(void)
{
    static char text[8][64];
    static unsigned next;
    return text[next++ % 8];
}

const char *value_text(uint64_t bits, enum type type)
{
    char *text = text_buffer();
    if (type == f32)
        snprintf(text, 64, "%.9g (0f%08llx)", float_of_bits(bits, type), (unsigned long long)bits);
    else if (type == f64)
        snprintf(text, 64, "%.17g (0d%016llx)", float_of_bits(bits, type),
                 (unsigned long long)bits);
    else if (is_signed(type))
        snprintf(text, 64, "%lld (0x%llx)", (long long)extended(bits, type),
                 (unsigned long long)bits);
    else snprintf(text, 64, "0x%llx", (unsigned long long)bits);
    return text;
}

const char *value_immediate(uint64_t bits, enum type type)
{
    char *text = text_buffer();
    if (type == f32) snprintf(text, 64, "0f%08llX", (unsigned long long)bits);
    else if (type == f64) snprintf(text, 64, "0d%016llX", (unsigned long long)bits);
    else if (is_signed(type)) snprintf(text, 64, "%lld", (long long)extended(bits, type));
    else snprintf(text, 64, "0x%llx", (unsigned long long)bits);
    return text;
}

// Floats of one sign lie in the order of their bits.
static double ulps_between(uint64_t a, uint64_t b)
{
    return a > b ? (double)(a - b) : (double)(b - a);
}

bool value_agrees(const Row *row, uint64_t got, uint64_t due, enum type type)
{
    if (got == due) return true;
    if (type != f32 && type != f64) return false;
    double x = float_of_bits(got, type), y = float_of_bits(due, type);
    if (due == (type == f32 ? NAN_32 : NAN_64)) return isnan(x);
    if (!isfinite(x) || !isfinite(y)) return false;
    if (fabs(x - y) <= row->absolute && row->absolute > 0) return true;
    return y != 0 && !signbit(x) == !signbit(y) && ulps_between(got, due) <= row->ulps;
}
