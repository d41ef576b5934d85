// Inputs: the same for the same key, and of a kind that lets no mistake pass.
#include "buffer.h"
#include <criterion/criterion.h>
#include <math.h>
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

Test(buffer, numbers_keep_their_range)
{
    Buffer *f = input_f32("f", 100000), *i = input_i32("i", 100000, -3, 3);
    int seen[7] = {0};
    double sum = 0;
    for (size_t k = 0; k < 100000; k++) {
        cr_assert(f->f32[k] >= -1 && f->f32[k] < 1 && f->f32[k] != 0);
        cr_assert(i->i32[k] >= -3 && i->i32[k] <= 3);
        seen[i->i32[k] + 3]++;
        sum += f->f32[k];
    }
    for (int v = 0; v < 7; v++)
        cr_assert_gt(seen[v], 13000);
    cr_assert_lt(fabs(sum), 1000);
}

Test(buffer, full_range_of_integers)
{
    Buffer *i = input_i32("i", 1000, INT32_MIN, INT32_MAX);
    int negative = 0;
    for (size_t k = 0; k < 1000; k++)
        negative += i->i32[k] < 0;
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

    int32_t answer[WORDS / PARTS] = {7, 8, 9};
    cr_assert_eq(pwrite(fds[1], answer, PART, second), (ssize_t)PART);
    cr_assert_null(buffer_take(b, true, &v));
    cr_assert_eq(b->i32[3], 7);
    cr_assert_eq(b->i32[5], 9);
    cr_assert_eq(pwrite(fds[1], answer, 4, second + PART), 4);
    cr_assert_str_eq(buffer_take(b, true, &v), "memory just behind out[1] was written");
    cr_assert_eq(v, VERDICT_BOUNDS);
    buffer_close(b);
}
