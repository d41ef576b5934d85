// Lesson 11: what is kept, and in which order; and sorts, by all bits and by some. A sort by some
// bits is stable or it is not, and its elements tell: by their other bits each is known.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- The reference: counting sort, by the lower and then the upper 16 bits of what the order goes
// by

typedef uint32_t Order(uint32_t bits);

static uint32_t as_unsigned(uint32_t x) { return x; }
static uint32_t as_int(uint32_t x) { return x ^ 0x80000000u; }
static uint32_t as_float(uint32_t x) { return x >> 31 ? ~x : x ^ 0x80000000u; }
static uint32_t as_float_but_zero(uint32_t x) { return x >> 31 && x << 1 ? ~x : x ^ 0x80000000u; }
static uint32_t as_float_all(uint32_t x) { return ~x; }
static uint32_t as_float_swapped(uint32_t x) { return x >> 31 ? x ^ 0x80000000u : ~x; }

static const uint32_t *input;
static int count, first, end;
static Order *order;

static uint32_t key(uint32_t x, Order *by, int low, int high)
{
    return (uint32_t)(((uint64_t)by(x) & ((1ull << high) - 1)) >> low);
}

static void sort_by_half(uint32_t *out, const uint32_t *in, int n, Order *by, int low, int high,
                         int half)
{
    enum { BINS = 1 << 16 };
    static size_t place[BINS + 1];

    memset(place, 0, sizeof place);
    for (int i = 0; i < n; i++) place[(key(in[i], by, low, high) >> half & 0xffff) + 1]++;
    for (int b = 0; b < BINS; b++) place[b + 1] += place[b];
    for (int i = 0; i < n; i++) out[place[key(in[i], by, low, high) >> half & 0xffff]++] = in[i];
}

static void sort_stably(uint32_t *out, const uint32_t *in, int n, Order *by, int low, int high)
{
    uint32_t *other = malloc(4 * (size_t)n + 4);

    sort_by_half(other, in, n, by, low, high, 0);
    sort_by_half(out, other, n, by, low, high, 16);
    free(other);
}

// ---- What may have happened to a sort ----

static uint32_t *guess; // room for `count` elements

static const uint32_t *got(const Mismatch *m) { return (const uint32_t *)m->out->i32; }
static bool is_guess(const Mismatch *m) { return memcmp(got(m), guess, 4 * (size_t)count) == 0; }

static bool is_other_kind(const Mismatch *m, Order *by)
{
    if (by == order) return false;
    sort_stably(guess, input, count, by, first, end);
    return is_guess(m);
}

static bool is_in_order(const Mismatch *m)
{
    for (int i = 1; i < count; i++)
        if (key(got(m)[i - 1], order, first, end) > key(got(m)[i], order, first, end)) return false;
    return true;
}

static bool is_reversed(const Mismatch *m)
{
    for (int i = 1; i < count; i++)
        if (key(got(m)[i - 1], order, first, end) < key(got(m)[i], order, first, end)) return false;
    return true;
}

// Passes of `bits` bits, the highest ones first.
static bool goes_downwards(const Mismatch *m, int bits)
{
    uint32_t *from = malloc(4 * (size_t)count + 4);
    int last = first + (end - first - 1) / bits * bits;

    memcpy(guess, input, 4 * (size_t)count);
    for (int low = last; low >= first; low -= bits) {
        memcpy(from, guess, 4 * (size_t)count);
        sort_stably(guess, from, count, order, low, low + bits < end ? low + bits : end);
    }
    free(from);
    return last > first && is_guess(m);
}

static bool is_sorted_in_stretches(const Mismatch *m, int stretch)
{
    for (int i = 0; i < count; i += stretch)
        sort_stably(guess + i, input + i, i + stretch < count ? stretch : count - i, order, first,
                    end);
    return is_guess(m);
}

// Is it in order by its upper bits alone? Returns the lowest of them, or `end`: by none.
static int in_order_from(const Mismatch *m)
{
    int from = end;

    for (int i = 1, low = first + 1; low < end; low++) {
        while (i < count && key(got(m)[i - 1], order, low, end) <= key(got(m)[i], order, low, end))
            i++;
        if (i == count) {
            from = low;
            break;
        }
    }
    return from;
}

// Are the elements whose highest bit is `sign` in order among themselves?
static bool is_sign_in_order(const Mismatch *m, uint32_t sign)
{
    uint32_t last = 0;

    for (int i = 0; i < count; i++) {
        if (got(m)[i] >> 31 != sign) continue;
        if (key(got(m)[i], order, first, end) < last) return false;
        last = key(got(m)[i], order, first, end);
    }
    return true;
}

// Passes that are not stable spoil both signs. A wrong order() may spoil one, or the order of the
// two.
static const char *which_sign(const Mismatch *m)
{
    if (order == as_unsigned) return NULL;
    bool zero = is_sign_in_order(m, 0), one = is_sign_in_order(m, 1);
    if (zero && one)
        return "The elements whose highest bit is one are in order, and so are the others, but the "
               "former must come first: order() must turn the highest bit of all.";
    if (zero)
        return "The elements whose highest bit is zero are in order, but the others are not: look "
               "at the bits of those that order() turns.";
    if (one)
        return "The elements whose highest bit is one are in order, but the others are not: look "
               "at the bits of those that order() turns.";
    return NULL;
}

static bool is_unwritten(const Mismatch *m)
{
    for (int i = 0; i < count; i++)
        if (got(m)[i] != POISON) return false;
    return true;
}

// The element that is in one array more often than in the other; how often.
static bool is_other_set(const Mismatch *m, uint32_t *element, int *in_out, int *in_in)
{
    uint32_t *is = malloc(4 * (size_t)count + 4), *was = malloc(4 * (size_t)count + 4);
    int i = 0;

    sort_stably(is, got(m), count, as_unsigned, 0, 32);
    sort_stably(was, input, count, as_unsigned, 0, 32);
    while (i < count && is[i] == was[i]) i++;
    *in_out = *in_in = 0;
    if (i < count) {
        *element = was[i];
        for (int j = 0; j < count; j++) {
            *in_out += is[j] == *element;
            *in_in += was[j] == *element;
        }
    }
    free(is);
    free(was);
    return i < count;
}

// Is it sorted by some bits alone, or in stretches?
static const char *which_part(const Mismatch *m)
{
    static char words[200];

    for (int to = end - 1; to > first; to--) {
        sort_stably(guess, input, count, order, first, to);
        if (is_guess(m)) {
            snprintf(words, sizeof words, "It is sorted by bits %d to %d alone.", first, to - 1);
            return words;
        }
        sort_stably(guess, input, count, order, to, end);
        if (is_guess(m)) {
            snprintf(words, sizeof words, "It is sorted by bits %d to %d alone.", to, end - 1);
            return words;
        }
    }
    if (which_sign(m)) return which_sign(m);
    if (in_order_from(m) < end) {
        snprintf(
            words, sizeof words,
            "It is in order by bits %d to %d, but not by the bits below: a pass is not stable.",
            in_order_from(m), end - 1);
        return words;
    }
    for (int stretch = 16384; stretch >= 32; stretch /= 2)
        if (stretch < count && is_sorted_in_stretches(m, stretch)) {
            snprintf(words, sizeof words, "Each stretch of %d elements is sorted separately.",
                     stretch);
            return words;
        }
    return NULL;
}

static const char *which_sort(const Mismatch *m)
{
    static char words[200];
    uint32_t element;
    int is, was;

    if (is_unwritten(m)) return "Nothing was written to out: does the last pass store there?";
    if (is_other_set(m, &element, &is, &was)) {
        snprintf(words, sizeof words,
                 "It is not made of the elements of in: it has %d of 0x%08x, where in has %d.", is,
                 element, was);
        return words;
    }
    if (is_in_order(m))
        return "It is in order, but elements that agree in the bits asked for have changed places: "
               "the sort is not stable.";
    if (memcmp(got(m), input, 4 * (size_t)count) == 0) return "It is a copy of in.";
    if (is_other_kind(m, as_unsigned))
        return "It is in order for unsigned numbers: those below 0 come last.";
    if (is_other_kind(m, as_int))
        return "It is in order for ints. But of two floats below 0, the float with the greater "
               "bits "
               "is the smaller one.";
    if (order == as_float && is_other_kind(m, as_float_all))
        return "Floats below 0 are in order, but the others are in reverse: turn only their "
               "highest bit.";
    if (order == as_float && is_other_kind(m, as_float_swapped))
        return "All bits of the floats that are not below 0 are turned. Turn all bits of those "
               "below 0 instead.";
    if (order == as_float && is_other_kind(m, as_float_but_zero))
        return "Only the place of -0 is wrong, which comes before all other floats. It is not "
               "below "
               "0, but its highest bit is one: turn all its bits, too.";
    if (is_reversed(m)) return "It is in order from the greatest down.";
    for (int bits = 1; bits <= 16; bits *= 2)
        if (goes_downwards(m, bits)) {
            snprintf(words, sizeof words,
                     "That comes out when passes begin with the highest bits, %d at a time: begin "
                     "with the lowest.",
                     bits);
            return words;
        }
    return which_part(m);
}

// ---- Sorts ----

static Buffer *scratch_for(size_t n) { return output_i32("scratch", 2 * n + 16384); }

static void expects_sorted(Buffer *in, Buffer *out, Order *by, int low, int high)
{
    int32_t *want = reference_i32(in->count);

    input = (const uint32_t *)in->i32;
    count = (int)in->count;
    first = low, end = high;
    order = by;
    guess = (uint32_t *)reference_i32(in->count);
    sort_stably((uint32_t *)want, input, count, order, first, end);
    diagnose(which_sort);
    compulsory(4ull * count, 4ull * count);
    if (by == as_float) expect_equal_f32(out, (const float *)want);
    else expect_equal_i32(out, want);
}

static void asks_sort(Buffer *in, int low, int high, const char *of)
{
    Buffer *out = output_i32("out", in->count);
    int n = (int)in->count;

    if (high - low < 32) given("sort_u32, n = %d%s, first = %d, end = %d", n, of, low, high);
    else given("sort_u32, n = %d%s, all bits", n, of);
    call("sort_u32", device(out), device(in), i32(n), i32(low), i32(high), scratch(scratch_for(n)));
    expects_sorted(in, out, as_unsigned, low, high);
}

// All values but that which says that nothing was written.
static Buffer *input_of(int n)
{
    Buffer *in = input_i32("in", n, INT32_MIN, INT32_MAX);
    for (int i = 0; i < n; i++)
        if (in->i32[i] == (int32_t)POISON) in->i32[i] = 0;
    return in;
}

static void sorts(int n) { asks_sort(input_of(n), 0, 32, ""); }

// The largest size comes first, because it tells most about a mistake.
Check(radix_sort, one_bit)
{
    asks_sort(input_of(1000), 0, 1, "");
    asks_sort(input_of(257), 31, 32, "");
    asks_sort(input_of(30011), 5, 6, "");
}

Check(radix_sort, some_bits)
{
    asks_sort(input_of(1000), 0, 2, "");
    asks_sort(input_of(1009), 3, 8, "");
    asks_sort(input_of(4099), 0, 8, "");
    asks_sort(input_of(10007), 6, 17, "");
    asks_sort(input_of(8193), 16, 32, "");
}

// A block, a tile, and one element to either side; primes.
Check(radix_sort, some_sizes)
{
    static const int sizes[] = { 1023, 31, 1, 0, 8191, 8192, 8193, 20011 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) sorts(sizes[s]);
    // By some bits, as a sort by a bit a pass has three launches for each.
    static const int few[] = { 257, 256, 255, 33, 32, 3, 2 };
    for (size_t s = 0; s < sizeof few / sizeof *few; s++) asks_sort(input_of(few[s]), 5, 14, "");
}

// All elements in one digit, and against their order; and the greatest, which a fill-up may be
// taken for.
Check(radix_sort, other_data)
{
    enum { SIZE = 9001 };
    Buffer *in = input_of(SIZE);
    for (int i = 0; i < SIZE; i++) in->i32[i] = i * 37 % 3 ? -1 : 0;
    asks_sort(in, 24, 32, ", 0 and 0xffffffff only");
    asks_sort(in, 0, 32, ", 0 and 0xffffffff only");
    for (int i = 0; i < SIZE; i++) in->i32[i] = 0x01020304;
    asks_sort(in, 0, 32, " equal ones");
    for (int i = 0; i < SIZE; i++) in->i32[i] = (SIZE - i) * 70001;
    asks_sort(in, 0, 32, " that are in reverse order");
    for (int i = 0; i < SIZE; i++) in->i32[i] = i * 37 % 5 * 0x00010001;
    asks_sort(in, 0, 32, " of five values");
}

static void sorts_ints(int n)
{
    Buffer *in = input_of(n), *out = output_i32("out", n);

    for (int i = 0; i < n; i++)
        in->i32[i] = i % 97 == 1 ? INT32_MIN
                   : i % 89 == 2 ? INT32_MAX
                   : i % 3       ? in->i32[i] >> 16
                                 : in->i32[i];
    given("sort_i32, n = %d", n);
    call("sort_i32", device(out), device(in), i32(n), scratch(scratch_for(n)));
    expects_sorted(in, out, as_int, 0, 32);
}

static void sorts_floats(int n)
{
    static const float extremes[] = { 0,       -0.f,          INFINITY,       -INFINITY, 1e-45f,
                                      -1e-45f, 3.4028235e38f, -3.4028235e38f, 1,         -1 };
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);

    for (int i = 0; i < n; i++)
        in->f32[i] = i % 31 == 3 ? extremes[i / 31 % 10] : in->f32[i] * ldexpf(1, i % 53 - 26);
    given("sort_f32, n = %d", n);
    call("sort_f32", device(out), device(in), i32(n), scratch(scratch_for(n)));
    expects_sorted(in, out, as_float, 0, 32);
}

Check(radix_sort, ints_below_zero)
{
    sorts_ints(10007);
    sorts_ints(33);
    sorts_ints(1);
    sorts_ints(0);
}

Check(radix_sort, floats)
{
    sorts_floats(10007);
    sorts_floats(33);
    sorts_floats(1);
    sorts_floats(0);
}

// What profiles/lessons/11-radix-sort.cfg measures. By 16 bits, because a sort by a bit a pass
// takes long; a million, so that there is a tile for each multiprocessor and stores are not free.
Check(radix_sort, many) { asks_sort(input_of(1 << 20), 0, 16, ""); }

// ---- What is kept ----

static int limit;

static int how_many(int (*keeps)(int32_t x))
{
    int kept = 0;
    for (int i = 0; i < count; i++) kept += keeps((int32_t)input[i]);
    return kept;
}

static int above(int32_t x) { return x > limit; }
static int above_or_equal(int32_t x) { return x >= limit; }
static int not_above(int32_t x) { return x <= limit; }
static int below(int32_t x) { return x < limit; }

static const char *which_number(int kept)
{
    return kept == how_many(above_or_equal) ? ": those that are limit itself were kept, too"
         : kept == how_many(not_above)      ? ": those are the others"
         : kept == how_many(below)          ? ": those are the ones below limit"
         : kept == (int32_t)POISON          ? ": it was not set"
         : kept == count                    ? ": those are all"
                                            : "";
}

static const char *which_kept(const Mismatch *m)
{
    size_t n = m->out->count;
    const int32_t *is = m->out->i32;

    for (size_t i = 0; i < n; i++)
        if (is[i] != (int32_t)POISON && !above(is[i]))
            return "There are elements that are not greater than limit.";
    uint32_t *mine = malloc(4 * n), *due = malloc(4 * n);
    for (size_t i = 0; i < n; i++) due[i] = (uint32_t)(int32_t)m->want(i);
    sort_stably(mine, (const uint32_t *)is, (int)n, as_unsigned, 0, 32);
    memcpy(guess, due, 4 * n);
    sort_stably(due, guess, (int)n, as_unsigned, 0, 32);
    bool same = memcmp(mine, due, 4 * n) == 0;
    free(mine);
    free(due);
    return same ? "They are the right elements, but not in the order that they have in in." : NULL;
}

static void asks_kept(Buffer *in, int above_what, const char *of)
{
    input = (const uint32_t *)in->i32;
    count = (int)in->count;
    limit = above_what;
    guess = (uint32_t *)reference_i32(count);

    int due = how_many(above), k = 0;
    Buffer *out = output_i32("out", due), *kept = output_i32("kept", 1);
    int32_t *want = reference_i32(due);
    for (int i = 0; i < count; i++)
        if (above((int32_t)input[i])) want[k++] = (int32_t)input[i];

    given("keep_above, n = %d%s, limit = %d", count, of, limit);
    diagnose(which_kept);
    call("keep_above", device(out), device(kept), device(in), i32(count), i32(limit),
         scratch(scratch_for(count)));
    compulsory(4ull * count, 4ull * due);
    expect(kept->i32[0] == due, "kept is %d, should be %d%s", kept->i32[0], due,
           which_number(kept->i32[0]));
    expect_equal_i32(out, want);
}

// About one in three.
static void keeps(int n) { asks_kept(input_i32("in", n, -100, 200), 99, ""); }

Check(radix_sort, kept)
{
    static const int sizes[] = { 1000, 257, 256, 255, 33, 32, 31, 2, 1, 0, 8191, 8192, 8193 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) keeps(sizes[s]);

    Buffer *in = input_of(3001), *equal = input_i32("in", 1000, 7, 7);
    asks_kept(in, INT32_MAX, "");
    in->i32[2000] = INT32_MAX;
    asks_kept(in, INT32_MAX - 1, "");
    in->i32[1000] = INT32_MIN;
    asks_kept(in, INT32_MIN, "");
    asks_kept(equal, 7, "");
    asks_kept(equal, 6, "");
}

Check(radix_sort, many_kept)
{
    keeps(300007);
    keeps(1 << 18);
}

// Blocks and warps run in another order: an answer whose places come from a counter, or which waits
// for the block before, has relied on their usual order. A look back finds tiles that have told
// nothing yet, or their own counts alone.
Check(radix_sort, any_order)
{
    static const char how[] =
        " in any order of blocks and warps, where a tile may know its own count alone";

    shuffle_blocks();
    asks_sort(input_of(50021), 0, 12, how);
    asks_kept(input_i32("in", 100003, -100, 200), 99, how);
}

// ---- What is timed on a GPU: 256 MiB to be read ----

enum { N = 1 << 26 };

Measure(radix_sort, large)
{
    size_t sets = rotations(8ull * N);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_of(N);
        out[s] = output_i32("out", N);
        rotate("sort_u32", device(out[s]), device(in[s]), i32(N), i32(0), i32(32),
               scratch(scratch_for(N)));
        compulsory(4ull * N, 4ull * N);
    }
    measure();
    int32_t *want = reference_i32(N);
    for (size_t s = 0; s < sets; s++) {
        sort_stably((uint32_t *)want, (const uint32_t *)in[s]->i32, N, as_unsigned, 0, 32);
        expect_equal_i32(out[s], want);
    }
}

Measure(radix_sort, large_kept)
{
    size_t sets = rotations(6ull * N);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX], *kept[ROTATIONS_MAX];
    int due[ROTATIONS_MAX];

    limit = 0;
    count = N;
    for (size_t s = 0; s < sets; s++) {
        in[s] = input_of(N);
        input = (const uint32_t *)in[s]->i32;
        due[s] = how_many(above);
        out[s] = output_i32("out", due[s]);
        kept[s] = output_i32("kept", 1);
        rotate("keep_above", device(out[s]), device(kept[s]), device(in[s]), i32(N), i32(limit),
               scratch(scratch_for(N)));
        compulsory(4ull * N, 4ull * due[s]);
    }
    measure();
    int32_t *want = reference_i32(N);
    for (size_t s = 0; s < sets; s++) {
        for (int i = 0, k = 0; i < N; i++)
            if (above(in[s]->i32[i])) want[k++] = in[s]->i32[i];
        expect(kept[s]->i32[0] == due[s], "kept is %d, should be %d", kept[s]->i32[0], due[s]);
        expect_equal_i32(out[s], want);
    }
}
