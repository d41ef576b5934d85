// Inputs: the same for the same key, and of a kind that lets no mistake pass.
#include "buffer.h"
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

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
