// Inputs: the same for the same key, and of a kind that lets no mistake pass.
#define _GNU_SOURCE
#include "buffer.h"
#include "run.h"
#include "siphash.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(buffer, same_key_same_numbers)
{
    buffer_seed(buffer_key("05-transpose", 1));
    Buffer *a = input_f32("a", 1000), *b = input_f32("b", 1000);
    buffer_seed(buffer_key("05-transpose", 1));
    Buffer *again = input_f32("a", 1000);
    buffer_seed(buffer_key("05-transpose", 2));
    Buffer *other = input_f32("a", 1000);

    cr_assert_arr_eq(a->f32, again->f32, 4000);
    cr_assert(memcmp(a->f32, b->f32, 4000));
    cr_assert(memcmp(a->f32, other->f32, 4000));
}

// As the paper has it, appendix A: the key 00 01 .. 0f, and a message of the bytes 00 01 .. 07.
Test(buffer, a_secret_number_is_siphash)
{
    const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
    cr_assert_eq(siphash(key, 0x0706050403020100), 0x93f5f5799a932462);
}

// The same key, but none of the numbers that a known one gives.
Test(buffer, secret_numbers_are_no_steps_of_known_ones)
{
    enum { N = 1000 };
    buffer_seed(7);
    Buffer *known = input_i32("known", N, INT32_MIN, INT32_MAX);
    buffer_seed_secret(7);
    Buffer *secret = input_i32("secret", N, INT32_MIN, INT32_MAX),
           *next = input_i32("next", N, INT32_MIN, INT32_MAX);
    buffer_seed_secret(7);
    Buffer *again = input_i32("again", N, INT32_MIN, INT32_MAX);
    buffer_seed_secret(8);
    Buffer *other = input_i32("other", N, INT32_MIN, INT32_MAX);
    int same = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            same += secret->i32[i] == known->i32[j] || secret->i32[i] == next->i32[j]
                 || secret->i32[i] == other->i32[j];
    cr_assert_lt(same, 4); // three million pairs of numbers with 2^32 values
    cr_assert_arr_eq(secret->i32, again->i32, 4 * N);
}

// Only the seed that everybody has is no secret.
Test(buffer, a_seed_of_a_class_is_secret)
{
    unsetenv("SEED");
    cr_expect(!run_seed_is_secret());
    setenv("SEED", "9f86d081884c7d65", 1);
    cr_expect(run_seed_is_secret());
}

Test(buffer, numbers_keep_their_range)
{
    Buffer *f = input_f32("f", 100000), *i = input_i32("i", 100000, -3, 3);
    int seen[7] = { 0 };
    double sum = 0;
    for (size_t k = 0; k < 100000; k++) {
        cr_assert(f->f32[k] >= -1 && f->f32[k] < 1 && f->f32[k] != 0);
        cr_assert(i->i32[k] >= -3 && i->i32[k] <= 3);
        seen[i->i32[k] + 3]++;
        sum += f->f32[k];
    }
    for (int v = 0; v < 7; v++) cr_assert_gt(seen[v], 13000);
    cr_assert_lt(fabs(sum), 1000);
}

Test(buffer, full_range_of_integers)
{
    Buffer *i = input_i32("i", 1000, INT32_MIN, INT32_MAX);
    int negative = 0;
    for (size_t k = 0; k < 1000; k++) negative += i->i32[k] < 0;
    cr_assert(negative > 400 && negative < 600);
}

Test(buffer, poison_is_a_nan)
{
    uint32_t word = POISON;
    uint64_t wide = (uint64_t)POISON << 32 | POISON;
    float f;
    double d;
    memcpy(&f, &word, 4);
    memcpy(&d, &wide, 8);
    cr_assert(isnan(f) && isnan(d));
}

Test(buffer, narrow_inputs_use_all_their_bits)
{
    enum { N = 100000 };
    static int seen[65536];
    buffer_seed(7);
    Buffer *half = input_f16("half", N), *brain = input_bf16("brain", N),
           *byte = input_u8("byte", N, 3, 9);
    int halves = 0, brains = 0, bytes = 0;
    for (int i = 0; i < N; i++) {
        cr_assert(fabs(value_at(half, i)) < 1 && value_at(half, i) != 0);
        cr_assert(fabs(value_at(brain, i)) < 1 && value_at(brain, i) != 0);
        cr_assert(byte->u8[i] >= 3 && byte->u8[i] <= 9);
        halves += !(seen[half->f16[i]] & 1);
        brains += !(seen[brain->bf16[i]] & 2);
        bytes += !(seen[byte->u8[i]] & 4);
        seen[half->f16[i]] |= 1, seen[brain->bf16[i]] |= 2, seen[byte->u8[i]] |= 4;
    }
    cr_expect(halves == 2048 && brains == 256 && bytes == 7, "%d %d %d", halves, brains, bytes);
    cr_expect_neq(half->f16[0], half->f16[1]);
}

// Three elements of 2 bytes or 1 are given, taken and guarded to the byte.
Test(buffer, narrow_elements_end_where_they_end)
{
    Buffer *all[] = { output_f16("out", 3), output_bf16("out", 3), output_u8("out", 3) };
    for (int i = 0; i < 3; i++) {
        Buffer *b = all[i];
        size_t size = i < 2 ? 2 : 1, count = 0;
        unsigned char poison[] = { 0xFA, 0xFF, 0xFA, 0xFF, 0xFA, 0xFF }, read[6], byte = 7;
        RequestArg arg;
        int fds[2];
        enum verdict v;
        cr_assert(buffer_give(b, true, 1, true, &arg, fds, &count));
        cr_assert_eq(arg.bytes, 3 * size);
        cr_assert_eq(pread(fds[0], read, 3 * size, arg.guard), (ssize_t)(3 * size));
        cr_assert_eq(memcmp(read, poison, 3 * size), 0);
        cr_assert_null(buffer_take(b, true, &v));
        cr_assert(buffer_is_poison(b, 2));
        cr_assert_eq(pwrite(fds[1], &byte, 1, arg.guard + 2 * size), 1);
        cr_assert_null(buffer_take(b, true, &v));
        cr_assert(buffer_is_poison(b, 1) && !buffer_is_poison(b, 2));
        cr_assert_eq(pwrite(fds[1], &byte, 1, arg.guard + 3 * size), 1);
        cr_assert_str_eq(buffer_take(b, true, &v), "memory just behind out was written");
        buffer_close(b);
    }
}

Test(buffer, a_changed_narrow_input_is_seen)
{
    Buffer *b = input_u8("in", 5, 0, 255);
    RequestArg arg;
    int fds[2];
    size_t count = 0;
    enum verdict v;
    cr_assert(buffer_give(b, true, 1, false, &arg, fds, &count));
    cr_assert_null(buffer_take(b, true, &v));
    unsigned char other = b->u8[4] + 1;
    cr_assert_eq(pwrite(fds[1], &other, 1, 4), 1);
    cr_assert_str_eq(buffer_take(b, true, &v), "in[4] was changed, and it is an input");
    cr_assert_eq(v, VERDICT_WRONG);
    buffer_close(b);
}

Test(buffer, values_are_told_to_their_last_digit)
{
    Buffer *half = input_f16("half", 1), *brain = input_bf16("brain", 1),
           *byte = output_u8("byte", 1);
    half->f16[0] = f16_bits(0.1);
    brain->bf16[0] = bf16_bits(0.1);
    byte->u8[0] = 0xFA;
    cr_expect_str_eq(buffer_value(half, 0), "0.099976");
    cr_expect_str_eq(buffer_value(brain, 0), "0.1001");
    cr_expect_str_eq(buffer_value(byte, 0), "250");
}

static uint32_t word_at(int fd, off_t offset)
{
    uint32_t word = 0;
    cr_assert_eq(pread(fd, &word, sizeof word, offset), (ssize_t)sizeof word);
    return word;
}

// Two parts of three words: | guard | 0 1 2 | guard | guard | 3 4 5 | guard |.
Test(buffer, parts_have_guards_of_their_own)
{
    enum { WORDS = 6, PARTS = 2, PART = WORDS / PARTS * 4 };
    Buffer *b = output_i32("out", WORDS);
    RequestArg arg;
    int fds[2];
    size_t count = 0;
    enum verdict v;
    cr_assert(buffer_give(b, true, PARTS, true, &arg, fds, &count));
    cr_assert_eq(arg.parts, PARTS);
    cr_assert_eq(arg.bytes, PART);
    off_t second = arg.guard + PART + arg.guard + arg.guard;
    cr_assert_eq(word_at(fds[0], arg.guard), POISON);
    cr_assert_eq(word_at(fds[0], second + PART - 4), POISON);
    cr_assert_neq(word_at(fds[0], second - 4), POISON);

    int32_t answer[WORDS / PARTS] = { 7, 8, 9 };
    cr_assert_eq(pwrite(fds[1], answer, PART, second), (ssize_t)PART);
    cr_assert_null(buffer_take(b, true, &v));
    cr_assert_eq(b->i32[3], 7);
    cr_assert_eq(b->i32[5], 9);
    cr_assert_eq(pwrite(fds[1], answer, 4, second + PART), 4);
    cr_assert_str_eq(buffer_take(b, true, &v), "memory just behind out[1] was written");
    cr_assert_eq(v, VERDICT_BOUNDS);
    buffer_close(b);
}
