// Lesson 17: products of small whole numbers, which are exact in any order; and of fractions,
// against a reference in double of the very numbers of 16 bits that the function is given.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- Numbers of 16 bits

typedef enum { BF16, F16 } Kind;

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

// To the nearest number of so many bits, of which one is not stored; ties to even.
static float rounded(float x, int kept)
{
    uint32_t drop = 24 - (uint32_t)kept, bits = bits_of(x);
    bits += (1u << (drop - 1)) - 1 + (bits >> drop & 1);
    return from_bits(bits & ~((1u << drop) - 1));
}

static uint16_t encoded(Kind kind, double x) { return kind == BF16 ? bf16_bits(x) : f16_bits(x); }
static double decoded(Kind kind, uint16_t bits)
{
    return kind == BF16 ? bf16_value(bits) : f16_value(bits);
}

// ---- Matrices

// One of rows whose gaps hold no numbers.
typedef struct Matrix {
    Buffer *buffer;
    uint16_t *at;
    double *value; // rows without gaps
    int rows, cols, pitch;
} Matrix;

static Kind kind;
static Matrix a, b;
static int m, n, k;

static Matrix matrix(const char *name, int rows, int cols)
{
    int pitch = (cols + 7) / 8 * 8;
    size_t count = (size_t)rows * pitch;
    Buffer *buffer = kind == BF16 ? input_bf16(name, count) : input_f16(name, count);
    Matrix x = { buffer, buffer->f16, reference_f64((size_t)rows * cols), rows, cols, pitch };

    for (size_t i = 0; i < count; i++) x.at[i] = 0x7fff;
    return x;
}

static void set(Matrix *x, int row, int col, double value)
{
    uint16_t *at = x->at + (size_t)row * x->pitch + col;
    *at = encoded(kind, value);
    x->value[(size_t)row * x->cols + col] = decoded(kind, *at);
}

// ---- What goes wrong

typedef double Guess(int i, int j);
static double off_by;

static double products(int i, int j, int from, int to)
{
    double sum = 0;
    for (int p = from; p < to; p++) sum += a.value[(size_t)i * k + p] * b.value[(size_t)p * n + j];
    return sum;
}

static int depth; // of a tile that the next guess supposes

static double whole_depths(int i, int j) { return products(i, j, 0, k / depth * depth); }
static double turned_sum(int i, int j)
{
    size_t at = (size_t)i * n + j;
    return products(at % m, at / m, 0, k);
}

static double turned_b(int i, int j)
{
    double sum = 0;
    for (int p = 0; p < k; p++) sum += a.value[(size_t)i * k + p] * b.value[(size_t)j * k + p];
    return n == k ? sum : NAN;
}

// Each tile of B, of so many rows and columns, with its rows for its columns.
static double of_turned_b(int i, int j, int side)
{
    double sum = 0;
    for (int p = 0; p < k; p++) {
        int row = p - p % side + j % side, col = j - j % side + p % side;
        if (row < k && col < n) sum += a.value[(size_t)i * k + p] * b.value[(size_t)row * n + col];
    }
    return sum;
}

static double turned_tiles(int i, int j) { return of_turned_b(i, j, 8); }

// Mistakes with version 2's fragments. Its blocks make SUMS x SUMS sums from tiles of SUMS x STEPS
// and STEPS x SUMS numbers, its four warps 32 x 32 sums each, in fragments of 16 x 16.
enum { SUMS = 64, STEPS = 32 };

static double b_by_columns(int i, int j) { return of_turned_b(i, j, 16); }

static double a_by_columns(int i, int j)
{
    double sum = 0;
    for (int p = 0; p < k; p++) {
        int row = i - i % 16 + p % 16, col = p - p % 16 + i % 16;
        if (row < m && col < k) sum += a.value[(size_t)row * k + col] * b.value[(size_t)p * n + j];
    }
    return sum;
}

static double first_halves(int i, int j)
{
    double sum = 0;
    for (int p = 0; p < k; p += STEPS) sum += products(i, j, p, p + 16 < k ? p + 16 : k);
    return sum;
}

static double first_halves_twice(int i, int j) { return 2 * first_halves(i, j); }

// The sum at another place of C.
static double sum_at(int row, int col)
{
    return row < m && col < n ? products(row, col, 0, k) : NAN;
}

static double upper_warps(int i, int j) { return sum_at(i - i % SUMS + i % 32, j); }
static double left_warps(int i, int j) { return sum_at(i, j - j % SUMS + j % 32); }
static double first_warps(int i, int j)
{
    return sum_at(i - i % SUMS + i % 32, j - j % SUMS + j % 32);
}
static double first_fragments(int i, int j)
{
    return sum_at(i - i % 32 + i % 16, j - j % 32 + j % 16);
}
static double turned_sums(int i, int j) { return sum_at(i - i % 16 + j % 16, j - j % 16 + i % 16); }

static double other_fragments(int i, int j) // sum[i][j] for sum[j][i]
{
    return sum_at(i - i % 32 + j % 32 / 16 * 16 + i % 16, j - j % 32 + i % 32 / 16 * 16 + j % 16);
}

// The number that lies so far behind the beginning of A's tile, behind which lies B's.
static double in_tiles(int at, int i, int p, int j)
{
    bool of_a = at < SUMS * STEPS;
    int pitch = of_a ? STEPS : SUMS, row = at % (SUMS * STEPS) / pitch, col = at % pitch;
    const Matrix *x = of_a ? &a : &b;

    row += of_a ? i - i % SUMS : p - p % STEPS;
    col += of_a ? p - p % STEPS : j - j % SUMS;
    return row < x->rows && col < x->cols ? x->value[(size_t)row * x->cols + col] : 0;
}

// With fragments that take the rows of both tiles to be so far apart.
static double of_pitch(int i, int j, int pitch)
{
    double sum = 0;
    for (int p = 0; p < k; p++) {
        int q = p % STEPS / 16 * 16, top = i % SUMS / 16 * 16, left = j % SUMS / 16 * 16;
        int in_a = top * STEPS + q + i % 16 * pitch + p % 16;
        int in_b = SUMS * STEPS + q * SUMS + left + p % 16 * pitch + j % 16;
        sum += in_tiles(in_a, i, p, j) * in_tiles(in_b, i, p, j);
    }
    return sum;
}

static double pitch_of_b(int i, int j) { return of_pitch(i, j, SUMS); }
static double pitch_of_a(int i, int j) { return of_pitch(i, j, STEPS); }

// The sum with every partial sum rounded to so many bits, 16 products at a time.
static int sum_bits;
static double coarse_sum(int i, int j)
{
    double sum = 0;
    for (int p = 0; p < k; p += 16) {
        sum += products(i, j, p, p + 16 < k ? p + 16 : k);
        sum = fabs(sum) < 0x1p-14 ? 0 : rounded((float)sum, sum_bits);
    }
    return sum;
}

// Is that what the wrong elements hold? Some are asked, from all over the matrix.
static bool explains(const Mismatch *at, Guess *guess)
{
    size_t apart = at->wrong / 50 + 1, seen = 0;

    for (size_t i = at->first; i < at->out->count; i++)
        if (at->is_wrong(i) && seen++ % apart == 0
            && !(fabs(at->out->f32[i] - guess(i / n, i % n)) <= off_by))
            return false;
    return true;
}

static const char *last_products(const Mismatch *at)
{
    static char words[120];

    for (depth = 128; depth >= 8; depth /= 2)
        if (k % depth && explains(at, whole_depths)) {
            snprintf(words, sizeof words,
                     "It lacks the last %d of %d products: k is not a multiple of %d.", k % depth,
                     k, depth);
            return words;
        }
    return NULL;
}

static const char *of_a_fragment(const Mismatch *at)
{
    static const struct {
        Guess *guess;
        const char *words;
    } slips[] = {
        { a_by_columns, "So it is if A's fragments are turned: its tile lies row by row, so they "
                        "are row_major." },
        { b_by_columns, "So it is if B's fragments are turned: its tile lies row by row, so they "
                        "are row_major." },
        { pitch_of_b, "So it is if A's fragments have the pitch of B's tile: a row of A's tile is "
                      "32 numbers from the next." },
        { pitch_of_a, "So it is if B's fragments have the pitch of A's tile: a row of B's tile is "
                      "64 numbers from the next." },
        { first_halves, "It has 16 of each 32 products: a tile is 32 deep, and a fragment 16." },
        { first_halves_twice, "It has 16 of each 32 products, twice: where a fragment begins "
                              "depends on the step, `q`." },
        { upper_warps, "So it is if the lower warps take the rows of A that the upper ones take: "
                       "theirs begin at `top`." },
        { left_warps, "So it is if the right warps take the columns of B that the left ones take: "
                      "theirs begin at `left`." },
        { first_warps, "So it is if each warp makes the sums of its block's first: its own begin "
                       "at `top` and `left`." },
        { first_fragments, "So it is if a warp's four fragments are the same: A's are 16 rows "
                           "apart, B's 16 columns." },
        { other_fragments, "So it is if sum[i][j] and sum[j][i] change places: i counts fragments "
                           "down, j to the right." },
        { turned_sums, "So it is if each 16 x 16 sums are turned: they are to lie in `cs` row by "
                       "row, mem_row_major." },
    };

    for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++)
        if (explains(at, slips[i].guess)) return slips[i].words;
    return NULL;
}

static const char *which(const Mismatch *at)
{
    float got = at->out->f32[at->first];

    if (got != got && bits_of(got) != POISON)
        return "Not a number: the gaps behind the rows of A or B, or shared memory beyond the "
               "tile's edge, got into the "
               "sums. Even 0 times no number is none.";
    if (explains(at, turned_sum))
        return "That is the product, but column by column: c[i][j] belongs at c[i * n + j].";
    if (explains(at, turned_b))
        return "So it is if the second factor is b[j][p]: it must be b[p][j]. Is B's fragment of "
               "the right layout?";
    if (explains(at, turned_tiles))
        return "So it is if each 8 x 8 tile of B is turned: a lane needs two neighbours of a "
               "column of B, which "
               "ldmatrix gives it with .trans.";
    const char *fragment = of_a_fragment(at);
    if (fragment) return fragment;
    sum_bits = 11;
    if (explains(at, coarse_sum))
        return "So it is if the sums are halves, which have 11 bits: the accumulator must be "
               "float.";
    return last_products(at);
}

static double coarse_factors(int i, int j)
{
    double sum = 0;
    for (int p = 0; p < k; p++)
        sum += (double)rounded((float)a.value[(size_t)i * k + p], 8)
             * rounded((float)b.value[(size_t)p * n + j], 8);
    return sum;
}

// How far most of the wrong elements lie from a guess, in what they lie from the right answer: much
// nearer explains them.
static bool is_nearer(const Mismatch *at, Guess *guess)
{
    double from_guess = 0, from_want = 0;
    size_t apart = at->wrong / 50 + 1, seen = 0;

    for (size_t i = at->first; i < at->out->count; i++)
        if (at->is_wrong(i) && seen++ % apart == 0) {
            from_guess += fabs(at->out->f32[i] - guess(i / n, i % n));
            from_want += fabs(at->out->f32[i] - at->want(i));
        }
    return from_guess < from_want / 3;
}

static const char *how_rounded(const Mismatch *at)
{
    if (kind == F16 && is_nearer(at, coarse_factors))
        return "So it is if the numbers of A and B are rounded to the 8 bits of a bf16 first.";
    sum_bits = 11;
    if (is_nearer(at, coarse_sum))
        return "So it is if the sums are halves: 11 bits. The accumulator must be float.";
    sum_bits = 8;
    if (is_nearer(at, coarse_sum))
        return "So it is if the sums are rounded to the 8 bits of a bf16.";
    return NULL;
}

// ---- The checks

static Buffer *c;
static double *want;

static void shape(Kind of, int rows, int columns, int depth)
{
    kind = of, m = rows, n = columns, k = depth;
    a = matrix("a", m, k);
    b = matrix("b", k, n);
    c = output_f32("c", (size_t)m * n);
    want = reference_f64((size_t)m * n);
    as_matrix(c, m, n);
    given("%s, m = %d, n = %d, k = %d", kind == BF16 ? "bf16" : "half", m, n, k);
}

static const char *function(void) { return kind == BF16 ? "matmul_bf16" : "matmul_f16"; }

static void multiplied(void)
{
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++)
                want[(size_t)i * n + j] += a.value[(size_t)i * k + p] * b.value[(size_t)p * n + j];
    call(function(), device(c), device(a.buffer), device(b.buffer), i32(m), i32(n), i32(k));
    compulsory(2ull * m * k + 2ull * k * n, 4ull * m * n);
    compulsory_operations((uint64_t)m * n * k);
}

static double fraction(int which, int row, int col)
{
    return mixed(which * 1000003u + row * 65537u + col) / 0x1p31 - 1;
}

static void fill(double (*number)(int which, int row, int col))
{
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++) set(&a, i, p, number(1, i, p));
    for (int p = 0; p < k; p++)
        for (int j = 0; j < n; j++) set(&b, p, j, number(2, p, j));
}

// From -8 to 8, but 0: k of their products are below 2^24.
static double whole(int which, int row, int col)
{
    double x = fraction(which, row, col);
    return (int)(x * 8) + (x > 0 ? 1 : -1);
}

static void exactly(Kind of, int rows, int columns, int depth)
{
    shape(of, rows, columns, depth);
    fill(whole);
    off_by = 0;
    diagnose(which);
    multiplied();
    expect_close_f32(c, want, 0, 0);
}

// How far a sum of k products of numbers below 1 may be off. A Tensor Core adds in float, but cuts
// off where a float's sum would be rounded, so errors of one sign pile up: 5e-4 at the worst in
// 4,096 sums of 4,096 products. Sums in half are off by 0.4 there, factors of 8 bits instead of 11
// by 0.2 (simulator/test/programs/tensor_precision.cu).
static double bound(int products) { return 1e-6 + products * 1e-6; }

static void closely(Kind of, int rows, int columns, int depth)
{
    shape(of, rows, columns, depth);
    fill(fraction);
    off_by = bound(depth);
    diagnose(how_rounded);
    multiplied();
    expect_close_f32(c, want, off_by, 0);
}

Check(tensor_cores, whole_tiles)
{
    exactly(BF16, 64, 64, 32);
    exactly(BF16, 128, 64, 96);
    exactly(BF16, 128, 256, 64);
}

Check(tensor_cores, ragged_edges)
{
    exactly(BF16, 31, 33, 64);
    exactly(BF16, 65, 127, 32);
    exactly(BF16, 129, 257, 64);
}

Check(tensor_cores, ragged_depth)
{
    exactly(BF16, 64, 64, 33);
    exactly(BF16, 32, 64, 31);
    exactly(BF16, 64, 40, 1);
    exactly(BF16, 61, 131, 211);
}

Check(tensor_cores, thin)
{
    exactly(BF16, 1, 1, 1);
    exactly(BF16, 1, 1, 1000);
    exactly(BF16, 1, 300, 33);
    exactly(BF16, 300, 1, 33);
}

Check(tensor_cores, empty)
{
    exactly(BF16, 0, 0, 0);
    exactly(BF16, 0, 5, 3);
    exactly(BF16, 5, 0, 3);
    exactly(BF16, 33, 5, 0);
}

Check(tensor_cores, halves)
{
    exactly(F16, 61, 131, 211);
    exactly(F16, 64, 128, 64);
}

Check(tensor_cores, fractions)
{
    closely(BF16, 33, 31, 100);
    closely(F16, 31, 33, 100);
    closely(BF16, 16, 17, 4096);
    closely(F16, 17, 16, 4096);
}

static const char *of_any_size(const Mismatch *at)
{
    (void)at;
    return "A bf16 has a float's range: inputs are from 2^-60 to 2^60 here. As halves they would "
           "be 0 or infinite.";
}

static double large_or_small(int which, int row, int col)
{
    return ldexp((fraction(which, row, col) + 1.5) / 2, which == 1 ? 3 * row - 60 : 60 - 3 * col);
}

Check(tensor_cores, large_and_small)
{
    shape(BF16, 40, 41, 100);
    fill(large_or_small);
    diagnose(of_any_size);
    multiplied();
    expect_close_f32(c, want, 0, bound(k));
}

// The check that profiles/lessons/17-tensor-cores.cfg measures: 12 x 11 tiles of 128 x 128, one for
// each multiprocessor of an H200.
Check(tensor_cores, full_device) { closely(BF16, 1536, 1408, 128); }

// ---- What profiles/lessons/17-tensor-cores.cfg times on a GPU

enum { SIDE = 4096, KINDS = 64 };

// A product in double of this size would take the CPU minutes. So B has rows of few kinds only,
// which are mixed at random: the numbers of A that meet the same kind are added up first.
static void multiplied_by_kinds(double *to, const Matrix *x, const Matrix *y, const int32_t *kinds)
{
    for (size_t i = 0; i < SIDE; i++) {
        double sum[KINDS] = { 0 };
        for (size_t p = 0; p < SIDE; p++) sum[kinds[p]] += x->value[i * SIDE + p];
        for (size_t q = 0; q < KINDS; q++)
            for (size_t j = 0; j < SIDE; j++) to[i * SIDE + j] += sum[q] * y->value[q * SIDE + j];
    }
}

Measure(tensor_cores, side_4096)
{
    size_t sets = rotations(8ull * SIDE * SIDE);
    int32_t *kinds = reference_i32(SIDE);
    Matrix as[ROTATIONS_MAX], bs[ROTATIONS_MAX];
    Buffer *cs[ROTATIONS_MAX];
    double *wants[ROTATIONS_MAX];

    for (size_t p = 0; p < SIDE; p++)
        kinds[p] = p < KINDS ? (int32_t)p : (int32_t)(mixed((uint32_t)p) % KINDS);
    for (size_t s = 0; s < sets; s++) {
        shape(BF16, SIDE, SIDE, SIDE);
        for (int i = 0; i < SIDE; i++)
            for (int p = 0; p < SIDE; p++) {
                set(&a, i, p, fraction(1 + 2 * (int)s, i, p));
                set(&b, i, p, fraction(2 + 2 * (int)s, kinds[i], p));
            }
        as[s] = a, bs[s] = b, cs[s] = c, wants[s] = want;
        rotate("matmul_bf16", device(c), device(a.buffer), device(b.buffer), i32(SIDE), i32(SIDE),
               i32(SIDE));
        compulsory(4ull * SIDE * SIDE, 4ull * SIDE * SIDE);
    }
    measure();

    off_by = bound(SIDE);
    diagnose(how_rounded);
    for (size_t s = 0; s < sets; s++) {
        a = as[s], b = bs[s];
        multiplied_by_kinds(wants[s], &a, &b, kinds);
        expect_close_f32(cs[s], wants[s], off_by, 0);
    }
}
