// The patterns of wrong answers, each on an answer that has it.
#include "pattern.h"
#include "buffer.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };
static Buffer *out;
static int32_t due[MOST];

static bool is_wrong(size_t i) { return out->i32[i] != due[i]; }
static double want(size_t i) { return due[i]; }

// An output of n elements of which all are right.
static void right(size_t n)
{
    out = output_i32("out", n);
    for (size_t i = 0; i < n; i++) out->i32[i] = due[i] = (int32_t)(3 * i * i % 1009 + i);
}

static void says_of(Mismatch m, const char *words)
{
    for (size_t i = m.out->count; i-- > 0;)
        if (m.is_wrong(i)) {
            m.first = i;
            m.wrong++;
        }
    char *pattern = pattern_words(&m);
    if (words) cr_expect(pattern && strstr(pattern, words), "'%s' is not in '%s'", words, pattern);
    else cr_expect_null(pattern, "'%s'", pattern);
    free(pattern);
}

static void says(const char *words)
{
    says_of((Mismatch){ .out = out, .is_wrong = is_wrong, .want = want }, words);
}

// Floats that should be i / 3 each.
static bool is_no_third(size_t i) { return i % 3 != 0; }
static double third(size_t i) { return i / 3.0; }

static void thirds(const Buffer *of, const char *words)
{
    says_of((Mismatch){ .out = of, .is_wrong = is_no_third, .want = third }, words);
}

static void never_written(size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) out->i32[i] = (int32_t)POISON;
}

Test(pattern, nothing_written)
{
    right(100);
    never_written(0, 100);
    says("Nothing was written to out at all");
}

Test(pattern, partial_block)
{
    right(1000);
    never_written(768, 1000);
    says("partial block of 256");
    right(1000);
    never_written(992, 1000);
    says("partial block of 32");
    right(1000);
    never_written(900, 1000);
    says("All elements before it are right, all from it on are wrong.");
}

Test(pattern, bytes_not_counted)
{
    right(30);
    never_written(8, 30);
    says("All elements before it are right"); // 32 bytes, and 30 elements
    never_written(2, 8);
    says("All elements before it are right"); // far fewer
    right(30);
    never_written(8, 30);
    uint32_t half = (uint32_t)due[7] & 0xFFFF;
    out->i32[7] = (int32_t)((POISON & 0xFFFF0000u) | half);
    says("Only the first 30 of its 120 bytes were written");
    right(1);
    out->i32[0] = (int32_t)((POISON & 0xFFFFFF00u) | 7);
    says("Only the first 1 of its 4 bytes were written");
}

Test(pattern, scattered_gaps)
{
    right(100);
    never_written(10, 20);
    says("never written");
}

Test(pattern, one_element)
{
    right(100);
    out->i32[50] = -1;
    says("All others are right");
}

Test(pattern, shifted)
{
    right(100);
    for (size_t i = 0; i + 1 < 100; i++) out->i32[i] = due[i + 1];
    says("next one's value");
    right(100);
    for (size_t i = 1; i < 100; i++) out->i32[i] = due[i - 1];
    out->i32[0] = 12345;
    says("previous one's value");
}

Test(pattern, reversed)
{
    right(100);
    for (size_t i = 0; i < 100; i++) out->i32[i] = due[99 - i];
    says("reversed");
}

Test(pattern, every_other)
{
    right(100);
    for (size_t i = 1; i < 100; i += 2) out->i32[i] = -7;
    says("odd index");
}

Test(pattern, constant)
{
    right(100);
    for (size_t i = 0; i < 100; i++) out->i32[i] = -7;
    says("Every element is -7");
}

Test(pattern, ints_in_floats)
{
    right(100);
    for (size_t i = 0; i < 100; i++) {
        due[i] = INT32_MAX - 1 - 1000 * (int32_t)i;
        out->i32[i] = i ? (int32_t)(float)due[i] : INT32_MAX;
    }
    says("somewhere a float holds what should stay an int");
    out->i32[50]--;
    says(NULL);
}

Test(pattern, fractions_cut_off)
{
    right(100);
    Buffer *whole = output_f32("whole", 100);
    for (size_t i = 0; i < 100; i++) whole->f32[i] = (float)(i / 3);
    thirds(whole, "somewhere an int cuts off their fractions");
    whole->f32[50] += 0.5f;
    thirds(whole, NULL);
}

Test(pattern, rows_and_columns)
{
    right(40 * 70);
    as_matrix(out, 70, 40);
    for (size_t i = 0; i < 40 * 70; i++) out->i32[i] = due[i % 70 * 40 + i / 70];
    says("Rows and columns are exchanged");
}

Test(pattern, ragged_edge)
{
    right(40 * 70);
    as_matrix(out, 70, 40);
    for (size_t r = 0; r < 70; r++)
        for (size_t c = 32; c < 40; c++) out->i32[r * 40 + c] = -1;
    says("the ragged edge is not");
}

Test(pattern, says_nothing_where_none_is)
{
    right(100);
    for (size_t i = 0; i < 100; i++)
        if (i % 3 == 1) out->i32[i] = -(int32_t)i;
    says(NULL);
}
