// Lesson 15: products of small whole numbers, which are exact in any order, so that a wrong sum
// tells which products it lacks or has too many; and of fractions, against a reference in double.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const float *a, *b; // what the last call was given
static int m, n, k;

// ---- What beginners' products leave: each guess is the sum that one mistake makes of c[i][j]

typedef double Guess(int i, int j);

static double products(int i, int j, int from, int to)
{
    double sum = 0;
    for (int p = from; p < to; p++) sum += (double)a[(size_t)i * k + p] * b[(size_t)p * n + j];
    return sum;
}

static double column_by_column(int i, int j)
{
    size_t at = (size_t)i * n + j;
    return products(at % m, at / m, 0, k);
}

static double b_by_columns(int i, int j)
{
    double sum = 0;
    for (int p = 0; p < k; p++) sum += (double)a[(size_t)i * k + p] * b[(size_t)j * k + p];
    return sum;
}

static int tile; // the side of a tile that the guesses below suppose

static double whole_tiles(int i, int j) { return products(i, j, 0, k / tile * tile); }

// Where nothing overwrites the last tile's columns beyond k, they hold those of the tile before.
static double stale_tail(int i, int j)
{
    return products(i, j, 0, k) + products(i, j, k - tile, (k + tile - 1) / tile * tile - tile);
}

// Where thread (x, y) of a block may look for its element of a tile of side `tile`, whose columns
// in A and rows in B begin at `first`: in the first tile each time, where its element of C is, or
// by the other of its coordinates. Or it leaves its element on the other side of the tile's
// diagonal.
typedef enum { RIGHT, FIRST_TILE, PLACE_IN_C, OTHER_COORDINATE, TURNED } Slip;
static Slip in_a, in_b;

static double of_a(int i, int p, int j)
{
    int y = i % tile, x = p % tile, first = p - x;
    int from[] = { first + x, x, j - j % tile + x, first + y, first + y };
    int row = in_a == TURNED ? i - y + x : i, col = from[in_a];
    return row < m && col < k ? a[(size_t)row * k + col] : 0;
}

static double of_b(int i, int p, int j)
{
    int y = p % tile, x = j % tile, first = p - y;
    int from[] = { first + y, y, i - i % tile + y, first + x };
    int row = from[in_b];
    return row < k ? b[(size_t)row * n + j] : 0;
}

static double slipped(int i, int j)
{
    double sum = 0;
    for (int p = 0; p < k; p++) sum += of_a(i, p, j) * of_b(i, p, j);
    return sum;
}

static double off_by; // how far an element may be off

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

static const char *of_tiles(const Mismatch *at)
{
    static char words[200];

    for (tile = 128; tile >= 4; tile /= 2) {
        int tail = k % tile;
        if (k <= tile || tail == 0) continue;
        if (explains(at, whole_tiles))
            snprintf(words, sizeof words,
                     "It lacks the last %d of %d products: k is not a multiple of %d.", tail, k,
                     tile);
        else if (explains(at, stale_tail))
            snprintf(words, sizeof words,
                     "It has %d products of the tile before in it once more: beyond k the tiles "
                     "must hold 0.",
                     tile - tail);
        else continue;
        return words;
    }
    return NULL;
}

static const char *of_a_slip(const Mismatch *at)
{
    static const struct {
        Slip a, b;
        const char *words;
    } slips[] = {
        { FIRST_TILE, RIGHT,
          "So it is if each turn loads the first tile of A: its columns must begin at `first`." },
        { RIGHT, FIRST_TILE,
          "So it is if each turn loads the first tile of B: its rows must begin at `first`." },
        { PLACE_IN_C, RIGHT,
          "So it is if each turn loads A's column `col`, which is a column of C: it must be first "
          "+ x." },
        { RIGHT, PLACE_IN_C,
          "So it is if each turn loads B's row `row`, which is a row of C: it must be first + y." },
        { OTHER_COORDINATE, RIGHT,
          "So it is if thread (x, y) loads column first + y of A: it must be first + x, for x "
          "counts along a row." },
        { RIGHT, OTHER_COORDINATE,
          "So it is if thread (x, y) loads row first + x of B: it must be first + y, for y "
          "counts the rows." },
        { TURNED, RIGHT,
          "So it is if the first factor is A's tile turned: it must be a_tile[y][p], as it was "
          "stored." },
    };

    for (tile = 32; tile >= 8; tile /= 2)
        for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
            in_a = slips[i].a, in_b = slips[i].b;
            if (explains(at, slipped)) return slips[i].words;
        }
    return NULL;
}

// No other mistake is likely to make the same sums.
static const char *which_products(const Mismatch *at)
{
    if (explains(at, column_by_column))
        return "That is the product, but column by column: c[i][j] belongs at c[i * n + j].";
    if (explains(at, b_by_columns))
        return "So it is if the second factor is b[j][p]: it must be b[p][j], at b[p * n + j], or "
               "b_tile[p][x] in a tile.";
    const char *slip = of_a_slip(at);
    return slip ? slip : of_tiles(at);
}

// ---- What fewer bits leave

// x, rounded to the 11 bits that TF32 and half precision have.
static double rounded(float x)
{
    uint32_t word;

    memcpy(&word, &x, 4);
    word = (word + 0x1000) & ~0x1fffu;
    memcpy(&x, &word, 4);
    return x;
}

static double of_rounded(int i, int j)
{
    double sum = 0;
    for (int p = 0; p < k; p++)
        sum += rounded(a[(size_t)i * k + p]) * rounded(b[(size_t)p * n + j]);
    return sum;
}

// How far a sum of k products of numbers below 1 may be off in float: rounding errors of partial
// sums, which are some sqrt(k) / 3 large, add up to a few k * 1e-8 at the worst. Inputs of 11 bits,
// as TF32 and half have, leave some sqrt(k) * 1e-4: beyond the bound for every k up to 100,000.
static double bound(int depth) { return 1e-6 + depth * 1e-7; }

static const char *how_rounded(const Mismatch *at)
{
    return explains(at, of_rounded) ? "So it is if the inputs are rounded to the 11 bits of TF32 "
                                      "or half precision: they must stay floats."
                                    : NULL;
}

// ---- The checks

typedef struct Case {
    Buffer *a, *b, *c;
    double *want;
} Case;

static Case shape(int rows, int columns, int depth)
{
    m = rows, n = columns, k = depth;
    Case made = { input_f32("a", (size_t)m * k), input_f32("b", (size_t)k * n),
                  output_f32("c", (size_t)m * n), reference_f64((size_t)m * n) };
    a = made.a->f32, b = made.b->f32;
    as_matrix(made.a, m, k);
    as_matrix(made.b, k, n);
    as_matrix(made.c, m, n);
    given("m = %d, n = %d, k = %d", m, n, k);
    return made;
}

static void multiplied(Case made)
{
    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++)
                made.want[(size_t)i * n + j] += (double)a[(size_t)i * k + p] * b[(size_t)p * n + j];
    call("matmul", device(made.c), device(made.a), device(made.b), i32(m), i32(n), i32(k));
    compulsory(4ull * m * k + 4ull * k * n, 4ull * m * n);
    compulsory_operations((uint64_t)m * n * k);
}

// Whole numbers from -8 to 8, but 0: k of their products are below 2^24.
static void make_whole(Buffer *in)
{
    for (size_t i = 0; i < in->count; i++)
        in->f32[i] = (float)((int)(in->f32[i] * 8) + (in->f32[i] > 0 ? 1 : -1));
}

static void exactly(int rows, int columns, int depth)
{
    Case made = shape(rows, columns, depth);

    make_whole(made.a);
    make_whole(made.b);
    off_by = 0;
    diagnose(which_products);
    multiplied(made);
    expect_close_f32(made.c, made.want, off_by, 0);
}

static void closely(int rows, int columns, int depth)
{
    Case made = shape(rows, columns, depth);

    off_by = bound(depth);
    diagnose(how_rounded);
    multiplied(made);
    expect_close_f32(made.c, made.want, off_by, 0);
}

Check(tiled_matmul, whole_tiles)
{
    exactly(32, 32, 32);
    exactly(64, 96, 128);
    exactly(128, 64, 96);
}

Check(tiled_matmul, ragged_edges)
{
    exactly(31, 33, 64);
    exactly(33, 31, 64);
    exactly(65, 127, 32);
    exactly(129, 130, 32);
}

Check(tiled_matmul, ragged_depth)
{
    exactly(64, 32, 45);
    exactly(32, 64, 33);
    exactly(64, 32, 31);
    exactly(32, 64, 1);
    exactly(61, 131, 211);
}

// 70,001 blocks would be too many in y and z, where a grid has at most 65,535.
Check(tiled_matmul, thin)
{
    exactly(1, 1, 1);
    exactly(1, 1, 1000);
    exactly(1, 300, 33);
    exactly(300, 1, 33);
    exactly(70001, 3, 2);
}

// Without rows or columns there is nothing to write; without products to add there are zeros.
Check(tiled_matmul, empty)
{
    exactly(0, 0, 0);
    exactly(0, 5, 3);
    exactly(5, 0, 3);
    exactly(33, 5, 0);
}

Check(tiled_matmul, fractions)
{
    closely(33, 31, 1);
    closely(31, 33, 100);
    closely(16, 17, 4096);
}

static const char *of_any_size(const Mismatch *at)
{
    (void)at;
    return "Inputs are from 2^-40 to 2^40 large here: none may be taken for 0, and none is too "
           "large.";
}

// Rows of A and columns of B that are large and small; but each sum's terms are of one size and
// positive, so the bound is relative. Half precision ends at 65504.
Check(tiled_matmul, large_and_small)
{
    Case made = shape(40, 41, 100);

    for (int i = 0; i < m; i++)
        for (int p = 0; p < k; p++)
            made.a->f32[i * k + p] = ldexpf((made.a->f32[i * k + p] + 1) / 2, 2 * i - 40);
    for (int p = 0; p < k; p++)
        for (int j = 0; j < n; j++)
            made.b->f32[p * n + j] = ldexpf((made.b->f32[p * n + j] + 1) / 2, 40 - 2 * j);
    diagnose(of_any_size);
    multiplied(made);
    expect_close_f32(made.c, made.want, 0, bound(k));
}

// The check that profiles/lessons/15-tiled-matmul.cfg measures. C has 12 x 11 tiles of 128 x 128:
// one for each of an H200's 132 multiprocessors, so large tiles leave none of them idle.
Check(tiled_matmul, full_device) { closely(1536, 1408, 64); }

// ---- What profiles/lessons/15-tiled-matmul.cfg times on a GPU

enum { SIDE = 4096, KINDS = 64 };

// A product in double of this size would take the CPU minutes. So B has rows of few kinds only,
// which are mixed at random: the floats of A that meet the same kind are added up first.
static void mix_rows(Buffer *b, const Buffer *kind)
{
    for (size_t p = KINDS; p < SIDE; p++)
        memcpy(b->f32 + p * SIDE, b->f32 + kind->i32[p] * (size_t)SIDE, SIDE * sizeof(float));
}

static void multiplied_by_kinds(double *want, const Buffer *kind)
{
    for (size_t i = 0; i < SIDE; i++) {
        double sum[KINDS] = { 0 };
        for (size_t p = 0; p < SIDE; p++)
            sum[p < KINDS ? p : (size_t)kind->i32[p]] += a[i * SIDE + p];
        for (size_t j = 0; j < SIDE; j++) want[i * SIDE + j] = 0;
        for (size_t q = 0; q < KINDS; q++)
            for (size_t j = 0; j < SIDE; j++) want[i * SIDE + j] += sum[q] * b[q * SIDE + j];
    }
}

Measure(tiled_matmul, side_4096)
{
    size_t sets = rotations(12ull * SIDE * SIDE);
    Buffer *kind = input_i32("kinds", SIDE, 0, KINDS - 1);
    Case made[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        made[s] = shape(SIDE, SIDE, SIDE);
        mix_rows(made[s].b, kind);
        rotate("matmul", device(made[s].c), device(made[s].a), device(made[s].b), i32(SIDE),
               i32(SIDE), i32(SIDE));
        compulsory(8ull * SIDE * SIDE, 4ull * SIDE * SIDE);
    }
    measure();

    off_by = bound(SIDE);
    diagnose(how_rounded);
    for (size_t s = 0; s < sets; s++) {
        a = made[s].a->f32, b = made[s].b->f32;
        multiplied_by_kinds(made[s].want, kind);
        expect_close_f32(made[s].c, made[s].want, off_by, 0);
    }
}
