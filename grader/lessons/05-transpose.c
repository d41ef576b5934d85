// Lesson 5: transpose over square, ragged, thin and empty shapes, and one large shape that is
// measured. Nothing is computed, so the comparison is exact.
#include "grader.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const float *input, *right; // the matrix, and its transpose
static float *sorted;              // the one or the other, with each of its rows in ascending order

static bool never_written(const Mismatch *m, size_t i)
{
    return (uint32_t)m->out->i32[i] == POISON;
}

// Element i of out is in[r][c], if the matrix has that.
static bool has(const Mismatch *m, size_t i, size_t r, size_t c)
{
    size_t rows = m->out->cols, cols = m->out->rows;
    return r < rows && c < cols && m->out->f32[i] == input[r * cols + c];
}

static bool copied(const Mismatch *m, size_t i) { return m->out->f32[i] == input[i]; }

// out[c][r] has what belongs to the mirrored place within the same 32 x 32 tile.
static bool tile_as_it_was(const Mismatch *m, size_t i)
{
    size_t r = i % m->out->cols, c = i / m->out->cols;
    return has(m, i, r / 32 * 32 + c % 32, c / 32 * 32 + r % 32);
}

// out[c][r] has what belongs to the same place within the mirrored tile, or nothing, where that is
// outside.
static bool tile_where_it_was(const Mismatch *m, size_t i)
{
    size_t r = i % m->out->cols, c = i / m->out->cols;
    return never_written(m, i) || has(m, i, c / 32 * 32 + r % 32, r / 32 * 32 + c % 32);
}

// As if in had rows floats in a row, or as if it were a matrix of cols x rows altogether.
static bool rows_for_cols(const Mismatch *m, size_t i)
{
    size_t rows = m->out->cols, cols = m->out->rows, short_row = i % rows * rows + i / rows;
    return never_written(m, i) || m->out->f32[i] == input[i % cols * rows + i / cols]
        || (short_row < m->out->count && m->out->f32[i] == input[short_row]);
}

// The thread that would store out[c][r], in a block of 32 x 32, loads nothing: its own place in
// `in` is outside.
static bool has_nothing_to_load(const Mismatch *m, size_t i)
{
    size_t rows = m->out->cols, cols = m->out->rows, r = i % rows, c = i / rows;
    return r / 32 * 32 + c % 32 >= rows || c / 32 * 32 + r % 32 >= cols;
}

static bool left_before_the_store(const Mismatch *m, size_t i)
{
    return never_written(m, i) && has_nothing_to_load(m, i);
}

// It has what belongs to some place of the same square of 4 x 4 floats: that which a thread of
// version 5 turns.
static bool square_not_turned(const Mismatch *m, size_t i)
{
    size_t r = i % m->out->cols, c = i / m->out->cols;
    return has(m, i, r / 4 * 4 + c % 4, c / 4 * 4 + r % 4);
}

static bool within_its_square(const Mismatch *m, size_t i)
{
    size_t r = i % m->out->cols, c = i / m->out->cols;
    for (size_t k = 0; k < 16; k++)
        if (has(m, i, r / 4 * 4 + k / 4, c / 4 * 4 + k % 4)) return true;
    return false;
}

// What belongs to the same place of another square, of the same 64 x 64 tile; or nothing: of a
// square that the edge leaves empty.
static bool squares_exchanged(const Mismatch *m, size_t i)
{
    size_t r = i % m->out->cols, c = i / m->out->cols;
    for (size_t k = 0; k < 256; k++)
        if (has(m, i, r / 64 * 64 + k / 16 * 4 + r % 4, c / 64 * 64 + k % 16 * 4 + c % 4))
            return true;
    return false;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a,
            y = *(const int32_t *)b; // the bits: one NaN is not like another
    return (x > y) - (x < y);
}

static void sort_rows(const float *matrix, size_t rows, size_t cols)
{
    sorted = realloc(sorted, rows * cols * sizeof *sorted);
    memcpy(sorted, matrix, rows * cols * sizeof *sorted);
    for (size_t r = 0; r < rows; r++) qsort(sorted + r * cols, cols, sizeof *sorted, ascending);
}

static bool is_in_row(const Mismatch *m, size_t i, size_t row, size_t cols)
{
    return never_written(m, i)
        || bsearch(&m->out->f32[i], sorted + row * cols, cols, sizeof *sorted, ascending);
}

static bool of_its_row(const Mismatch *m, size_t i)
{
    return is_in_row(m, i, i % m->out->cols, m->out->rows);
}

static bool of_its_column(const Mismatch *m, size_t i)
{
    return is_in_row(m, i, i / m->out->cols, m->out->cols);
}

// What beginners' transposes leave. A pattern is said if all that is wrong is so.
static const struct {
    bool (*holds)(const Mismatch *m, size_t i);
    const char *words, *next;
} patterns[] = {
    { copied, "That is in[] as it lies in memory: copied, not transposed.",
      "let the thread that loads in[row][col] see to out[col][row]" },
    { tile_as_it_was, "Each 32 x 32 tile is in its place, but not turned itself.",
      "read the tile the other way than it was filled: tile[threadIdx.x][threadIdx.y]" },
    { left_before_the_store,
      "These are the elements of threads that have none to load: they must not leave before the "
      "store.",
      "put the load alone into the if, and no return" },
    { tile_where_it_was,
      "The 32 x 32 tiles are turned, but lie where they lay in in: block (x, y) stores at tile (y, "
      "x) of out.",
      "take the row of out from blockIdx.x, and its column from blockIdx.y" },
    { rows_for_cols,
      "So it is when rows and cols change places: a row of in has cols floats, a row of out has "
      "rows.",
      "look at each product of an index: row * cols for in, out_row * rows for out" },
    { square_not_turned,
      "The squares of 4 x 4 floats are in their places, but not turned themselves.",
      "make each float4 for the tile of one column of the square: a.x, b.x, c.x, d.x" },
    { within_its_square,
      "Each wrong number comes from its own square of 4 x 4 floats, but from another place there.",
      "compare the float4 that is row k of the square as it is loaded, as it is put into the tile, "
      "and as it is stored" },
};

static bool all_wrong(const Mismatch *m, bool (*holds)(const Mismatch *m, size_t i))
{
    for (size_t i = m->first; i < m->out->count; i++)
        if (m->is_wrong(i) && !holds(m, i)) return false;
    return true;
}

// Where the first wrong number comes from, if it is one of in's.
static const char *where_from(const Mismatch *m)
{
    static char words[300], next[160];
    size_t rows = m->out->cols, cols = m->out->rows, at = 0;
    while (at < m->out->count && m->out->f32[m->first] != input[at]) at++;
    if (at == m->out->count) return NULL;
    const char *which = "";
    if (sort_rows(input, rows, cols), all_wrong(m, of_its_row))
        which = " All that is wrong comes from the right row of in, but another column.";
    else if (sort_rows(right, cols, rows), all_wrong(m, of_its_column))
        which = " All that is wrong comes from the right column of in, but another row.";
    const char *squares = all_wrong(m, squares_exchanged)
                            ? " Whole squares of 4 x 4 floats have changed places within a tile."
                            : "";
    snprintf(words, sizeof words,
             "That is the number of in[%zu][%zu]; in[%zu][%zu] belongs there.%s%s", at / cols,
             at % cols, m->first % rows, m->first / rows, which, squares);
    snprintf(next, sizeof next,
             "find the thread that stores out[%zu][%zu], and follow its number back to where it "
             "was loaded",
             m->first / rows, m->first % rows);
    advise(next);
    return words;
}

static const char *not_turned(const Mismatch *m)
{
    if (all_wrong(m, never_written) && !all_wrong(m, left_before_the_store)) return NULL;
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        if (all_wrong(m, patterns[k].holds)) {
            advise(patterns[k].next);
            return patterns[k].words;
        }
    return where_from(m);
}

static void transposes(int rows, int cols)
{
    size_t n = (size_t)rows * cols;
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);
    float *want = reference_f32(n);

    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) want[(size_t)c * rows + r] = in->f32[(size_t)r * cols + c];

    input = in->f32, right = want;
    diagnose(not_turned);
    given("rows = %d, cols = %d", rows, cols);
    as_matrix(in, rows, cols);
    as_matrix(out, cols, rows);
    call("transpose", device(out), device(in), i32(rows), i32(cols));
    compulsory(n * 4, n * 4);
    expect_equal_f32(out, want);
}

Check(transpose, whole_tiles)
{
    transposes(64, 96);
    transposes(32, 32);
    transposes(256, 128);
}

Check(transpose, ragged_edges)
{
    transposes(31, 33);
    transposes(33, 31);
    transposes(33, 65);
    transposes(127, 211);
    transposes(211, 127);
    transposes(60, 68);
    transposes(64, 33); // rows that are whole multiples of 16 bytes in out, but not in in
    transposes(33, 64);
    transposes(1, 1);
    transposes(1, 1000);
    transposes(1000, 1);
}

// A grid has at most 65,535 blocks in y and z: the longest matrix has too many rows for blocks, or
// tiles, of 16.
Check(transpose, very_long)
{
    transposes(1048576, 1);
    transposes(3, 70001);
}

Check(transpose, nothing)
{
    transposes(0, 0);
    transposes(0, 5);
    transposes(5, 0);
}

// The check that profiles/lessons/05-transpose.cfg measures: 16 MiB of compulsory traffic, rows and
// columns multiples of 32, so that every warp's load and store begins on a sector of its own.
Check(transpose, two_million) { transposes(1024, 2048); }

// What profiles/lessons/05-transpose.cfg times on a GPU: 256 MiB of compulsory traffic a call.
Measure(transpose, large)
{
    enum { ROWS = 8192, COLS = 4096 };
    size_t n = (size_t)ROWS * COLS, sets = rotations(8 * n);
    Buffer *in[ROTATIONS_MAX], *out[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_f32("in", n);
        out[s] = output_f32("out", n);
        as_matrix(out[s], COLS, ROWS);
        rotate("transpose", device(out[s]), device(in[s]), i32(ROWS), i32(COLS));
        compulsory(n * 4, n * 4);
    }
    measure();

    float *want = reference_f32(n);
    for (size_t s = 0; s < sets; s++) {
        for (size_t c = 0; c < COLS; c++)
            for (size_t r = 0; r < ROWS; r++) want[c * ROWS + r] = in[s]->f32[r * COLS + c];
        expect_equal_f32(out[s], want);
    }
}
