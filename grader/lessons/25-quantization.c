// Lesson 25: weights in a format of the student's own, which only quantized_bytes(), quantize() and
// dequantize() know. What is held is how far the weights come back from what they were, how many
// bytes that takes, and whether a product is that of the weights that come back. The program that
// has seen the weights ends first: another one gets the stored bytes.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- A matrix, and what becomes of it

typedef struct Layer {
    Buffer *w, *back; // the weights; those that come back
    Buffer *stored;   // in the format, as an input
    int rows, cols;
    int *kind;      // of each row: the first that is the same
    double largest; // magnitude
} Layer;

static Layer layer;

enum { MANY_ROWS = 2048 }; // from here on most rows are like others

// Of a weight, between two neighbouring whole numbers of the format: 127 or 7 to each side of 0.
static int levels(void)
{
    enum { SIDE = 4096 };
    double bytes = call_i32("quantized_bytes", i32(SIDE), i32(SIDE));
    return 8 * bytes / SIDE / SIDE < 7 ? 7 : 127;
}

static size_t count_of(const Layer *k) { return (size_t)k->rows * k->cols; }
static double weight(size_t i) { return bf16_value(layer.w->bf16[i]); }
static double returned(size_t i) { return bf16_value(layer.back->bf16[i]); }

static Layer make_layer(int rows, int cols)
{
    size_t n = (size_t)rows * cols;
    Layer k = { .w = input_bf16("w", n),
                .back = output_bf16("w", n),
                .rows = rows,
                .cols = cols,
                .kind = reference_i32(rows) };
    for (int r = 0; r < rows; r++) k.kind[r] = r;
    as_matrix(k.w, rows, cols);
    as_matrix(k.back, rows, cols);
    return k;
}

// Has the student's functions store the weights.
static void store(Layer *k)
{
    size_t padded = ((size_t)k->rows + 63) / 64 * 64, most = 2 * padded * k->cols + 65536;
    given("rows = %d, cols = %d", k->rows, k->cols);
    int bytes = call_i32("quantized_bytes", i32(k->rows), i32(k->cols));
    expect(bytes >= 0 && (size_t)bytes <= most,
           "quantized_bytes returned %d; it should be from 0 to %zu", bytes, most);
    for (size_t i = 0; i < count_of(k); i++)
        k->largest = fmax(k->largest, fabs(bf16_value(k->w->bf16[i])));

    Buffer *to = output_u8("to", bytes);
    call("quantize", device(to), device(k->w), i32(k->rows), i32(k->cols));
    k->stored = input_u8("from", bytes, 0, 255);
    memcpy(k->stored->u8, to->u8, bytes);
}

// Has them bring the weights back.
static void bring_back(Layer *k)
{
    given("rows = %d, cols = %d", k->rows, k->cols);
    call("dequantize", device(k->back), device(k->stored), i32(k->rows), i32(k->cols));
    layer = *k;
}

// ---- What goes wrong with the weights

typedef double Guess(size_t i);

static double negative(size_t i) { return -weight(i); }
static double neighbour(size_t i) { return weight(i ^ 1); }
static double four_apart(size_t i) { return weight(i - i % 8 + (i + 4) % 8); }
static double backwards(size_t i) { return weight(i - i % 8 + 7 - i % 8); }

// Is it what the weights come back as? 0 would be like anything that is small.
static bool explains(const Mismatch *at, Guess *guess)
{
    double near = 0, far = 0;
    for (size_t i = at->first; i < at->out->count; i++)
        if (at->is_wrong(i)) {
            near += fabs(returned(i) - guess(i));
            far += fabs(returned(i) - weight(i));
        }
    return near < far / 3;
}

// Of the wrong weights: are all nearer to 0 than they were, by less than a step?
static bool toward_zero(const Mismatch *at)
{
    bool nearer = true;
    for (size_t i = 0; i < at->out->count && nearer; i++) {
        double lost = fabs(weight(i)) - fabs(returned(i));
        nearer = lost >= -0.005 * layer.largest && lost <= layer.largest / 7 * 1.01
              && weight(i) * returned(i) >= 0;
    }
    return nearer;
}

// The factor that all of the 32 neighbours about the first wrong weight are off by; 0: there is
// none.
static double of_a_scale(const Mismatch *at)
{
    size_t first = at->first - at->first % 32;
    double both = 0, was = 0, got = 0;

    for (size_t i = first; i < first + 32; i++) {
        both += returned(i) * weight(i);
        was += weight(i) * weight(i);
        got += returned(i) * returned(i);
    }
    double factor = both / was, rest = got - factor * both;
    return rest < 0.03 * got && factor > 0 && fabs(factor - 1) > 0.2 ? factor : 0;
}

static const char *of_weights(const Mismatch *at)
{
    static char words[160];
    double got = returned(at->first), was = weight(at->first), factor;

    if (isnan(got) && layer.back->bf16[at->first] != (uint16_t)POISON) {
        advise("find what is divided by the group's largest weight");
        return "A group of zeros has the scale 0, and 0 / 0 is not a number.";
    }
    if (explains(at, neighbour))
        return "Each pair of neighbours has changed places: the first of two is in the low bits.";
    if (explains(at, four_apart) || explains(at, backwards))
        return "The weights of a word have changed places: weight i of eight is at bit 4 * i in "
               "both functions, or in neither.";
    if (at->wrong > at->out->count / 2 && explains(at, negative))
        return "All weights come back with the other sign.";
    if (toward_zero(at)) {
        advise("round to the nearest whole number: __float2int_rn");
        return "Every weight comes back nearer to 0 than it was: it was rounded toward zero.";
    }
    if ((factor = of_a_scale(at)) > 0) {
        snprintf(words, sizeof words,
                 "Its neighbours are %.2g times what they were, too: that is the scale of another "
                 "group.",
                 factor);
        advise("work out the group's number in the same way where the scale is stored and where it "
               "is used");
        return words;
    }
    if (was * got < 0) {
        advise("subtract the offset, or extend the sign, when you unpack; and keep what you store "
               "within its bits");
        return "Its sign has changed: the bits of a negative number were read as a positive one, "
               "or it went past the largest that the bits hold.";
    }
    return NULL;
}

// Has a row come back as the first of its kind has?
static bool is_as_its_kind(int row)
{
    const uint16_t *back = layer.back->bf16;
    size_t cols = layer.cols;
    return layer.kind[row] == row
        || memcmp(back + row * cols, back + layer.kind[row] * cols, 2 * cols) == 0;
}

// Of a layer with rows of few kinds, what takes the least time.
static bool is_right(const Layer *k, double absolute, double relative)
{
    bool right = true;
    for (int r = 0; r < k->rows && right; r++) {
        size_t first = (size_t)r * k->cols;
        right = is_as_its_kind(r);
        for (size_t i = first; right && k->kind[r] == r && i < first + k->cols; i++)
            right = fabs(returned(i) - weight(i)) <= absolute + relative * fabs(weight(i));
    }
    return right;
}

static void compare_weights(const Layer *k, int level)
{
    // A bf16 has 8 bits: rounding to it adds 2^-8 at most.
    double half = k->largest / level / 2, absolute = half * (1 + 1e-5) + half / 256;
    const double relative = 1.001 / 256;
    if (k->rows >= MANY_ROWS && is_right(k, absolute, relative)) return;

    double *want = reference_f64(count_of(k));
    for (size_t i = 0; i < count_of(k); i++) want[i] = weight(i);
    diagnose(of_weights);
    expect_close_bf16(k->back, want, absolute, relative);
}

static void come_back(Layer *layers, size_t count, int level)
{
    for (size_t i = 0; i < count; i++) store(&layers[i]);
    begin_anew();
    for (size_t i = 0; i < count; i++) {
        bring_back(&layers[i]);
        compare_weights(&layers[i], level);
    }
}

// ---- Weights that every format keeps to half a step: each 32 neighbours have one of the largest
// magnitude.

static void even(Layer *k, double largest)
{
    for (size_t i = 0; i < k->w->count; i++) {
        bool full = i % 32 == mixed((uint32_t)(i / 32)) % 32;
        double x = bf16_value(k->w->bf16[i]);
        k->w->bf16[i] = bf16_bits(full ? copysign(largest, x) : largest * x);
    }
}

Check(quantization, half_a_step)
{
    enum { SHAPES = 7 };
    static const int shapes[SHAPES][2] = {
        { 1, 64 },   { 3, 128 },   { 17, 192 },  { 33, 1024 },
        { 2, 4160 }, { 3, 16384 }, { 1, 65536 }, // few rows, of which a format may pad many
    };
    int level = levels();
    Layer k[SHAPES];
    for (int s = 0; s < SHAPES; s++) {
        k[s] = make_layer(shapes[s][0], shapes[s][1]);
        even(&k[s], 3.5);
    }
    come_back(k, SHAPES, level);
}

// Groups of several sizes: each of 128 columns has a magnitude of its own, so a scale that belongs
// to another group is off by 2 at least. A bf16 has its exponent from bit 7 on.
static void uneven(Layer *k)
{
    for (int row = 0; row < k->rows; row++)
        for (int col = 0; col < k->cols; col++)
            k->w->bf16[(size_t)row * k->cols + col] -= (uint16_t)((col / 128 + row) % 3 << 7);
}

Check(quantization, groups_of_several_sizes)
{
    int level = levels();
    Layer k[] = { make_layer(5, 448), make_layer(19, 1024) };
    uneven(&k[0]);
    uneven(&k[1]);
    come_back(k, 2, level);
}

Check(quantization, zeros)
{
    int level = levels();
    Layer k[] = { make_layer(7, 576), make_layer(3, 256) };
    for (size_t i = 0; i < k[0].w->count; i++) {
        int row = (int)(i / k[0].cols), col = (int)(i % k[0].cols);
        if (row == 2 || (col / 128 + row) % 2) k[0].w->bf16[i] = 0;
    }
    memset(k[1].w->bf16, 0, 2 * k[1].w->count);
    come_back(k, 2, level);
}

// ---- Outliers: what the ladder climbs

// A number of a normal distribution.
static double normal(uint32_t key)
{
    double u = (mixed(key) + 1.0) / 0x1p32, v = mixed(~key * 0x9e3779b9u) / 0x1p32;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

// Rows that are up to 128 times as large as others, each with one weight 24 times as large as its
// others.
static void with_outliers(Layer *k)
{
    uint32_t salt = mixed(k->w->bf16[0] | (uint32_t)k->w->bf16[1] << 16);
    for (int r = 0; r < k->rows; r++)
        for (int c = 0; c < k->cols; c++) {
            uint32_t at = (uint32_t)(r * k->cols + c);
            bool outlier = c == (int)(mixed(salt + r) % k->cols);
            double x = outlier ? 24 : normal(salt + at);
            k->w->bf16[at] = bf16_bits(ldexp(x, -(r % 8)));
        }
}

// The root of the mean squared error of the rows, each beside the mean square of its weights
// without the outlier.
static double error_of(const Layer *k)
{
    double all = 0;
    for (int r = 0; r < k->rows; r++) {
        double squares = 0, largest = 0, errors = 0;
        for (size_t i = (size_t)r * k->cols; i < (size_t)(r + 1) * k->cols; i++) {
            double x = weight(i);
            squares += x * x, largest = fmax(largest, x * x);
            errors += (returned(i) - x) * (returned(i) - x);
        }
        all += errors / (squares - largest) / k->rows;
    }
    return sqrt(all);
}

Check(quantization, rows_with_outliers)
{
    int level = levels();
    Layer k = make_layer(64, 4096);
    with_outliers(&k);
    come_back(&k, 1, level);
    figure("bits", 8.0 * k.stored->count / k.w->count);
    figure("error", error_of(&k));
}

// ---- Products

static Buffer *x, *y;
static double *want; // of y
static int batch;
static double off_by;

static void reference(void)
{
    const Layer *k = &layer;
    double *input = reference_f64((size_t)batch * k->cols), *row = reference_f64(k->cols);
    want = reference_f64((size_t)batch * k->rows);
    off_by = 0;
    for (size_t i = 0; i < (size_t)batch * k->cols; i++) input[i] = bf16_value(x->bf16[i]);
    for (int r = 0; r < k->rows; r++) {
        bool is_known = k->kind[r] < r && is_as_its_kind(r);
        for (int c = 0; c < k->cols && !is_known; c++) row[c] = returned((size_t)r * k->cols + c);
        for (int b = 0; b < batch; b++) {
            double sum = 0, square = 0;
            if (is_known) {
                want[(size_t)b * k->rows + r] = want[(size_t)b * k->rows + k->kind[r]];
                continue;
            }
            for (int c = 0; c < k->cols; c++) {
                double product = row[c] * input[(size_t)b * k->cols + c];
                sum += product, square += product * product;
            }
            want[(size_t)b * k->rows + r] = sum;
            off_by = fmax(off_by, square);
        }
    }
    // Weights that are rounded to bf16, or not, differ by 2^-8 at most, and by 0.4 of that on
    // average: that is six times as much. Sums in bf16 are off by far more.
    off_by = 2.5 / 256 * sqrt(off_by);
}

static const char *of_products(const Mismatch *at)
{
    double squares = 0; // of the errors
    for (size_t i = 0; i < at->out->count; i++)
        squares += pow(at->out->f32[i] - at->want(i), 2) / at->out->count;
    if (isnan(at->out->f32[at->first])) return NULL;
    if (sqrt(squares) < 10 * off_by) {
        advise("add the products in float, and multiply by the scale in float");
        return "All sums are nearly right: they were rounded on the way, to the 8 bits of a bf16.";
    }
    return "The weights that dequantize returned are right, so it is the product that reads them, "
           "or their scales, or x in another order.";
}

static void ask(const Layer *k, int of)
{
    batch = of;
    x = input_bf16("x", (size_t)batch * k->cols);
    y = output_f32("y", (size_t)batch * k->rows);
    as_matrix(y, batch, k->rows);
    Buffer *own = output_bf16("scratch", count_of(k));
    given("rows = %d, cols = %d, batch = %d", k->rows, k->cols, batch);
    call("multiply", device(y), device(k->stored), device(x), i32(k->rows), i32(k->cols),
         i32(batch), scratch(own));
    compulsory(k->stored->count + x->count * 2, y->count * 4);
    compulsory_operations((uint64_t)count_of(k) * batch);
    reference();
    diagnose(of_products);
    expect_close_f32(y, want, off_by, 0);
}

// A reference of a large matrix would take the CPU a minute, so most of its rows are of a few
// kinds, by numbers that the functions are not given. Some are like no other.
static void repeat_rows(Layer *k)
{
    enum { KINDS = 64, ALONE = 1 << 6 };
    size_t cols = k->cols;
    uneven(k);
    if (k->rows < MANY_ROWS) return;
    const int32_t *number = input_i32("kinds", k->rows, 0, KINDS * ALONE - 1)->i32;
    for (int row = KINDS; row < k->rows; row++) {
        if (number[row] / KINDS == 0) continue;
        k->kind[row] = number[row] % KINDS;
        memcpy(k->w->bf16 + row * cols, k->w->bf16 + k->kind[row] * cols, 2 * cols);
    }
}

// All layers are stored by one program.
static void multiplies(Layer *layers, size_t count, const int (*batches)[2])
{
    int level = levels();
    for (size_t i = 0; i < count; i++) {
        repeat_rows(&layers[i]);
        store(&layers[i]);
    }
    begin_anew();
    for (size_t i = 0; i < count; i++) {
        bring_back(&layers[i]);
        compare_weights(&layers[i], level);
        count_from_here();
        for (int n = 0; n < 2 && batches[i][n]; n++) ask(&layers[i], batches[i][n]);
    }
}

Check(quantization, products)
{
    static const int batches[][2] = { { 1 }, { 1, 3 }, { 2, 16 }, { 1, 9 }, { 1, 9 }, { 1 } };
    Layer k[] = { make_layer(1, 64),    make_layer(33, 192),   make_layer(16, 1024),
                  make_layer(71, 2112), make_layer(128, 2240), make_layer(192, 64) };
    multiplies(k, sizeof k / sizeof *k, batches);
}

static void multiplies_one(int rows, int cols, int of)
{
    Layer k = make_layer(rows, cols);
    multiplies(&k, 1, (const int[][2]){ { of } });
}

Check(quantization, no_rows) { multiplies_one(0, 64, 1); }

// ---- What profiles/lessons/25-quantization.cfg measures

enum { SIDE = 2048 };

Check(quantization, decoding) { multiplies_one(SIDE, SIDE, 1); }
Check(quantization, batch_of_16) { multiplies_one(SIDE, SIDE, 16); }

// And times on a GPU. A layer of 16,384 x 8,192 has 67 MB and more in 4 bits.
static void measure_products(int of)
{
    enum { ROWS = 16384, COLS = 8192 };
    int level = levels();
    Layer k = make_layer(ROWS, COLS);
    size_t sets = rotations((size_t)ROWS * COLS / 2);
    Buffer *ys[ROTATIONS_MAX], *xs[ROTATIONS_MAX];

    repeat_rows(&k);
    come_back(&k, 1, level);
    count_from_here();
    batch = of;
    for (size_t s = 0; s < sets; s++) {
        Buffer *stored = input_u8("from", k.stored->count, 0, 255);
        memcpy(stored->u8, k.stored->u8, k.stored->count);
        xs[s] = input_bf16("x", (size_t)batch * COLS);
        ys[s] = output_f32("y", (size_t)batch * ROWS);
        as_matrix(ys[s], batch, ROWS);
        rotate("multiply", device(ys[s]), device(stored), device(xs[s]), i32(ROWS), i32(COLS),
               i32(batch), scratch(output_bf16("scratch", count_of(&k))));
        compulsory(stored->count + xs[s]->count * 2, ys[s]->count * 4);
    }
    measure();
    diagnose(of_products);
    for (size_t s = 0; s < sets; s++) {
        x = xs[s];
        reference();
        expect_close_f32(ys[s], want, off_by, 0);
    }
}

Measure(quantization, decoding_large) { measure_products(1); }
Measure(quantization, batch_of_16_large) { measure_products(16); }
