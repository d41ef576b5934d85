// Lesson 21: the end of a layer against a reference in double: rows of all lengths. Among them are
// rows of large and small values, and rows that are far from zero, where a variance computed as a
// difference of squares is lost.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// What the function was given last.
static struct {
    const float *x, *bias, *residual, *gamma, *beta;
    const uint8_t *kinds;
    int rows, cols;
} asked;

// What is hard about a row: h is far from zero, or x has large and small values.
enum kind { PLAIN, FAR, EXTREME, KINDS };

// The answer, and what those get who change one thing in it.
enum variant {
    AS_ASKED,
    TANH,
    NO_GELU,
    NO_BIAS,
    NO_RESIDUAL,
    RESIDUAL_INSIDE,
    NO_NORM,
    OTHER_VARIANCE,
    VARIANTS
};

static const char *const words[VARIANTS] = {
    [TANH] = "That is what the approximation of gelu by tanh gives; the contract asks for erf.",
    [NO_GELU] = "That is the answer without gelu.",
    [NO_BIAS] = "That is the answer without the bias.",
    [NO_RESIDUAL] = "That is the answer without the residual.",
    [RESIDUAL_INSIDE] = "That is the answer if the residual is added before gelu and not after it.",
    [NO_NORM] = "That is h itself: the row was not normalised.",
    [OTHER_VARIANCE] = "That is the answer if the squares are divided by cols - 1 and not by cols.",
};

static double gelu(double t, enum variant v)
{
    if (v == NO_GELU) return t;
    if (v == TANH) return t / 2 * (1 + tanh(sqrt(2 / M_PI) * (t + 0.044715 * t * t * t)));
    return t / 2 * (1 + erf(t / sqrt(2)));
}

static double h_of(int r, int c, enum variant v)
{
    size_t i = (size_t)r * asked.cols + c;
    double bias = v == NO_BIAS ? 0 : asked.bias[c];
    double t = asked.x[i] + bias, residual = v == NO_RESIDUAL ? 0 : asked.residual[i];
    return v == RESIDUAL_INSIDE ? gelu(t + residual, v) : residual + gelu(t, v);
}

// Row r of the answer.
static void row_of(double *out, int r, enum variant v)
{
    int cols = asked.cols;
    double mean = 0, squares = 0;

    for (int c = 0; c < cols; c++) mean += out[c] = h_of(r, c, v);
    if (v == NO_NORM) return;
    mean /= cols;
    for (int c = 0; c < cols; c++) squares += (out[c] - mean) * (out[c] - mean);
    double variance = squares / (v == OTHER_VARIANCE ? cols - 1 : cols);
    double scale = 1 / sqrt(variance + 1e-5);
    for (int c = 0; c < cols; c++)
        out[c] = (out[c] - mean) * scale * asked.gamma[c] + asked.beta[c];
}

static bool is_unset(const Mismatch *m, size_t i) { return (uint32_t)m->out->i32[i] == POISON; }

// A row of nothing but nan, or elements that were never written.
static const char *holes(const Mismatch *m, int row)
{
    static char words[160];
    size_t n = (size_t)asked.rows * asked.cols, unset = 0, first = 0;
    int nans = 0;

    for (int c = 0; c < asked.cols; c++) nans += isnan(m->out->f32[(size_t)row * asked.cols + c]);
    if (nans == asked.cols)
        return "out is nan until a thread writes it, and one nan in h makes its whole row nan. "
               "Does "
               "a thread write every element?";
    for (size_t i = n; i-- > 0;)
        if (is_unset(m, i)) unset++, first = i;
    if (!unset) return NULL;
    snprintf(words, sizeof words,
             "Nothing was stored in %zu elements, the first of them out[%zu][%zu].", unset,
             first / asked.cols, first % asked.cols);
    return words;
}

// Whether columns k, k + 4, k + 8, ... of a row are those of h but for a mean and a scale: on a
// line, in double.
static bool on_a_line(const Mismatch *m, int row, int k)
{
    const float *out = m->out->f32 + (size_t)row * asked.cols;
    double n = 0, h = 0, y = 0, hh = 0, hy = 0;

    for (int pass = 0; pass < 2; pass++) {
        double slope = pass ? (n * hy - h * y) / (n * hh - h * h) : 0,
               start = pass ? (y - slope * h) / n : 0;
        for (int c = k; c < asked.cols; c += 4) {
            double at = h_of(row, c, AS_ASKED), is = (out[c] - asked.beta[c]) / asked.gamma[c];
            if (fabs(asked.gamma[c]) < 0.05) continue; // too little is left of it
            if (!pass) n++, h += at, y += is, hh += at * at, hy += at * is;
            else if (!(fabs(start + slope * at - is) <= 1e-3)) return false;
        }
    }
    return n > 5;
}

// One of a float4's components is wrong: all of the row are, by way of its mean, but three in four
// lie where they should beside one another.
static const char *wrong_component(const Mismatch *m, int row)
{
    static char words[160];
    int wrong = -1;

    for (int k = 0; k < 4; k++)
        if (!on_a_line(m, row, k)) {
            if (wrong >= 0) return NULL;
            wrong = k;
        }
    if (wrong < 0) return NULL;
    snprintf(
        words, sizeof words,
        "In columns %d, %d, %d, ... h itself is wrong. In the other columns only the row's mean "
        "and scale are: look at the .%c of each float4.",
        wrong, wrong + 4, wrong + 8, "xyzw"[wrong]);
    return words;
}

static const char *far_from_zero(const Mismatch *m)
{
    static char words[160];
    snprintf(words, sizeof words,
             "All of h is near %.0f in this row. In float, mean(h * h) - mean * mean loses a "
             "variance below 1: take the mean of the squares of h - mean.",
             round(h_of((int)(m->first / asked.cols), 0, AS_ASKED) / 100) * 100);
    return words;
}

// Which of the variants the first wrong row is.
static const char *which_variant(const Mismatch *m)
{
    int row = (int)(m->first / asked.cols);
    double *guess = reference_f64(asked.cols);
    const char *says = holes(m, row);

    if (!says) says = asked.kinds[row] == FAR ? far_from_zero(m) : wrong_component(m, row);
    if (says) return says;

    for (enum variant v = AS_ASKED + 1; v < VARIANTS; v++) {
        bool same = true;
        row_of(guess, row, v);
        for (int c = 0; c < asked.cols && same; c++)
            same = fabs(m->out->f32[(size_t)row * asked.cols + c] - guess[c])
                <= 2e-5 + 2e-5 * fabs(guess[c]);
        if (same) return words[v];
    }
    if (asked.kinds[row] == EXTREME)
        return "x reaches 40,000 in this row. gelu(t) is t for large t, and 0 far below zero: is t "
               "cut off somewhere?";
    return NULL;
}

static const char *no_variance(const Mismatch *m)
{
    if (isnan(m->out->f32[m->first]) && !is_unset(m, m->first))
        return "The variance of a single column is 0, and 0 / 0 is nan: add 1e-5 before the root.";
    return which_variant(m);
}

typedef struct Case {
    Buffer *out, *x, *bias, *residual, *gamma, *beta;
    uint8_t *kinds; // of its rows
} Case;

// gelu is t above, 0 below, and never infinite or no number. A float has 24 bits, of which numbers
// near 1000 leave 14 for what they differ by.
static void make_hard(const Case *k, int row, int cols, enum kind kind)
{
    size_t first = (size_t)row * cols;
    k->kinds[row] = kind;
    for (size_t i = first; i < first + cols; i++) {
        if (kind == FAR) k->residual->f32[i] += 300;
        if (kind == EXTREME)
            k->x->f32[i] *= i % 7 == 0 ? 1e4f : i % 5 == 0 ? 1e-30f : i % 3 == 0 ? 20 : 1;
    }
}

// Some rows of any case of more than one row, by its random numbers; the first row shows mistakes
// as they are. Rows of few columns may have too little variance to be told from what rounding adds.
static void make_some_hard(const Case *k, int rows, int cols)
{
    enum { SHORTEST = 31, ONE_IN = 8 };
    uint32_t salt = rows ? mixed((uint32_t)k->x->i32[0]) : 0;
    for (int r = 1; r < rows && cols >= SHORTEST; r++) {
        uint32_t kind = mixed(salt + (uint32_t)r) % ONE_IN;
        if (kind != PLAIN && kind < KINDS) make_hard(k, r, cols, kind);
    }
}

// Random, x and bias in [-4, 4), the residual around `middle`.
static Case make_case(int rows, int cols, float middle)
{
    size_t n = (size_t)rows * cols;
    Case k = { output_f32("out", n),     input_f32("x", n),        input_f32("bias", cols),
               input_f32("residual", n), input_f32("gamma", cols), input_f32("beta", cols),
               reference_u8(rows) };

    as_matrix(k.out, rows, cols);
    for (size_t i = 0; i < n; i++) k.x->f32[i] *= 4, k.residual->f32[i] += middle;
    for (int c = 0; c < cols; c++) k.bias->f32[c] *= 4;
    if (middle == 0) make_some_hard(&k, rows, cols);
    return k;
}

static void look_at(const Case *k, int rows, int cols)
{
    asked.x = k->x->f32, asked.bias = k->bias->f32, asked.residual = k->residual->f32;
    asked.gamma = k->gamma->f32, asked.beta = k->beta->f32, asked.kinds = k->kinds;
    asked.rows = rows, asked.cols = cols;
}

static void ask(const Case *k, int rows, int cols)
{
    look_at(k, rows, cols);
    given("rows = %d, cols = %d", rows, cols);
    call("bias_gelu_residual_norm", device(k->out), device(k->x), device(k->bias),
         device(k->residual), device(k->gamma), device(k->beta), i32(rows), i32(cols));
}

// A rounding of anything to half precision is off by 1e-3 or so; float by some 1e-6, but far from
// zero by 1e-3, too.
static void compare(const Case *k, int rows, int cols, double absolute)
{
    double *want = reference_f64((size_t)rows * cols), *near = reference_f64((size_t)rows * cols);
    bool far = false;

    for (int r = 0; r < rows; r++) {
        double *row = near + (size_t)r * cols;
        row_of(want + (size_t)r * cols, r, AS_ASKED);
        memcpy(row, want + (size_t)r * cols, (size_t)cols * sizeof *row);
        far |= k->kinds[r] == FAR;
        for (int c = 0; c < cols && k->kinds[r] == FAR; c++)
            row[c] = value_at(k->out, (size_t)r * cols + c);
    }
    expect_close_f32(k->out, near, absolute, 1e-5);
    if (far) expect_close_f32(k->out, want, 1e-3, 1e-5);
}

static void normalises(int rows, int cols)
{
    Case k = make_case(rows, cols, 0);
    diagnose(cols == 1 ? no_variance : which_variant);
    ask(&k, rows, cols);
    compulsory(8ull * rows * cols, 4ull * rows * cols);
    compare(&k, rows, cols, 2e-5);
}

Check(fusion, rows_of_whole_vectors)
{
    normalises(3, 128);
    normalises(33, 256);
    normalises(7, 1024);
    normalises(5, 4);
}

Check(fusion, ragged_rows)
{
    normalises(5, 2);
    normalises(4, 31);
    normalises(31, 33);
    normalises(3, 257);
    normalises(2, 1999);
    normalises(211, 127);
}

// Vectors of four, but no whole number of them for each thread of a block or for each block.
Check(fusion, ragged_vectors)
{
    normalises(1, 36);
    normalises(3, 1020);
    normalises(3, 1028);
    normalises(2, 2052);
    normalises(2, 5000);
}

Check(fusion, longest_rows)
{
    normalises(2, 8192);
    normalises(1, 8191);
    normalises(1, 8188);
}

Check(fusion, nothing)
{
    normalises(0, 64);
    normalises(0, 33);
}

// The variance of a single column is 0, and so is h - mean: beta is all that is left.
Check(fusion, one_column) { normalises(65, 1); }

// A float has 24 bits, of which numbers near 1000 leave 14 for what they differ by.
Check(fusion, rows_far_from_zero)
{
    Case k = make_case(9, 512, 1000);
    diagnose(far_from_zero);
    ask(&k, 9, 512);
    compare(&k, 9, 512, 1e-3);
}

Check(fusion, large_and_small_values)
{
    int rows = 6, cols = 320;
    Case k = make_case(rows, cols, 0);
    for (int r = 0; r < rows; r++)
        if (k.kinds[r] == PLAIN) make_hard(&k, r, cols, EXTREME);
    diagnose(which_variant);
    ask(&k, rows, cols);
    compare(&k, rows, cols, 2e-5);
}

// The check that profiles/lessons/21-fusion.cfg measures: 1,024 floats a row, so that each warp
// begins on a sector.
Check(fusion, half_a_million) { normalises(512, 1024); }

// What profiles/lessons/21-fusion.cfg times on a GPU: 402 MB of compulsory traffic a call.
Measure(fusion, large)
{
    enum { ROWS = 8192, COLS = 4096 };
    size_t n = (size_t)ROWS * COLS, sets = rotations(12 * n);
    Case k[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        k[s] = make_case(ROWS, COLS, 0);
        rotate("bias_gelu_residual_norm", device(k[s].out), device(k[s].x), device(k[s].bias),
               device(k[s].residual), device(k[s].gamma), device(k[s].beta), i32(ROWS), i32(COLS));
        compulsory(8 * n, 4 * n);
    }
    measure();
    for (size_t s = 0; s < sets; s++) {
        look_at(&k[s], ROWS, COLS);
        compare(&k[s], ROWS, COLS, 2e-5);
    }
}
