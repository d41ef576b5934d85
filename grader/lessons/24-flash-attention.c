// Lesson 24: attention against a reference in double, made of the very numbers of 16 bits that the
// function is given. Lengths on both sides of every tile, each with some queries whose scores reach
// hundreds; rows whose maximum moves with each key, or stays far below 0; and heads of which most
// keys are of few kinds, so that long ones can be worked out.
#include "grader.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// A result is rounded once to 8 bits, which moves it by 2^-8 of it at most. Each weight may be
// rounded, too, which moves the mean of values below 1 by 2^-8 at most.
static const double ROUNDED = 0.0041, WEIGHTS = 0.004;

// What a call was given. Values are doubles, so that a row is soon worked out.
static struct Asked {
    Buffer *out, *q, *k, *v;
    double *query, *key, *value;
    int heads, length, width;
    bool causal;
    int *kind, *first; // of each key of a head; the first key of each kind (make_kinds)
} asked;

static double *doubles(const Buffer *b)
{
    double *to = reference_f64(b->count);
    for (size_t i = 0; i < b->count; i++) to[i] = bf16_value(b->bf16[i]);
    return to;
}

static double dot(const double *a, const double *b, int n)
{
    double sum[4] = { 0 }; // four chains, so that none waits for the one before
    for (int i = 0; i < n; i += 4)
        for (int j = 0; j < 4; j++) sum[j] += a[i + j] * b[i + j];
    return sum[0] + sum[1] + sum[2] + sum[3];
}

static const double *row_of(const double *matrix, int head, int row)
{
    return matrix + ((size_t)head * asked.length + row) * asked.width;
}

static double score(int head, int row, int key)
{
    return dot(row_of(asked.query, head, row), row_of(asked.key, head, key), asked.width)
         / sqrt(asked.width);
}

// ---- Rows with a mistake

// What is done otherwise than the contract says, in tiles of so many keys.
typedef struct Mistake {
    enum {
        RIGHT,
        NOT_SCALED,        // not divided by the root of the width
        SCALED_TWICE,      //
        ALL_SEEN,          // no mask
        MASKED,            // a mask where causal is 0
        SELF_UNSEEN,       // key < row
        NEXT_SEEN,         // key <= row + 1
        PADDED,            // keys beyond the end have a score of 0
        TILE_LEFT_OUT,     // no tile that is not full
        DIAGONAL_LEFT_OUT, // no tile that has masked scores
        SUM_STAYS,         // the sum of weights is not corrected
        VALUES_STAY,       // the sums of values are not corrected
        UNDIVIDED,
        VALUES_TURNED, // within 8 x 8 values
        PARTS_SWAPPED, // the second and third register of P
        FIRST_HEAD,    // its keys and values
        TILES_SKIPPED, // those after the query's own, where causal is 0
        LANES_MAXIMA,  // each of the four lanes that share a row has its own maximum
        LANES_SUMS,    // and its own sum of weights
        MISTAKES
    } kind;
    int tile;
} Mistake;

// The score of a key that takes part, else -INFINITY.
static double score_with(Mistake x, int head, int row, int key)
{
    bool causal = x.kind == MASKED || (asked.causal && x.kind != ALL_SEEN);
    int last = x.kind == SELF_UNSEEN ? row - 1 : x.kind == NEXT_SEEN ? row + 1 : row;

    if (x.kind == TILE_LEFT_OUT && key >= asked.length / x.tile * x.tile) return -INFINITY;
    if (x.kind == DIAGONAL_LEFT_OUT && key >= row / x.tile * x.tile) return -INFINITY;
    if (causal && key > last) return -INFINITY;
    if (x.kind == TILES_SKIPPED && key / x.tile > row / x.tile) return -INFINITY;
    if (key >= asked.length) return x.kind == PADDED ? 0 : -INFINITY;
    double root = sqrt(asked.width);
    double s = dot(row_of(asked.query, head, row),
                   row_of(asked.key, x.kind == FIRST_HEAD ? 0 : head, key), asked.width)
             / root;
    return x.kind == NOT_SCALED ? s * root : x.kind == SCALED_TWICE ? s / root : s;
}

// The weight of a key, by the maximum m of the row.
static double weight_with(Mistake x, int head, int row, int key, double m)
{
    if (x.kind == PARTS_SWAPPED && (row % 16 < 8) != (key % 16 < 8)) {
        int other = row % 16 < 8 ? row + 8 : row - 8;
        key += row % 16 < 8 ? -8 : 8;
        if (other >= asked.length || key >= asked.length) return 0;
        double most = -INFINITY;
        for (int j = 0; j < asked.length; j++) most = fmax(most, score_with(x, head, other, j));
        return exp(score_with(x, head, other, key) - most);
    }
    double s = score_with(x, head, row, key);
    return s == -INFINITY ? 0 : exp(s - m);
}

static double value_with(Mistake x, int head, int key, int d)
{
    if (key >= asked.length) return 0;
    if (x.kind == VALUES_TURNED) {
        int turned = key - key % 8 + d % 8;
        d += key % 8 - d % 8, key = turned;
        if (key >= asked.length) return 0;
    }
    return row_of(asked.value, x.kind == FIRST_HEAD ? 0 : head, key)[d];
}

// Of four lanes that share a row, the one that has a key's score, or a column of the values.
enum { LANES = 4 };
static int lane_of(int at) { return at % 8 / 2; }

// Row `row` of `out`, worked out tile by tile, as such a program does. All lanes have the same
// maximum and sum, but for two of the mistakes.
static void row_with(Mistake x, int head, int row, double *out)
{
    int tile = x.tile ? x.tile : asked.length, width = asked.width;
    double m[LANES] = { -INFINITY, -INFINITY, -INFINITY, -INFINITY }, total[LANES] = { 0 };

    for (int d = 0; d < width; d++) out[d] = 0;
    for (int first = 0; first < asked.length; first += tile) {
        double most[LANES], factor[LANES];
        for (int l = 0; l < LANES; l++) most[l] = m[l];
        for (int j = first; j < first + tile; j++)
            for (int l = 0; l < LANES; l++)
                if (x.kind != LANES_MAXIMA || lane_of(j) == l)
                    most[l] = fmax(most[l], score_with(x, head, row, j));
        for (int l = 0; l < LANES; l++) {
            factor[l] = m[l] == -INFINITY ? 0 : exp(m[l] - most[l]);
            m[l] = most[l];
            if (x.kind != SUM_STAYS) total[l] *= factor[l];
        }
        for (int d = 0; d < width && x.kind != VALUES_STAY; d++) out[d] *= factor[lane_of(d)];
        for (int j = first; j < first + tile; j++) {
            double own = score_with(x, head, row, j), most_j = m[lane_of(j)];
            double p = weight_with(x, head, row, j, most_j);
            total[lane_of(j)] += own == -INFINITY ? 0 : exp(own - most_j);
            for (int d = 0; d < width && p > 0; d++) out[d] += p * value_with(x, head, j, d);
        }
    }
    for (int d = 0; d < width && x.kind != UNDIVIDED; d++)
        out[d] /=
            x.kind == LANES_SUMS ? total[lane_of(d)] : total[0] + total[1] + total[2] + total[3];
}

// ---- What to say of a wrong row

static const struct {
    const char *words, *next;
    bool in_tiles;
} known[MISTAKES] = {
    [NOT_SCALED] = { "That is what scores give that were not divided by the root of width.",
                     "divide each score by sqrt(width)", false },
    [SCALED_TWICE] = { "That is what scores give that were divided by the root of width twice.",
                       "scale either the query or the score, and not both", false },
    [ALL_SEEN] = { "That is the mean over all keys, but causal is 1: a query must not see the keys "
                   "after it.",
                   "where causal is 1, let only the keys up to the query's own row count", false },
    [MASKED] = { "That is the mean over the keys up to the query, but causal is 0: it sees all "
                 "keys.",
                 "mask scores only where causal is 1", false },
    [SELF_UNSEEN] = { "So it is if a query does not see the key of its own row: the mask is off "
                      "by one.",
                      "let the keys up to the query's own row count, its own included", false },
    [NEXT_SEEN] = { "So it is if a query sees the key after its own row: the mask is off by one.",
                    "let the keys up to the query's own row count, and no more", false },
    [PADDED] = { "So it is if keys beyond the last have a weight: their rows in the tile are 0, so "
                 "their scores are 0, and a score of 0 has a weight.",
                 "give the keys beyond the last a score of -INFINITY", true },
    [TILE_LEFT_OUT] = { "So it is if the last keys, which do not fill a tile, are left out.",
                        "go on while first < length, and mask the keys beyond the last", true },
    [DIAGONAL_LEFT_OUT] = { "So it is if the tile with the query's own key is left out: some of "
                            "its keys are masked, but not all.",
                            "skip only the tiles of which the block's last query sees no key",
                            true },
    [SUM_STAYS] = { "So it is if the sum of the weights is not corrected when the maximum moves.",
                    "multiply the sum of the weights by exp(old maximum - new maximum)", true },
    [VALUES_STAY] = { "So it is if the sums of the values are not corrected when the maximum "
                      "moves.",
                      "multiply the sums of the values by exp(old maximum - new maximum), too",
                      true },
    [UNDIVIDED] = { "Those are the sums of values: they were not divided by the sum of the "
                    "weights.",
                    "divide by the sum of the weights, once, before you store", false },
    [VALUES_TURNED] = { "So it is if each 8 x 8 tile of V is turned: a lane needs two neighbours "
                        "of a column of V, which ldmatrix gives it with .trans.",
                        "load V's fragments with load_turned", false },
    [PARTS_SWAPPED] = { "So it is if the second and the third register of P change places: the "
                        "second holds rows 8 to 15 of the left half, the third rows 0 to 7 of the "
                        "right half.",
                        "compare the order of the four registers with the figure", false },
    [FIRST_HEAD] = { "That is this head's query with the keys and values of head 0.",
                     "begin in k and v where this head begins: head * length * width", false },
    [TILES_SKIPPED] = { "So it is if tiles after the query's own are skipped, but causal is 0: the "
                        "query sees all keys.",
                        "skip tiles only where causal is 1", true },
    [LANES_MAXIMA] = { "So it is if each of the four lanes that share a row has a maximum of its "
                       "own: their weights do not go together.",
                       "take the maximum of the four lanes, by shuffles over lanes 1 and 2 away",
                       true },
    [LANES_SUMS] = { "So it is if a lane divides by the weights that it has itself: each of the "
                     "four lanes that share a row has a quarter of the keys.",
                     "add up the sums of the four lanes before you divide", false },
};

static double got_at(const Mismatch *at, size_t row, int d)
{
    return bf16_value(at->out->bf16[row * asked.width + d]);
}

// Is that what the row holds? Numbers that the mistake makes large are off by more. *finite: how
// many of them say so that are numbers at all.
static bool gives(Mistake x, const Mismatch *at, size_t row, int *finite)
{
    double out[128], largest = 1;

    row_with(x, (int)(row / asked.length), (int)(row % asked.length), out);
    for (int d = 0; d < asked.width; d++) largest = fmax(largest, fabs(out[d]));
    for (int d = 0; d < asked.width; d++) {
        double got = got_at(at, row, d);
        if (isnan(got) && isnan(out[d])) continue;
        if (!(fabs(got - out[d]) <= WEIGHTS * largest + ROUNDED * fabs(out[d]))) return false;
        ++*finite;
    }
    return true;
}

// The last wrong row shows the mistake as well.
static size_t last_wrong_row(const Mismatch *at)
{
    size_t i = at->out->count - 1;
    while (i > at->first && !at->is_wrong(i)) i--;
    return i / asked.width;
}

static const char *of_great_scores(size_t row)
{
    static char words[160];
    int head = (int)(row / asked.length), i = (int)(row % asked.length);
    double most = -INFINITY;
    for (int j = 0; j < (asked.causal ? i + 1 : asked.length); j++)
        most = fmax(most, score(head, i, j));
    if (fabs(most) < 88) return NULL;
    advise(most < 0 ? "begin with a maximum of -INFINITY"
                    : "subtract the largest score so far before the exponential");
    snprintf(words, sizeof words,
             most < 0
                 ? "No score of this row is above %.0f. If the maximum begins at 0 all weights "
                   "are 0, and 0 / 0 is nan."
                 : "Scores of this row reach %.0f, and e to the power of 89 is infinite in a "
                   "float already.",
             most);
    return words;
}

static const char *of_a_mistake(const Mismatch *at)
{
    static const int tiles[] = { 1, 8, 16, 32, 64, 128 };
    size_t row = at->first / asked.width, other = last_wrong_row(at);

    for (Mistake x = { RIGHT + 1, 0 }; x.kind < MISTAKES; x.kind++)
        for (size_t t = 0; t < (known[x.kind].in_tiles ? sizeof tiles / sizeof *tiles : 1); t++) {
            x.tile = known[x.kind].in_tiles ? tiles[t] : 0;
            int finite = 0;
            if (!gives(x, at, row, &finite) || !gives(x, at, other, &finite) || !finite) continue;
            advise(known[x.kind].next);
            return known[x.kind].words;
        }
    return of_great_scores(row);
}

static const char *of_rising_scores(const Mismatch *at)
{
    const char *says = of_a_mistake(at);
    if (says) return says;
    advise("when the maximum moves from m to a larger M, multiply all sums so far by exp(m - M)");
    return "The scores of this row rise from key to key, so the maximum moves in every tile.";
}

// ---- The calls

// Queries are large, so that a few keys have most of the weight of a row.
enum { LOUD = 8 };

static void make(int heads, int length, int width, bool causal)
{
    size_t count = (size_t)heads * length * width;
    asked = (struct Asked){ .out = output_bf16("out", count),
                            .q = input_bf16("q", count),
                            .k = input_bf16("k", count),
                            .v = input_bf16("v", count),
                            .heads = heads,
                            .length = length,
                            .width = width,
                            .causal = causal };
    for (size_t i = 0; i < count; i++)
        asked.q->bf16[i] = bf16_bits(LOUD * bf16_value(asked.q->bf16[i]));
    as_matrix(asked.out, (size_t)heads * length, width);
    given("heads = %d, length = %d, width = %d, causal = %d", heads, length, width, causal);
}

static void ask(void)
{
    struct Asked *x = &asked;
    uint64_t pairs = (uint64_t)x->length * (x->causal ? x->length + 1 : 2 * x->length) / 2;

    call("attention", device(x->out), device(x->q), device(x->k), device(x->v), i32(x->heads),
         i32(x->length), i32(x->width), i32(x->causal));
    compulsory(6 * x->q->count, 2 * x->q->count);
    compulsory_operations(2 * pairs * x->heads * x->width);
}

static void read_inputs(void)
{
    asked.query = doubles(asked.q), asked.key = doubles(asked.k), asked.value = doubles(asked.v);
}

static void compare(const char *(*explain)(const Mismatch *))
{
    double *want = reference_f64(asked.out->count);

    read_inputs();
    for (size_t row = 0; row < (size_t)asked.heads * asked.length; row++) {
        double *to = want + row * asked.width, sum = 0, m = -INFINITY;
        int head = (int)(row / asked.length), i = (int)(row % asked.length);
        int keys = asked.causal ? i + 1 : asked.length;
        double *s = reference_f64(keys);
        for (int j = 0; j < keys; j++) m = fmax(m, s[j] = score(head, i, j));
        for (int j = 0; j < keys; j++) {
            const double *value = row_of(asked.value, head, j);
            double p = exp(s[j] - m);
            sum += p;
            for (int d = 0; d < asked.width; d++) to[d] += p * value[d];
        }
        for (int d = 0; d < asked.width; d++) to[d] /= sum;
    }
    diagnose(explain);
    expect_close_bf16(asked.out, want, WEIGHTS, ROUNDED);
}

// An eighth of the queries after the first, by the random numbers, are so loud that scores of most
// reach hundreds.
static void make_some_louder(void)
{
    enum { ONE_IN = 8, LOUDER = 32 };
    uint32_t salt = asked.q->count ? mixed(*(uint32_t *)asked.q->data) : 0;
    for (size_t i = asked.width; i < asked.q->count; i++)
        if (mixed(salt + (uint32_t)(i / asked.width)) % ONE_IN == 0)
            asked.q->bf16[i] = bf16_bits(LOUDER * bf16_value(asked.q->bf16[i]));
}

static void attends(int heads, int length, int width, bool causal)
{
    make(heads, length, width, causal);
    make_some_louder();
    ask();
    compare(of_a_mistake);
}

Check(flash_attention, whole_tiles)
{
    attends(2, 64, 64, false);
    attends(2, 128, 64, true);
    attends(1, 192, 64, false);
}

Check(flash_attention, ragged_ends)
{
    attends(1, 200, 64, false);
    attends(2, 127, 64, false);
    attends(1, 65, 64, false);
    attends(2, 33, 64, false);
    attends(1, 31, 64, false);
}

Check(flash_attention, one_key) { attends(3, 1, 64, false); }

Check(flash_attention, causal)
{
    attends(1, 2, 64, true);
    attends(2, 63, 64, true);
    attends(1, 65, 64, true);
    attends(2, 130, 64, true);
}

Check(flash_attention, width_128)
{
    attends(2, 64, 128, false);
    attends(1, 129, 128, false);
    attends(2, 97, 128, true);
    attends(1, 256, 128, true);
}

// The scores of 64 queries do not fit in shared memory.
Check(flash_attention, a_long_head) { attends(1, 1000, 64, true); }

Check(flash_attention, empty)
{
    attends(0, 64, 64, false);
    attends(3, 0, 128, true);
}

// All queries are near a direction, and key j is `level(j)` times it: that is its score, too.
static void attends_levels(int length, bool causal, double (*level)(int key),
                           const char *(*explain)(const Mismatch *))
{
    enum { WIDTH = 64 };
    make(1, length, WIDTH, causal);
    for (size_t i = 0; i < asked.q->count; i++) {
        double sign = i % WIDTH % 3 ? 1 : -1; // of the direction
        asked.q->bf16[i] = bf16_bits(sign + bf16_value(asked.q->bf16[i]) / 8);
        double along = level((int)(i / WIDTH)) / 8 * sign;
        asked.k->bf16[i] = bf16_bits(along + bf16_value(asked.k->bf16[i]) / 4);
    }
    ask();
    compare(explain);
}

static double rising(int key) { return key / 4.0; }
static double low(int key) { return -200 - key % 4; }
static double high(int key) { return 300 + key % 4; }

Check(flash_attention, rising_scores)
{
    attends_levels(200, false, rising, of_rising_scores);
    attends_levels(150, true, rising, of_rising_scores);
}
Check(flash_attention, low_scores) { attends_levels(90, false, low, of_a_mistake); }
Check(flash_attention, high_scores) { attends_levels(90, true, high, of_a_mistake); }

// ---- Long heads: most of their keys are of few kinds

enum { KINDS = 32, ALONE = 16, ALL = KINDS + ALONE };

// The first key of a kind. A new kind comes every so many keys, so that the maximum of a row may
// move at any of them.
static int first_of(int kind) { return (kind * asked.length + KINDS - 1) / KINDS; }

// What kind the keys of a head are of, by numbers that the function is not given. A few are alone
// in theirs.
static void draw_kinds(int head, const int32_t *number)
{
    int *kind = asked.kind + (size_t)head * asked.length, *first = asked.first + head * ALL;
    int alone = KINDS, one_in = asked.length / ALONE + 1;

    for (int j = 0; j < asked.length; j++) {
        int latest = (int)((int64_t)j * KINDS / asked.length);
        bool is_first = first_of(latest) == j, is_alone = number[j] % one_in == 0 && alone < ALL;
        kind[j] = is_first ? latest : is_alone ? alone++ : number[j] / one_in % (latest + 1);
        if (is_first || is_alone) first[kind[j]] = j;
    }
}

// Each key of a head gets the numbers of the first one of its kind.
static void make_kinds(int heads, int length, int width, bool causal)
{
    size_t bytes = (size_t)width * sizeof(uint16_t), keys = (size_t)heads * length;

    make(heads, length, width, causal);
    make_some_louder();
    Buffer *number = input_i32("kinds", keys, 0, INT32_MAX);
    asked.kind = reference_i32(keys);
    asked.first = reference_i32((size_t)heads * ALL);
    for (int head = 0; head < heads; head++) {
        uint16_t *key = asked.k->bf16 + (size_t)head * length * width;
        draw_kinds(head, number->i32 + (size_t)head * length);
        for (int j = 0; j < length; j++) {
            int first = asked.first[head * ALL + asked.kind[(size_t)head * length + j]];
            if (first < j) memcpy(key + (size_t)j * width, key + (size_t)first * width, bytes);
        }
    }
}

// One row, of the keys that it sees: how many there are of each kind, and the sum of their values.
static void mean_of_kinds(double *to, int head, int row, const double *count, const double *sums)
{
    double s[ALL], m = -INFINITY, total = 0;
    int width = asked.width;

    for (int j = 0; j < ALL; j++)
        if (count[j] > 0) m = fmax(m, s[j] = score(head, row, asked.first[head * ALL + j]));
    for (int j = 0; j < ALL; j++) {
        if (!(count[j] > 0)) continue;
        double p = exp(s[j] - m);
        total += p * count[j];
        for (int d = 0; d < width; d++) to[d] += p * sums[j * width + d];
    }
    for (int d = 0; d < width; d++) to[d] /= total;
}

static void compare_kinds(const struct Asked *x)
{
    double *want = reference_f64(x->out->count);

    asked = *x;
    read_inputs();
    for (int head = 0; head < asked.heads; head++) {
        double count[ALL] = { 0 }, sums[ALL * 128] = { 0 };
        for (int seen = 0, i = 0; i < asked.length; i++) {
            for (; seen < (asked.causal ? i + 1 : asked.length); seen++) {
                int kind = asked.kind[(size_t)head * asked.length + seen];
                const double *value = row_of(asked.value, head, seen);
                count[kind]++;
                for (int d = 0; d < asked.width; d++) sums[kind * asked.width + d] += value[d];
            }
            mean_of_kinds(want + ((size_t)head * asked.length + i) * asked.width, head, i, count,
                          sums);
        }
    }
    diagnose(of_a_mistake);
    expect_close_bf16(asked.out, want, WEIGHTS, ROUNDED);
}

// The check that profiles/lessons/24-flash-attention.cfg measures: 160 blocks of 64 queries, more
// than one for each multiprocessor of an H200.
Check(flash_attention, causal_heads)
{
    make_kinds(40, 256, 64, true);
    ask();
    compare_kinds(&asked);
}

// And times on a GPU: 8,192 keys, in as many heads as make rows of 1,024 numbers.
static void measure_heads(int width, bool causal)
{
    enum { LENGTH = 8192, ROW = 1024 };
    int heads = ROW / width;
    size_t sets = rotations(8ull * LENGTH * ROW);
    struct Asked x[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        make_kinds(heads, LENGTH, width, causal);
        x[s] = asked;
        rotate("attention", device(asked.out), device(asked.q), device(asked.k), device(asked.v),
               i32(heads), i32(LENGTH), i32(width), i32(causal));
        compulsory(6 * asked.q->count, 2 * asked.q->count);
    }
    measure();
    for (size_t s = 0; s < sets; s++) compare_kinds(&x[s]);
}

Measure(flash_attention, width_64_length_8192) { measure_heads(64, false); }
Measure(flash_attention, width_64_causal_8192) { measure_heads(64, true); }
Measure(flash_attention, width_128_length_8192) { measure_heads(128, false); }
Measure(flash_attention, width_128_causal_8192) { measure_heads(128, true); }
