// Lesson 22: softmax and the gradients of a layer norm against references in double, made of the
// very numbers of 16 bits that the functions are given. Rows of all lengths, with gaps that hold
// anything. In each call some are masked or of huge numbers; and some of a norm's are far from
// zero, where a variance computed as a difference of squares is lost.
#include "grader.h"
#include <math.h>
#include <stdio.h>

// A float's result, rounded once to 8 bits, is off by 2^-8 of it at most. Another rounding before
// would double that.
static const double ROUNDED = 0.0041;

// ---- Softmax

typedef struct Rows {
    Buffer *out, *x;
    int rows, cols, stride;
} Rows;

static Rows asked;

static double number(int r, int c)
{
    return bf16_value(asked.x->bf16[(size_t)r * asked.stride + c]);
}

static double maximum(int r)
{
    double m = -INFINITY;
    for (int c = 0; c < asked.cols; c++) m = fmax(m, number(r, c));
    return m;
}

static void softmax_of(double *weights, int r)
{
    double m = maximum(r), sum = 0;
    for (int c = 0; c < asked.cols; c++)
        sum += weights[c] = m == -INFINITY ? 0 : exp(number(r, c) - m);
    for (int c = 0; c < asked.cols && sum > 0; c++) weights[c] /= sum;
}

static double weight_got(const Mismatch *at, int r, int c)
{
    return bf16_value(at->out->bf16[(size_t)r * asked.stride + c]);
}

static bool close_to(double got, double want)
{
    return fabs(got - want) <= 1e-30 + ROUNDED * fabs(want);
}

// The numbers that the wrong row would hold after one mistake, for column c. `m` and `sum` are the
// row's own.
typedef double Guess(int r, int c, double m, double sum);

static double undivided(int r, int c, double m, double sum)
{
    (void)sum;
    return exp(number(r, c) - m);
}
static double base_two(int r, int c, double m, double sum)
{
    double twos = 0;
    (void)sum;
    for (int j = 0; j < asked.cols; j++) twos += exp2(number(r, j) - m);
    return exp2(number(r, c) - m) / twos;
}
static double squared(int r, int c, double m, double sum)
{
    double weight = exp(number(r, c) - m) / sum;
    return weight * weight;
}

static const struct {
    Guess *guess;
    const char *words;
} guesses[] = {
    { undivided, "Those are the exponentials: they were not divided by their sum." },
    { base_two, "That is what powers of 2 give, and the contract asks for powers of e." },
    { squared, "Each weight was multiplied by itself: it was scaled twice." },
};

static const char *of_a_mistake(const Mismatch *at, int r, int wrong)
{
    double m = maximum(r), sum = 0;
    if (m == -INFINITY) return NULL;
    for (int c = 0; c < asked.cols; c++) sum += exp(number(r, c) - m);
    for (size_t g = 0; g < sizeof guesses / sizeof *guesses; g++) {
        bool same = close_to(weight_got(at, r, wrong), guesses[g].guess(r, wrong, m, sum));
        int apart = asked.cols / 16 + 1;
        for (int c = 0; c < asked.cols && same; c += apart)
            same = close_to(weight_got(at, r, c), guesses[g].guess(r, c, m, sum));
        if (same) return guesses[g].words;
    }
    return NULL;
}

// All weights of the row are too large, or too small, by the same factor: then the sum is wrong,
// and only the sum.
static const char *of_a_factor(const Mismatch *at, int r)
{
    static char words[160];
    double low = INFINITY, high = 0;
    for (int c = 0; c < asked.cols; c++) {
        double want = at->want((size_t)r * asked.stride + c);
        if (want < 1e-20) continue;
        double factor = weight_got(at, r, c) / want;
        if (!(factor > 0)) return NULL;
        low = fmin(low, factor), high = fmax(high, factor);
    }
    if (!(high > 0) || high > low * 1.01) return NULL;
    advise("check that each number is added once, and that all parts of the sum belong to the same "
           "maximum");
    snprintf(words, sizeof words,
             "All weights of the row are %.3g times what they should be, so its sum is %.3g times "
             "its due.",
             high, 1 / high);
    return words;
}

static const char *of_plain_row(const Mismatch *at)
{
    int r = (int)(at->first / asked.stride), c = (int)(at->first % asked.stride);
    const char *says = of_a_mistake(at, r, c);

    if (says) return says;
    if (asked.cols < asked.stride && (weight_got(at, r, c) == 0 || isnan(weight_got(at, r, c))))
        return "A number of the gap after the row came into its maximum or its sum. The gap may "
               "hold anything, here nan, infinities and 3.4e38.";
    return of_a_factor(at, r);
}

static const char *of_masks(const Mismatch *at)
{
    int r = (int)(at->first / asked.stride);
    double got = weight_got(at, r, at->first % asked.stride);
    if (got != 0 && !isnan(got)) return of_plain_row(at);
    if (maximum(r) == -INFINITY) {
        advise("find what this row divides, or subtracts, and keep the infinity out of it");
        return "All numbers of this row are -inf. Its maximum is -inf, and -inf less -inf is nan; "
               "its sum is 0, and 0 / 0 is nan.";
    }
    advise("begin with a maximum that is a finite number, -FLT_MAX");
    return "Some numbers of this row are -inf. Where the maximum so far is -inf, too, their "
           "difference is nan, and so is the sum.";
}

static const char *of_huge(const Mismatch *at)
{
    static char words[160];
    const char *says = of_plain_row(at);
    if (says) return says;
    advise("subtract the row's maximum before the exponential");
    snprintf(words, sizeof words,
             "The numbers of this row reach %.1g, and e to the power of 89 is infinite in a float "
             "already.",
             maximum((int)(at->first / asked.stride)));
    return words;
}

// A mask that goes wrong leaves nothing but nan of the row, or nothing but 0.
static const char *of_the_row(const Mismatch *at)
{
    int r = (int)(at->first / asked.stride), masked = 0, nans = 0, zeros = 0;
    for (int c = 0; c < asked.cols; c++) {
        masked += number(r, c) == -INFINITY;
        nans += isnan(weight_got(at, r, c)), zeros += weight_got(at, r, c) == 0;
    }
    bool loud = maximum(r) > 88, alike = nans == asked.cols || zeros == asked.cols;
    if (masked && (!loud || alike)) return of_masks(at);
    return loud ? of_huge(at) : of_plain_row(at);
}

static const char *of_rising(const Mismatch *at)
{
    int r = (int)(at->first / asked.stride), c = (int)(at->first % asked.stride);
    const char *says = of_a_mistake(at, r, c);
    if (says) return says;
    advise("when the maximum moves from m to a larger M, multiply the sum so far by exp(m - M)");
    return "The numbers of this row rise, so the maximum moves with each of them: the sum must be "
           "corrected each time.";
}

static const char *of_equals(const Mismatch *at)
{
    const char *says = of_a_factor(at, (int)(at->first / asked.stride));
    advise("keep the sum in a float, and add each number once");
    return says ? says
                : "Many numbers are equal here. A sum in bf16 stops growing at 256, since 256 + 1 "
                  "rounds to 256.";
}

// Masks what is before a place of a row, behind it, three numbers of four, or all; and makes the
// others so many times as large.
static void make_hard(const Rows *k, int r, uint32_t key, bool all_too)
{
    enum { BEFORE, BEHIND, SOME, ALL, NONE, MASKS };
    static const double times[] = { 100, 4e37, 1 };
    uint16_t *x = k->x->bf16 + (size_t)r * k->stride;
    int mask = key % (all_too ? MASKS : ALL), place = (int)(mixed(key) % (uint32_t)k->cols);
    double by = times[key / MASKS % (all_too ? 3 : 2)];
    for (int c = 0; c < k->cols; c++) {
        bool masked = mask == BEFORE ? c < place
                    : mask == BEHIND ? c > place
                    : mask == SOME   ? mixed(key + (uint32_t)c) % 4 && c != place
                                     : mask == ALL;
        x[c] = bf16_bits(masked ? -INFINITY : by * bf16_value(x[c]));
    }
}

// A fourth of the rows after the first, which shows mistakes as they are; by the random numbers. In
// any call of several one is loud and masked in part.
static void make_some_hard(const Rows *k)
{
    uint32_t salt = k->x->count ? mixed(*(uint32_t *)k->x->data) : 0;
    for (int r = 1; r < k->rows; r++) {
        uint32_t key = mixed(salt + (uint32_t)r);
        bool always = (uint32_t)r == 1 + salt % (uint32_t)(k->rows - 1);
        if (always || key % 4 == 0) make_hard(k, r, key / 4, !always);
    }
}

// Random numbers in (-8, 8). The gap after each row holds no number, or the largest that there is.
static Rows make_rows(int rows, int cols, int stride)
{
    size_t count = (size_t)rows * stride;
    Rows k = { output_bf16("out", count), input_bf16("x", count), rows, cols, stride };
    const uint16_t anything[] = { 0x7fff, 0x7f7f, 0x7f80, 0xff80 }; // nan, 3.4e38, inf, -inf

    as_matrix(k.out, rows, stride);
    for (size_t i = 0; i < count; i++)
        if (i % stride < (size_t)cols) k.x->bf16[i] = bf16_bits(8 * bf16_value(k.x->bf16[i]));
        else k.x->bf16[i] = anything[(i % stride - cols + i / stride + 1) % 4];
    return k;
}

// What is expected of its weights, when it has been called.
static void compare_rows(const Rows *k)
{
    double *want = reference_f64((size_t)k->rows * k->stride);

    asked = *k;
    for (int r = 0; r < k->rows; r++) {
        softmax_of(want + (size_t)r * k->stride, r);
        for (int c = k->cols; c < k->stride; c++) {
            uint16_t *gap = &k->out->bf16[(size_t)r * k->stride + c];
            expect(*gap == (uint16_t)POISON,
                   "out[%d][%d] was written. It is in the gap after the row, which has %d numbers",
                   r, c, k->cols);
            *gap = 0;
        }
    }
    expect_close_bf16(k->out, want, 1e-30, ROUNDED);
}

static void ask_softmax(const Rows *k)
{
    size_t n = (size_t)k->rows * k->cols;
    given("rows = %d, cols = %d, stride = %d", k->rows, k->cols, k->stride);
    call("softmax", device(k->out), device(k->x), i32(k->rows), i32(k->cols), i32(k->stride));
    compulsory(2 * n, 2 * n);
    compare_rows(k);
}

static void weighs(int rows, int cols, int stride)
{
    Rows k = make_rows(rows, cols, stride);
    make_some_hard(&k);
    diagnose(of_the_row);
    ask_softmax(&k);
}

Check(softmax_and_norms, short_rows)
{
    weighs(1, 8, 8);
    weighs(65, 32, 32);
    weighs(7, 256, 256);
    weighs(9, 1024, 1024);
    weighs(3, 4096, 4096);
}

// Gaps of all lengths, and more than a vector's.
Check(softmax_and_norms, rows_with_gaps)
{
    weighs(65, 1, 8);
    weighs(9, 31, 32);
    weighs(9, 33, 40);
    weighs(5, 255, 256);
    weighs(5, 257, 264);
    weighs(3, 1000, 1024);
    weighs(3, 1023, 1024);
    weighs(3, 1025, 1032);
    weighs(2, 4093, 4352);
}

Check(softmax_and_norms, long_rows)
{
    weighs(2, 4104, 4104);
    weighs(1, 16390, 16392);
    weighs(1, 32768, 32768);
    weighs(1, 32769, 32776);
}

Check(softmax_and_norms, masked_numbers)
{
    Rows k = make_rows(12, 600, 608);
    for (int r = 0; r < k.rows; r++)
        for (int c = 0; c < k.cols; c++) {
            bool masked = r % 4 == 0 ? c < k.cols - 1 - r  // all before one
                        : r % 4 == 1 ? c > 40 * r          // all after one: causal attention
                        : r % 4 == 2 ? (c * 7 + r) % 3 > 0 // some
                                     : true;               // nothing else
            if (masked) k.x->bf16[r * k.stride + c] = bf16_bits(-INFINITY);
        }
    diagnose(of_masks);
    ask_softmax(&k);
}

Check(softmax_and_norms, huge_numbers)
{
    Rows k = make_rows(6, 520, 520);
    for (int r = 0; r < k.rows; r++)
        for (int c = 0; c < k.cols; c++) {
            uint16_t *x = &k.x->bf16[r * k.stride + c];
            double by = r % 3 == 0 ? 4e37 : r % 3 == 1 ? 100 : 1;
            *x = bf16_bits(by * bf16_value(*x) - (r >= 3 ? 9e37 : 0));
        }
    diagnose(of_huge);
    ask_softmax(&k);
}

// The maximum moves with each number, by a little or by much; or never after the first.
Check(softmax_and_norms, rising_and_falling_rows)
{
    Rows k = make_rows(4, 2048, 2048);
    for (int r = 0; r < k.rows; r++)
        for (int c = 0; c < k.cols; c++)
            k.x->bf16[r * k.stride + c] =
                bf16_bits((r % 2 ? k.cols - c : c) * (r < 2 ? 0.01 : 0.25) - 100);
    diagnose(of_rising);
    ask_softmax(&k);
}

// The longest row, of the same weight everywhere: a sum with too few bits stops growing.
Check(softmax_and_norms, equal_numbers)
{
    Rows k = make_rows(1, 262144, 262144);
    for (size_t i = 0; i < k.x->count; i++) k.x->bf16[i] = bf16_bits(2.5);
    diagnose(of_equals);
    ask_softmax(&k);
}

Check(softmax_and_norms, no_rows) { weighs(0, 64, 64); }

// ---- The gradients of a layer norm

typedef struct Norm {
    Buffer *dx, *dgamma, *dbeta, *dy, *x, *gamma;
    int rows, cols;
} Norm;

static Norm norm;

enum variant { AS_ASKED, NO_GAMMA, NO_MEAN, NO_H, NO_SCALE, VARIANTS };

static const char *const words[VARIANTS] = {
    [NO_GAMMA] = "That is dx with dy where g = dy * gamma belongs.",
    [NO_MEAN] = "That is dx without the mean of g.",
    [NO_H] = "That is dx without h and the mean of g * h.",
    [NO_SCALE] = "That is dx before it is divided by the root of the variance.",
};

// h of row r; returns 1 / sqrt(variance + 1e-5).
static double normalise(double *h, int r)
{
    const uint16_t *x = norm.x->bf16 + (size_t)r * norm.cols;
    double mean = 0, squares = 0;

    for (int c = 0; c < norm.cols; c++) mean += h[c] = bf16_value(x[c]);
    mean /= norm.cols;
    for (int c = 0; c < norm.cols; c++) h[c] -= mean, squares += h[c] * h[c];
    double scale = 1 / sqrt(squares / norm.cols + 1e-5);
    for (int c = 0; c < norm.cols; c++) h[c] *= scale;
    return scale;
}

// Row r's dx, and its shares of dgamma and dbeta, which are added.
static void gradients_of(double *dx, double *dgamma, double *dbeta, double *h, int r,
                         enum variant v)
{
    const uint16_t *dy = norm.dy->bf16 + (size_t)r * norm.cols;
    double scale = normalise(h, r), g_mean = 0, gh_mean = 0;

    for (int c = 0; c < norm.cols; c++) {
        double d = bf16_value(dy[c]), g = v == NO_GAMMA ? d : d * norm.gamma->f32[c];
        if (dgamma) dgamma[c] += d * h[c], dbeta[c] += d;
        g_mean += g / norm.cols, gh_mean += g * h[c] / norm.cols;
        dx[c] = g;
    }
    if (v == NO_MEAN) g_mean = 0;
    if (v == NO_H) gh_mean = 0;
    if (v == NO_SCALE) scale = 1;
    for (int c = 0; c < norm.cols; c++) dx[c] = (dx[c] - g_mean - h[c] * gh_mean) * scale;
}

static const char *of_dx(const Mismatch *at)
{
    static char far[160];
    int r = (int)(at->first / norm.cols);
    double near = bf16_value(norm.x->bf16[at->first]), *dx = reference_f64(norm.cols),
           *h = reference_f64(norm.cols);

    for (enum variant v = AS_ASKED + 1; v < VARIANTS; v++) {
        bool same = true;
        gradients_of(dx, NULL, NULL, h, r, v);
        for (int c = 0; c < norm.cols && same; c++)
            same = fabs(bf16_value(at->out->bf16[(size_t)r * norm.cols + c]) - dx[c])
                <= 1e-4 + ROUNDED * fabs(dx[c]);
        if (same) return words[v];
    }
    if (near < 100) return NULL;
    advise("take the mean first, and then the mean of the squares of x - mean");
    snprintf(far, sizeof far,
             "All of x is near %.0f here: in float, mean(x * x) - mean * mean loses the variance.",
             near);
    return far;
}

// How many of the first rows, or of the last, have shares of column c that add up to what was got.
// 0: no number of them.
static int rows_that_give(double got, int c, bool of_h, bool last)
{
    double sum = 0, *h = reference_f64(norm.cols);
    for (int k = 0; k < norm.rows; k++) {
        int r = last ? norm.rows - 1 - k : k;
        if (of_h) normalise(h, r);
        sum += bf16_value(norm.dy->bf16[(size_t)r * norm.cols + c]) * (of_h ? h[c] : 1);
        if (fabs(got - sum) < 2e-4) return k + 1;
    }
    return 0;
}

static const char *of_sums(const Mismatch *at)
{
    static char words[160];
    int c = (int)at->first;
    double got = at->out->f32[c];
    bool of_h = at->out == norm.dgamma;

    if (of_h && rows_that_give(got, c, false, false) == norm.rows)
        return "That is dbeta: each dy was added without the factor h.";
    for (int last = 0; last < 2; last++) {
        int rows = rows_that_give(got, c, of_h, last);
        if (!rows || rows == norm.rows) continue;
        snprintf(words, sizeof words,
                 "That is the share of the %s %d rows alone: the other rows were not added.",
                 last ? "last" : "first", rows);
        return words;
    }
    return NULL;
}

// One number of 200, 201, 202 or 203 in place of each of some rows, a few in a hundred, and of one
// at least. In float, mean(x * x) - mean * mean is off by a hundredth of its variance there.
static void make_some_far(const Norm *k)
{
    enum { ONE_IN = 64, SHORTEST = 31 };
    uint32_t salt = k->x->count > 1 ? mixed(*(uint32_t *)k->x->data) : 0;
    for (int r = 1; r < k->rows && k->cols >= SHORTEST; r++) {
        uint16_t *x = k->x->bf16 + (size_t)r * k->cols;
        if (mixed(salt + (uint32_t)r) % ONE_IN && (uint32_t)r != 1 + salt % (uint32_t)(k->rows - 1))
            continue;
        for (int c = 0; c < k->cols; c++)
            x[c] = bf16_bits(200 + floor((bf16_value(x[c]) + 2.5) / 1.5));
    }
}

static Norm make_norm(int rows, int cols)
{
    size_t n = (size_t)rows * cols;
    Norm k = { output_bf16("dx", n),
               output_f32("dgamma", cols),
               output_f32("dbeta", cols),
               input_bf16("dy", n),
               input_bf16("x", n),
               input_f32("gamma", cols),
               rows,
               cols };

    as_matrix(k.dx, rows, cols);
    for (int c = 0; c < cols; c++) k.gamma->f32[c] += 1;
    for (size_t i = 0; i < n; i++) k.x->bf16[i] = bf16_bits(3 * bf16_value(k.x->bf16[i]) + 0.5);
    make_some_far(&k);
    return k;
}

static void compare_norm(const Norm *k, double absolute)
{
    double *dx = reference_f64((size_t)k->rows * k->cols), *dgamma = reference_f64(k->cols);
    double *dbeta = reference_f64(k->cols), *h = reference_f64(k->cols);

    norm = *k;
    for (int r = 0; r < k->rows; r++)
        gradients_of(dx + (size_t)r * k->cols, dgamma, dbeta, h, r, AS_ASKED);
    diagnose(of_dx);
    // In a row of one number dx is what rounding leaves of g - mean(g), times 1 / sqrt(1e-5).
    expect_close_bf16(k->dx, dx, 1e-4, ROUNDED);
    diagnose(of_sums);
    expect_close_f32(k->dgamma, dgamma, absolute, 1e-5);
    expect_close_f32(k->dbeta, dbeta, absolute, 1e-5);
}

static void ask_norm(const Norm *k)
{
    size_t n = (size_t)k->rows * k->cols;
    given("rows = %d, cols = %d", k->rows, k->cols);
    call("layer_norm_backward", device(k->dx), device(k->dgamma), device(k->dbeta), device(k->dy),
         device(k->x), device(k->gamma), i32(k->rows), i32(k->cols));
    compulsory(4 * n, 2 * n);
}

static void differentiates(int rows, int cols)
{
    Norm k = make_norm(rows, cols);
    ask_norm(&k);
    compare_norm(&k, 1e-3);
}

Check(softmax_and_norms, gradients_of_a_norm)
{
    differentiates(1, 8);
    differentiates(3, 256);
    differentiates(33, 64);
    differentiates(5, 1024);
    differentiates(2, 4096);
}

Check(softmax_and_norms, gradients_of_ragged_rows)
{
    differentiates(65, 1);
    differentiates(5, 31);
    differentiates(7, 33);
    differentiates(6, 257);
    differentiates(601, 20);
    differentiates(2, 4095);
}

Check(softmax_and_norms, gradients_without_rows) { differentiates(0, 64); }

// Near 30,000 the numbers of 16 bits are 128 apart. One number in 64 is the next above.
Check(softmax_and_norms, gradients_far_from_zero)
{
    Norm k = make_norm(9, 512);
    for (size_t i = 0; i < k.x->count; i++) k.x->bf16[i] = bf16_bits(i * 7 % 64 ? 29952 : 30080);
    ask_norm(&k);
    compare_norm(&k, 1e-3);
}

// ---- What profiles/lessons/22-softmax-and-norms.cfg measures

Check(softmax_and_norms, rows_of_a_vocabulary) { weighs(4, 131072, 131072); }
Check(softmax_and_norms, rows_of_4096) { weighs(640, 4096, 4096); }
Check(softmax_and_norms, gradients_of_1536_rows) { differentiates(1536, 1024); }

// And times on a GPU: 134 MB of compulsory traffic a call.
static void measure_softmax(int rows, int cols)
{
    size_t n = (size_t)rows * cols, sets = rotations(4 * n);
    Rows k[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        k[s] = make_rows(rows, cols, cols);
        make_some_hard(&k[s]);
        rotate("softmax", device(k[s].out), device(k[s].x), i32(rows), i32(cols), i32(cols));
        compulsory(2 * n, 2 * n);
    }
    measure();
    for (size_t s = 0; s < sets; s++) compare_rows(&k[s]);
}

Measure(softmax_and_norms, columns_1024) { measure_softmax(32768, 1024); }
Measure(softmax_and_norms, columns_4096) { measure_softmax(8192, 4096); }
Measure(softmax_and_norms, columns_32768) { measure_softmax(1024, 32768); }

// 201 MB.
Measure(softmax_and_norms, gradients_4096)
{
    enum { ROWS = 8192, COLS = 4096 };
    size_t n = (size_t)ROWS * COLS, sets = rotations(6 * n);
    Norm k[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        k[s] = make_norm(ROWS, COLS);
        rotate("layer_norm_backward", device(k[s].dx), device(k[s].dgamma), device(k[s].dbeta),
               device(k[s].dy), device(k[s].x), device(k[s].gamma), i32(ROWS), i32(COLS));
        compulsory(4 * n, 2 * n);
    }
    measure();
    for (size_t s = 0; s < sets; s++) compare_norm(&k[s], 4e-3);
}
