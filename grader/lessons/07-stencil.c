// Lesson 7: filters of all sizes over pictures of all shapes against sums in double; what lies
// beyond the edges, and what lies beyond the window; and a photograph, which comes out blurred,
// sharpened, and as a drawing of its edges. In a variant of the lesson the weights are turned, and
// something else lies beyond the edges.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_RADIUS = 4, MOST_WEIGHTS = (2 * MAX_RADIUS + 1) * (2 * MAX_RADIUS + 1) };

// What the function was given last.
static struct {
    const float *in, *weights;
    float turned[MOST_WEIGHTS]; // the weights as the filter has them
    int width, height, radius;
    int arrived; // FEW_WEIGHTS: so many
} asked;

// ---- The class's variants ----

const Variant grader_variants[] = {
#define VARIANT(name, least, largest, what, ...)                                                   \
    { #name, least, largest,                                                                       \
      "turns the weights clockwise by C quarter-turns before it filters. After one quarter-turn "  \
      "row i and column j have the weight that was in row 2 * radius - j and column i. A pixel "   \
      "outside of the picture " what },
#include "../variants/07-stencil/rows.def"
    { 0 }
};

static int clamped(int at, int count) { return at < 0 ? 0 : at >= count ? count - 1 : at; }
static int within(int at, int count) { return at >= 0 && at < count ? at : -1; }

#define VARIANT(name, least, largest, what, place)                                                 \
    static int name##_place(int at, int count) { return place; }
#include "../variants/07-stencil/rows.def"

// The row or column that counts for `at`, of `count` that there are; -1: none, and the pixel is 0.
static int placed(int at, int count)
{
    static int (*const rows[])(int at, int count) = {
#define VARIANT(name, ...) name##_place,
#include "../variants/07-stencil/rows.def"
    };
    return variant() < 0 ? clamped(at, count) : rows[variant()](at, count);
}

// The weights of a filter as they are to be used.
static void turn(float *turned, const float *weights, int radius)
{
    int side = 2 * radius + 1;

    for (int i = 0; i < side * side; i++) {
        int row = i / side, col = i % side;
        for (int k = 0; variant() >= 0 && k < variant_number(); k++) {
            int above = row;
            row = side - 1 - col;
            col = above;
        }
        turned[i] = weights[row * side + col];
    }
}

// ---- What a wrong answer is ----

// The answer, and what those get who change one thing in it. LESSONS to NOT_TURNED: in a variant.
enum variant {
    AS_ASKED,
    ZEROS,
    RUN_ON,
    AT_THE_PIXEL,
    TURNED,
    SHORT,
    FEW_WEIGHTS,
    LESSONS,
    CLAMPED,
    NOT_TURNED
};

static const char *const words[] = {
    [ZEROS] =
        "That is the sum if pixels beyond the edge count as 0. The contract takes the nearest "
        "pixel of the picture.",
    [RUN_ON] = "Beyond the end of a row this takes pixels of the next row. Clamp the column, too, "
               "not the index alone.",
    [AT_THE_PIXEL] = "That is the sum if the window begins at the pixel. It begins `radius` rows "
                     "above, and as many columns to the left.",
    [TURNED] = "That is the sum if rows and columns of the window change places: weight (i, j) "
               "belongs to row i and column j of the window.",
    [SHORT] = "That is the sum without the last row and column of the window, which has 2 * radius "
              "+ 1 of each.",
    [CLAMPED] = "The weights are turned as they should be, and the edges are those of the lesson "
                "itself: your class's variant has others.",
    [NOT_TURNED] = "The edges are right, and the weights are not turned by C quarter-turns.",
};

// Row y, column x of the picture, as the variant has it.
static double pixel(int y, int x, enum variant v)
{
    int width = asked.width, height = asked.height;
    bool inside = y >= 0 && y < height && x >= 0 && x < width, own = v == LESSONS || v == CLAMPED;
    int row = own ? clamped(y, height) : placed(y, height),
        col = own ? clamped(x, width) : placed(x, width);
    long long at = (long long)row * width + col, n = (long long)width * height;

    if (row < 0 || col < 0) return 0;
    if (v == ZEROS && !inside) return 0;
    if (v == RUN_ON) {
        at = (long long)clamped(y, height) * width + x;
        at = at < 0 ? 0 : at >= n ? n - 1 : at;
    }
    return asked.in[at];
}

static int square(int radius) { return (2 * radius + 1) * (2 * radius + 1); }

static double sum_at(int y, int x, enum variant v)
{
    int r = asked.radius, to = v == AT_THE_PIXEL ? r : 0, at = 0;
    int count = v == FEW_WEIGHTS ? asked.arrived : square(r);
    const float *weights = v == LESSONS || v == NOT_TURNED ? asked.weights : asked.turned;
    double sum = 0;

    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++, at++) {
            int down = v == TURNED ? dx : dy, right = v == TURNED ? dy : dx;
            bool left_out = at >= count || (v == SHORT && (dy == r || dx == r));
            sum += left_out ? 0 : weights[at] * pixel(y + down + to, x + right + to, v);
        }
    return sum;
}

// Which of the variants all wrong elements are, of the first few hundred.
static bool is_variant(const Mismatch *m, enum variant v)
{
    int compared = 0;

    for (size_t i = m->first; i < m->out->count && compared < 300; i++) {
        if (!m->is_wrong(i)) continue;
        double guess = sum_at((int)(i / asked.width), (int)(i % asked.width), v);
        if (!(fabs(m->out->f32[i] - guess) <= 2e-5 + 1e-5 * fabs(guess))) return false;
        compared++;
    }
    return true;
}

static const char *few_weights(const Mismatch *m)
{
    static char text[120];
    int count = square(asked.radius);

    asked.arrived = 0;
    if (is_variant(m, FEW_WEIGHTS))
        return "That is the sum if no weight arrives in `filter`: copy them before the launch.";
    while (++asked.arrived < count)
        if (is_variant(m, FEW_WEIGHTS)) {
            snprintf(text, sizeof text,
                     "That is the sum if only %d of the %d weights arrive in `filter`: the size of "
                     "a copy is in bytes.",
                     asked.arrived, count);
            return text;
        }
    return NULL;
}

// A block has 32 columns and 8 rows at least. Those of the first are right, and most of the others
// begin wrong.
static bool only_the_first_block(const Mismatch *m)
{
    enum { COLUMNS = 32, ROWS = 8 };
    size_t width = (size_t)asked.width;

    for (size_t i = 0; i < m->out->count && i < ROWS * width; i++)
        if (i % width < COLUMNS && m->is_wrong(i)) return false;
    return m->first % width % COLUMNS == 0 && m->first / width % ROWS == 0
        && !isnan(m->out->f32[m->first]) && 2 * m->wrong + COLUMNS * ROWS >= m->out->count;
}

static const char *which_variant(const Mismatch *m)
{
    if (variant() >= 0 && is_variant(m, LESSONS)) return variant_words("the filter");
    for (enum variant v = variant() < 0 ? ZEROS : CLAMPED;
         v <= (variant() < 0 ? SHORT : NOT_TURNED); v++)
        if (is_variant(m, v)) return words[v];
    if (only_the_first_block(m))
        return "The first block's pixels are right, and others begin wrong: look at what is worked "
               "out from blockIdx.";
    return few_weights(m);
}

static const char *far_pixel(const Mismatch *m)
{
    if (isnan(m->out->f32[m->first]))
        return "The sum is not a number, because 0 times an infinite pixel is none. A pixel "
               "outside the window "
               "must not be multiplied at all.";
    return NULL;
}

// A row of the picture with `r` pixels more on either side.
static void widen(float *row, const float *in, int y, int width, int height, int r)
{
    int from = placed(y, height);

    for (int x = -r; x < width + r; x++) {
        int col = x >= 0 && x < width ? x : placed(x, width);
        row[x + r] = from < 0 || col < 0 ? 0 : in[(size_t)from * width + col];
    }
}

// The sums in double, a row at a time.
static void reference(double *want, const float *in, int width, int height, const float *weights,
                      int r)
{
    int side = 2 * r + 1;
    float turned[MOST_WEIGHTS], *row;

    if (width == 0 || height == 0) return;
    row = malloc(sizeof *row * (size_t)(width + 2 * r));
    turn(turned, weights, r);
    for (int y = -r; y < height + r; y++) {
        widen(row, in, y, width, height, r);
        for (int dy = -r; dy <= r; dy++) { // the rows of which this one is in the window
            if (y - dy < 0 || y - dy >= height) continue;
            double *sum = want + (size_t)(y - dy) * width;
            for (int dx = 0; dx < side; dx++) {
                double weight = turned[(dy + r) * side + dx];
                for (int x = 0; x < width; x++) sum[x] += weight * row[x + dx];
            }
        }
    }
    free(row);
}

static void ask(Buffer *out, Buffer *in, int width, int height, Buffer *weights, int radius)
{
    turn(asked.turned, weights->f32, radius);
    asked.in = in->f32, asked.weights = weights->f32;
    asked.width = width, asked.height = height, asked.radius = radius;
    given("width = %d, height = %d, radius = %d", width, height, radius);
    as_matrix(out, height, width);
    call("convolve", device(out), device(in), i32(width), i32(height), host(weights), i32(radius));
    compulsory(4ull * width * height, 4ull * width * height);
    compulsory_operations((uint64_t)width * height * square(radius));
}

// A float that was rounded to 16 bits is off by 1e-3 or so; 81 floats add up to within 1e-5.
static void compare(Buffer *out, Buffer *in, int width, int height, Buffer *weights, int radius)
{
    double *want = reference_f64((size_t)width * height);

    reference(want, in->f32, width, height, weights->f32, radius);
    expect_close_f32(out, want, 2e-5, 1e-5);
}

static Buffer *filter_of(int radius) { return input_f32("weights", square(radius)); }

static void filters(int width, int height, int radius)
{
    size_t n = (size_t)width * height;
    Buffer *in = input_f32("in", n), *out = output_f32("out", n), *weights = filter_of(radius);

    diagnose(which_variant);
    ask(out, in, width, height, weights, radius);
    compare(out, in, width, height, weights, radius);
}

Check(stencil, whole_tiles)
{
    filters(64, 32, 1);
    filters(32, 64, 2);
    filters(256, 96, 2);
}

Check(stencil, ragged_edges)
{
    filters(sized(31, 21, 31), 33, 2);
    filters(33, sized(31, 21, 31), 2);
    filters(65, sized(7, 5, 15), 1);
    filters(sized(127, 97, 127), sized(211, 193, 220), 2);
    filters(sized(211, 193, 220), sized(127, 97, 127), 1);
}

// Vectors of four, but no whole number of them for a warp or for a block.
Check(stencil, widths_of_whole_vectors)
{
    filters(4, sized(9, 5, 12), 2);
    filters(4 * sized(9, 9, 15), 17, 1);
    filters(120, 31, 2);
    filters(124, sized(33, 33, 50), 2);
    filters(4 * sized(257, 193, 257), 5, 2);
}

Check(stencil, all_radii)
{
    for (int radius = 0; radius <= MAX_RADIUS; radius++) {
        filters(sized(101, 85, 101), sized(53, 40, 60), radius);
        filters(160, sized(53, 40, 60), radius);
    }
}

// The window reaches beyond both edges at once.
Check(stencil, smaller_than_the_window)
{
    filters(1, 1, 4);
    filters(2, 3, 4);
    filters(4, 2, 4);
    filters(3, 1, 2);
}

Check(stencil, one_row_or_column)
{
    filters(1, sized(1000, 700, 1100), 2);
    filters(4 * sized(250, 180, 280), 1, 2);
    filters(4 * sized(250, 180, 280) + 1, 1, 3);
}

Check(stencil, nothing)
{
    filters(0, 0, 2);
    filters(0, 5, 1);
    filters(5, 0, 1);
}

// All weights and pixels are above 0, so that nothing cancels; one pixel is infinite, and so are
// the sums of the windows that hold it, and no others.
Check(stencil, an_infinite_pixel)
{
    static const int radii[] = { 1, 2, 3 };
    enum { WIDTH = 132, HEIGHT = 40 };

    for (size_t k = 0; k < sizeof radii / sizeof *radii; k++) {
        int radius = radii[k];
        Buffer *in = input_f32("in", WIDTH * HEIGHT), *out = output_f32("out", WIDTH * HEIGHT),
               *weights = filter_of(radius);
        for (size_t i = 0; i < in->count; i++)
            in->f32[i] = (1 + fabsf(in->f32[i])) * (i % 3 ? 1e30f : 1e-30f);
        in->f32[17 * WIDTH + 61] = INFINITY;
        for (size_t i = 0; i < weights->count; i++) weights->f32[i] = fabsf(weights->f32[i]);
        diagnose(far_pixel);
        ask(out, in, WIDTH, HEIGHT, weights, radius);
        compare(out, in, WIDTH, HEIGHT, weights, radius);
    }
}

// ---- A photograph ----

// The bell of Gauss, so many pixels wide. Its weights add up to 1.
static float bell(int at, int radius, double width)
{
    int side = 2 * radius + 1;
    double sum = 0, here = 0;

    for (int i = 0; i < side * side; i++) {
        double dy = i / side - radius, dx = i % side - radius;
        double weight = exp(-(dy * dy + dx * dx) / (2 * width * width));
        sum += weight;
        here = i == at ? weight : here;
    }
    return (float)(here / sum);
}

enum look { AS_IT_IS, BLUR, SHARPEN, EDGES };

static void look_through(Buffer *weights, int radius, enum look look)
{
    for (int i = 0; i < (int)weights->count; i++) {
        float centre = i == (int)weights->count / 2;
        weights->f32[i] = look == BLUR    ? bell(i, radius, 2)
                        : look == SHARPEN ? 3 * centre - 2 * bell(i, radius, 2)
                                          : // twice what blurring takes away is added
                              look == EDGES ? 12 * (bell(i, radius, 0.8) - bell(i, radius, 1.6))
                                            : // where a narrow blur and a wide one differ
                              centre;
    }
}

// Pixels of 0 to 1; an edge may be bright to dark or dark to bright, and shows dark on white.
static void show(const char *name, const Buffer *out, int width, int height, bool drawing)
{
    Buffer *bytes = output_u8("picture", (size_t)width * height);

    for (size_t i = 0; i < bytes->count; i++) {
        float grey = drawing ? 1 - fabsf(out->f32[i]) : out->f32[i];
        bytes->u8[i] = (uint8_t)lroundf(255 * fminf(fmaxf(grey, 0), 1));
    }
    picture_show(name, (Picture){ bytes->u8, width, height, 1, width });
}

Check(stencil, a_photograph)
{
    static const struct {
        const char *name;
        int radius;
        enum look look;
    } picture[] = { { "before", 0, AS_IT_IS },
                    { "blurred", 4, BLUR },
                    { "sharpened", 2, SHARPEN },
                    { "edges", 3, EDGES } };
    enum { WIDTH = 448 }; // cut off to whole vectors

    Picture cat = picture_load("chelsea.png", 1);
    int height = (int)cat.height;
    Buffer *in = input_f32("in", (size_t)WIDTH * height),
           *out = output_f32("out", (size_t)WIDTH * height);
    for (size_t y = 0; y < cat.height; y++)
        for (size_t x = 0; x < WIDTH; x++)
            in->f32[y * WIDTH + x] = cat.pixels[y * cat.pitch + x] / 255.0f;

    diagnose(which_variant);
    for (size_t k = 0; k < sizeof picture / sizeof *picture; k++) {
        int radius = picture[k].radius;
        Buffer *weights = filter_of(radius);
        look_through(weights, radius, picture[k].look);
        ask(out, in, WIDTH, height, weights, radius);
        show(picture[k].name, out, WIDTH, height, picture[k].look == EDGES);
        compare(out, in, WIDTH, height, weights, radius);
    }
}

// The check that profiles/lessons/07-stencil.cfg measures: 16 MiB of compulsory traffic, 81
// multiply-and-adds a pixel, rows that begin on a sector.
Check(stencil, two_million) { filters(2048, 1024, 4); }

// What profiles/lessons/07-stencil.cfg times on a GPU: 256 MiB of compulsory traffic a call.
Measure(stencil, large)
{
    enum { WIDTH = 8192, HEIGHT = 4096, RADIUS = 4 };
    size_t n = (size_t)WIDTH * HEIGHT, sets = rotations(8 * n);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX], *weights[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_f32("in", n);
        out[s] = output_f32("out", n);
        weights[s] = filter_of(RADIUS);
        as_matrix(out[s], HEIGHT, WIDTH);
        rotate("convolve", device(out[s]), device(in[s]), i32(WIDTH), i32(HEIGHT), host(weights[s]),
               i32(RADIUS));
        compulsory(4 * n, 4 * n);
    }
    measure();
    for (size_t s = 0; s < sets; s++) compare(out[s], in[s], WIDTH, HEIGHT, weights[s], RADIUS);
}
