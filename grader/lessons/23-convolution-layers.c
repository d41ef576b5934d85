// Lesson 23: convolutions of small whole numbers, whose sums a float has exactly, in any order, so
// that y is known to the last bit; and of fractions. Filters of all shapes, strides, dilations and
// paddings, on pictures from one pixel on.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// A layer, and what was made for it.
typedef struct Conv {
    int n, height, width, c, k, r, s, stride, pad, dilation;
    bool depthwise;
    int p, q, depth; // of y; numbers of a filter
    Buffer *y, *x, *w, *workspace;
} Conv;

static Conv asked;

static size_t pixels(const Conv *l) { return (size_t)l->n * l->p * l->q; }

// ---- The answer, and what those get who change one thing in it

enum variant {
    AS_ASKED,
    SWAPPED,
    FLIPPED,
    TURNED,
    UPSIDE_DOWN,
    NEXT_ROW,
    UNPADDED,
    NOT_DILATED,
    NO_STRIDE,
    NEXT_CHANNELS,
    BF16_SUMS,
    WITH_WORDS,
    FIRST_NUMBERS = WITH_WORDS // of a filter: so many as are `kept`
};

static int kept;

static const char *const words[WITH_WORDS] = {
    [SWAPPED] =
        "That is the answer if stride and dilation change places: the window moves by `stride`, "
        "and the filter's own pixels are `dilation` apart.",
    [FLIPPED] = "That is the answer if the filter is flipped: its first number belongs to the "
                "window's first pixel.",
    [TURNED] = "That is the answer if u and v, the row and column of the filter, change places.",
    [UPSIDE_DOWN] = "That is the answer if the filter is upside down: row u of the filter meets "
                    "row i * stride - pad + u * dilation of x.",
    [NEXT_ROW] = "That is the answer if a column outside of the picture is read from the "
                 "neighbouring row: "
                 "col = -1 is the last pixel of the row above. The padding is 0.",
    [UNPADDED] = "That is the answer without `pad`: the first window begins `pad` rows above the "
                 "picture, "
                 "and `pad` columns left of it.",
    [NOT_DILATED] = "That is the answer with a dilation of 1.",
    [NO_STRIDE] = "That is the answer with a stride of 1.",
    [NEXT_CHANNELS] = "That is the answer with the filters of the eight channels after its own.",
    [BF16_SUMS] = "That is the answer if the sum is rounded to bf16 after each pixel of the "
                  "filter: keep it in a float.",
};

static double filter_number(int f, int u, int v, int ch, enum variant how)
{
    const Conv *l = &asked;
    if (how == UPSIDE_DOWN) u = l->r - 1 - u;
    if (how == FLIPPED) u = l->r - 1 - u, v = l->s - 1 - v;
    if (how == TURNED) {
        if (l->r != l->s) return NAN;
        int row = u;
        u = v, v = row;
    }
    if (how == NEXT_CHANNELS) ch = (ch + 8) % l->c;
    size_t at = ((size_t)u * l->s + v) * l->c + ch;
    return bf16_value(l->w->bf16[(l->depthwise ? 0 : (size_t)f * l->depth) + at]);
}

static double pixel_number(int b, int row, int col, int ch, enum variant how)
{
    const Conv *l = &asked;
    bool inside = row >= 0 && row < l->height && col >= 0 && col < l->width;
    int place = row * l->width + col; // in the picture

    if (how == NEXT_ROW) inside = place >= 0 && place < l->height * l->width;
    if (!inside) return 0;
    return bf16_value(l->x->bf16[((size_t)b * l->height * l->width + place) * l->c + ch]);
}

// Number f of pixel (i, j) of picture b.
static double number_of(int b, int i, int j, int f, enum variant how)
{
    const Conv *l = &asked;
    int stride = how == SWAPPED ? l->dilation : how == NO_STRIDE ? 1 : l->stride;
    int dilation = how == SWAPPED ? l->stride : how == NOT_DILATED ? 1 : l->dilation;
    int pad = how == UNPADDED ? 0 : l->pad, channels = l->depthwise ? 1 : l->c;
    double sum = 0;

    for (int u = 0; u < l->r; u++)
        for (int v = 0; v < l->s; v++) {
            for (int e = 0; e < channels; e++) {
                int ch = l->depthwise ? f : e;
                if (how == FIRST_NUMBERS && (u * l->s + v) * l->c + ch >= kept) continue;
                sum += pixel_number(b, i * stride - pad + u * dilation,
                                    j * stride - pad + v * dilation, ch, how)
                     * filter_number(f, u, v, ch, how);
            }
            if (how == BF16_SUMS) sum = bf16_value(bf16_bits(sum));
        }
    return sum;
}

// ---- What goes wrong

static double off_by; // what is allowed, beside what rounding makes

static bool explains(const Mismatch *at, enum variant how)
{
    int k = asked.depthwise ? asked.c : asked.k;
    size_t apart = at->wrong / 50 + 1, seen = 0;

    for (size_t e = at->first; e < at->out->count; e++) {
        if (!at->is_wrong(e) || seen++ % apart) continue;
        size_t m = e / k;
        int b = (int)(m / ((size_t)asked.p * asked.q)), i = (int)(m / asked.q % asked.p);
        double guess = number_of(b, i, (int)(m % asked.q), (int)(e % k), how);
        if (!(fabs(bf16_value(at->out->bf16[e]) - guess) <= off_by + 0.0041 * fabs(guess)))
            return false;
    }
    return true;
}

// The last columns of the matrix are missing: those beyond a whole number of tiles.
static const char *lost_depth(const Mismatch *at)
{
    static const int tiles[] = { 32, 64, 16, 128 }; // the exercise's first
    static char said[160];

    for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++) {
        kept = asked.depth / tiles[t] * tiles[t];
        if (asked.depthwise || kept == asked.depth || !explains(at, FIRST_NUMBERS)) continue;
        snprintf(said, sizeof said,
                 "It lacks the last %d of %d products: r * s * c is not a multiple of %d.",
                 asked.depth - kept, asked.depth, tiles[t]);
        return said;
    }
    return NULL;
}

static const char *which(const Mismatch *at)
{
    for (enum variant how = AS_ASKED + 1; how < WITH_WORDS; how++)
        if (explains(at, how)) return words[how];
    return lost_depth(at);
}

static const char *of_any_size(const Mismatch *at)
{
    (void)at;
    return "A bf16 has a float's range: x is near 2^60 here, and w near 2^-60. As halves they "
           "would be infinite or 0.";
}

// ---- The checks

static Conv conv(bool depthwise, int n, int height, int width, int c, int k, int r, int s,
                 int stride, int pad, int dilation)
{
    Conv l = { .n = n, .height = height, .width = width, .c = c, .k = depthwise ? c : k, .r = r };
    l.s = s, l.stride = stride, l.pad = pad, l.dilation = dilation, l.depthwise = depthwise;
    l.p = (height + 2 * pad - dilation * (r - 1) - 1) / stride + 1;
    l.q = (width + 2 * pad - dilation * (s - 1) - 1) / stride + 1;
    l.depth = r * s * c;
    l.y = output_bf16("y", pixels(&l) * l.k);
    l.x = input_bf16("x", (size_t)n * height * width * c);
    l.w = input_bf16("w", depthwise ? (size_t)l.depth : (size_t)l.depth * k);
    as_matrix(l.y, pixels(&l), l.k);
    if (!depthwise) l.workspace = output_bf16("workspace", pixels(&l) * l.depth);
    return l;
}

// From -4 to 4, but 0.
static void whole(Buffer *b)
{
    for (size_t i = 0; i < b->count; i++) {
        double x = bf16_value(b->bf16[i]);
        b->bf16[i] = bf16_bits((int)(x * 4) + (x > 0 ? 1 : -1));
    }
}

static void say(const Conv *l)
{
    if (l->depthwise)
        given("depthwise, n = %d, %d x %d pixels, c = %d, filter %d x %d, stride %d, pad %d, "
              "dilation %d",
              l->n, l->height, l->width, l->c, l->r, l->s, l->stride, l->pad, l->dilation);
    else
        given("n = %d, %d x %d pixels, c = %d, k = %d, filter %d x %d, stride %d, pad %d, dilation "
              "%d",
              l->n, l->height, l->width, l->c, l->k, l->r, l->s, l->stride, l->pad, l->dilation);
}

static void ask(const Conv *l)
{
    asked = *l;
    say(l);
    if (l->depthwise)
        call("convolve_depthwise", device(l->y), device(l->x), device(l->w), i32(l->n),
             i32(l->height), i32(l->width), i32(l->c), i32(l->r), i32(l->s), i32(l->stride),
             i32(l->pad), i32(l->dilation));
    else
        call("convolve", device(l->y), device(l->x), device(l->w), scratch(l->workspace), i32(l->n),
             i32(l->height), i32(l->width), i32(l->c), i32(l->k), i32(l->r), i32(l->s),
             i32(l->stride), i32(l->pad), i32(l->dilation));
    compulsory(2 * (l->x->count + l->w->count), 2 * l->y->count);
    compulsory_operations(pixels(l) * l->depth * (l->depthwise ? 1 : l->k));
}

// The filters, as rows of numbers for the same place in all: w_of[d * kinds + f].
static double *filters_by_place(const Conv *l, int kinds)
{
    double *w = reference_f64((size_t)l->depth * kinds);
    for (int f = 0; f < kinds; f++)
        for (int d = 0; d < l->depth; d++)
            w[(size_t)d * kinds + f] = bf16_value(l->w->bf16[(size_t)f * l->depth + d]);
    return w;
}

// The sums of a pixel of y, of the first `kinds` filters.
static void sums_of(double *sum, const double *x, const double *w, const Conv *l, int kinds, int b,
                    int i, int j)
{
    memset(sum, 0, kinds * sizeof *sum);
    for (int u = 0; u < l->r; u++)
        for (int v = 0; v < l->s; v++) {
            int row = i * l->stride - l->pad + u * l->dilation;
            int col = j * l->stride - l->pad + v * l->dilation;
            if (row < 0 || row >= l->height || col < 0 || col >= l->width) continue;
            const double *from = x + (((size_t)b * l->height + row) * l->width + col) * l->c;
            const double *by = w + (size_t)(u * l->s + v) * l->c * (l->depthwise ? 1 : kinds);
            for (int ch = 0; ch < l->c; ch++)
                if (l->depthwise) sum[ch] += from[ch] * by[ch];
                else
                    for (int f = 0; f < kinds; f++) sum[f] += from[ch] * by[(size_t)ch * kinds + f];
        }
}

// y, where filter f is the same as filter f % kinds.
static double *answer(const Conv *l, int kinds)
{
    double *want = reference_f64(l->y->count), *x = reference_f64(l->x->count);
    double *w = l->depthwise ? reference_f64(l->depth) : filters_by_place(l, kinds);
    double *sum = reference_f64(kinds);

    for (size_t e = 0; e < l->x->count; e++) x[e] = bf16_value(l->x->bf16[e]);
    for (int d = 0; l->depthwise && d < l->depth; d++) w[d] = bf16_value(l->w->bf16[d]);
    for (size_t m = 0; m < pixels(l); m++) {
        int b = (int)(m / ((size_t)l->p * l->q)), i = (int)(m / l->q % l->p);
        sums_of(sum, x, w, l, kinds, b, i, (int)(m % l->q));
        for (int f = 0; f < l->k; f++) want[m * l->k + f] = sum[f % kinds];
    }
    return want;
}

static void exactly(Conv l)
{
    whole(l.x), whole(l.w);
    off_by = 0;
    diagnose(which);
    ask(&l);
    double *want = answer(&l, l.k);
    for (size_t e = 0; e < l.y->count; e++) want[e] = bf16_value(bf16_bits(want[e]));
    expect_close_bf16(l.y, want, 0, 0);
}

// A float's sum, rounded once to 8 bits, is off by 2^-8 of it at most, and by what a float's sum of
// so many products below 1 loses.
static void closely(Conv l, const char *(*explain)(const Mismatch *))
{
    off_by = 1e-6 + l.depth * 1e-6;
    diagnose(explain);
    ask(&l);
    expect_close_bf16(l.y, answer(&l, l.k), off_by, 0.0041);
}

static Conv full(int n, int height, int width, int c, int k, int r, int s, int stride, int pad,
                 int dilation)
{
    return conv(false, n, height, width, c, k, r, s, stride, pad, dilation);
}

static Conv depthwise(int n, int height, int width, int c, int r, int s, int stride, int pad,
                      int dilation)
{
    return conv(true, n, height, width, c, 0, r, s, stride, pad, dilation);
}

Check(convolution_layers, filters_of_one_pixel)
{
    exactly(full(1, 8, 8, 32, 64, 1, 1, 1, 0, 1));
    exactly(full(2, 5, 7, 8, 8, 1, 1, 1, 0, 1));
}

Check(convolution_layers, padded_filters)
{
    exactly(full(1, 8, 8, 32, 64, 3, 3, 1, 1, 1));
    exactly(full(3, 7, 5, 8, 16, 3, 3, 1, 1, 1));
    exactly(full(2, 1, 1, 16, 8, 3, 3, 1, 1, 1));
    exactly(full(1, 6, 9, 24, 72, 5, 5, 1, 2, 1));
}

Check(convolution_layers, filters_of_all_shapes)
{
    exactly(full(2, 5, 9, 8, 8, 3, 3, 1, 0, 1));
    exactly(full(1, 6, 11, 16, 24, 1, 3, 1, 1, 1));
    exactly(full(1, 9, 5, 8, 40, 3, 1, 1, 1, 1));
    exactly(full(1, 8, 9, 8, 8, 2, 5, 1, 3, 1));
}

Check(convolution_layers, strides)
{
    exactly(full(2, 9, 13, 8, 32, 3, 3, 2, 1, 1));
    exactly(full(1, 17, 15, 8, 64, 7, 7, 2, 3, 1));
    exactly(full(1, 10, 11, 16, 8, 2, 3, 3, 0, 1));
    exactly(full(1, 9, 8, 40, 24, 1, 1, 2, 0, 1));
}

Check(convolution_layers, dilations)
{
    exactly(full(1, 9, 10, 8, 32, 3, 3, 1, 2, 2));
    exactly(full(2, 13, 11, 8, 16, 3, 2, 3, 1, 2));
}

// Windows that lie in the padding as a whole.
Check(convolution_layers, wide_padding)
{
    exactly(full(1, 3, 2, 8, 8, 2, 2, 1, 5, 1));
    exactly(depthwise(1, 3, 2, 8, 3, 3, 1, 5, 1));
}

Check(convolution_layers, no_pictures)
{
    exactly(full(0, 8, 8, 8, 8, 3, 3, 1, 1, 1));
    exactly(depthwise(0, 8, 8, 8, 3, 3, 1, 1, 1));
}

Check(convolution_layers, fractions)
{
    closely(full(1, 7, 6, 72, 40, 3, 3, 1, 1, 1), which);
    closely(depthwise(2, 9, 8, 24, 5, 3, 1, 1, 1), which);
}

Check(convolution_layers, large_and_small)
{
    Conv l = full(1, 5, 6, 16, 24, 3, 3, 1, 1, 1);
    for (size_t e = 0; e < l.x->count; e++)
        l.x->bf16[e] = bf16_bits(ldexp(bf16_value(l.x->bf16[e]), 60));
    for (size_t e = 0; e < l.w->count; e++)
        l.w->bf16[e] = bf16_bits(ldexp(bf16_value(l.w->bf16[e]), -60));
    closely(l, of_any_size);
}

Check(convolution_layers, depthwise_filters)
{
    exactly(depthwise(2, 8, 8, 32, 3, 3, 1, 1, 1));
    exactly(depthwise(1, 33, 7, 8, 3, 3, 1, 1, 1));
    exactly(depthwise(3, 15, 5, 24, 3, 3, 1, 0, 1));
    exactly(depthwise(2, 1, 1, 16, 3, 3, 1, 1, 1));
    exactly(depthwise(1, 29, 18, 136, 3, 3, 1, 2, 1));
    exactly(depthwise(1, 7, 9, 16, 5, 2, 1, 2, 1));
}

Check(convolution_layers, depthwise_strides)
{
    exactly(depthwise(2, 9, 13, 16, 3, 3, 2, 1, 1));
    exactly(depthwise(1, 12, 9, 24, 3, 3, 1, 2, 2));
    exactly(depthwise(1, 14, 15, 8, 3, 3, 3, 1, 2));
}

// ---- What profiles/lessons/23-convolution-layers.cfg measures

// A layer of a network: 32 blocks of 64 x 64 sums.
Check(convolution_layers, layer_of_64_filters) { exactly(full(2, 32, 32, 32, 64, 3, 3, 1, 1, 1)); }

Check(convolution_layers, depthwise_layer) { exactly(depthwise(2, 112, 112, 64, 3, 3, 1, 1, 1)); }

// And times on a GPU. A reference of so many sums would take the CPU a minute, so there are only so
// many kinds of filters, in turns.
enum { KINDS = 4 };

static void measured(Conv make(void))
{
    Conv l = make(), set[ROTATIONS_MAX];
    size_t sets = rotations(2 * (l.x->count + l.w->count + l.y->count));

    for (size_t i = 0; i < sets; i++) {
        set[i] = l = i ? make() : l;
        if (l.depthwise) {
            rotate("convolve_depthwise", device(l.y), device(l.x), device(l.w), i32(l.n),
                   i32(l.height), i32(l.width), i32(l.c), i32(l.r), i32(l.s), i32(l.stride),
                   i32(l.pad), i32(l.dilation));
        } else {
            for (size_t e = (size_t)KINDS * l.depth; e < l.w->count; e++)
                l.w->bf16[e] = l.w->bf16[e % ((size_t)KINDS * l.depth)];
            rotate("convolve", device(l.y), device(l.x), device(l.w), scratch(l.workspace),
                   i32(l.n), i32(l.height), i32(l.width), i32(l.c), i32(l.k), i32(l.r), i32(l.s),
                   i32(l.stride), i32(l.pad), i32(l.dilation));
        }
        compulsory(2 * (l.x->count + l.w->count), 2 * l.y->count);
    }
    measure();

    diagnose(which);
    for (size_t i = 0; i < sets; i++) {
        asked = set[i];
        off_by = 1e-6 + asked.depth * 1e-6;
        expect_close_bf16(asked.y, answer(&asked, asked.depthwise ? asked.c : KINDS), off_by,
                          0.0041);
    }
}

// Two layers of ResNet-50, and one of a network of depthwise layers.
static Conv of_56(void) { return full(32, 56, 56, 64, 64, 3, 3, 1, 1, 1); }
static Conv of_14(void) { return full(32, 14, 14, 256, 256, 3, 3, 1, 1, 1); }
static Conv of_112(void) { return depthwise(32, 112, 112, 64, 3, 3, 1, 1, 1); }

Measure(convolution_layers, pixels_56) { measured(of_56); }
Measure(convolution_layers, pixels_14) { measured(of_14); }
Measure(convolution_layers, depthwise_112) { measured(of_112); }
