// Lesson 5: transpose over square, ragged, thin and empty shapes, and one large shape that is
// measured. Nothing is computed, so the comparison is exact.
#include "grader.h"

static const float *input;

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

static bool copied(const Mismatch *m, size_t i)
{
    return m->out->f32[i] == input[i];
}

// out[c][r] has what belongs to the mirrored place within the same 32 x 32 tile.
static bool tile_as_it_was(const Mismatch *m, size_t i)
{
    size_t r = i % m->out->cols, c = i / m->out->cols;
    return has(m, i, r / 32 * 32 + c % 32, c / 32 * 32 + r % 32);
}

// out[c][r] has what belongs to the same place within the mirrored tile, or nothing, where that is outside.
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

// The thread that would store out[c][r], in a block of 32 x 32, loads nothing: its own place in `in` is outside.
static bool has_nothing_to_load(const Mismatch *m, size_t i)
{
    size_t rows = m->out->cols, cols = m->out->rows, r = i % rows, c = i / rows;
    return r / 32 * 32 + c % 32 >= rows || c / 32 * 32 + r % 32 >= cols;
}

static bool left_before_the_store(const Mismatch *m, size_t i)
{
    return never_written(m, i) && has_nothing_to_load(m, i);
}

// What beginners' transposes leave. A pattern is said if all that is wrong is so.
static const struct {
    bool (*holds)(const Mismatch *m, size_t i);
    const char *words;
} patterns[] = {
    { copied, "That is in[] as it lies in memory: copied, not transposed." },
    { tile_as_it_was, "Each 32 x 32 tile is in its place, but not turned itself." },
    { left_before_the_store, "These are the elements of threads that have none to load: they must not leave before the store." },
    { tile_where_it_was, "The 32 x 32 tiles are turned, but lie where they lay in in: block (x, y) stores at tile (y, x) of out." },
    { rows_for_cols, "So it is when rows and cols change places: a row of in has cols floats, a row of out has rows." },
};

static bool all_wrong(const Mismatch *m, bool (*holds)(const Mismatch *m, size_t i))
{
    for (size_t i = m->first; i < m->out->count; i++)
        if (m->is_wrong(i) && !holds(m, i))
            return false;
    return true;
}

static const char *not_turned(const Mismatch *m)
{
    if (all_wrong(m, never_written) && !all_wrong(m, left_before_the_store))
        return NULL;
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
        if (all_wrong(m, patterns[k].holds))
            return patterns[k].words;
    return NULL;
}

static void transposes(int rows, int cols)
{
    size_t n = (size_t)rows * cols;
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);
    float *want = reference_f32(n);

    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            want[(size_t)c * rows + r] = in->f32[(size_t)r * cols + c];

    input = in->f32;
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
    transposes(64, 33);     // rows that are whole multiples of 16 bytes in out, but not in in
    transposes(33, 64);
    transposes(1, 1);
    transposes(1, 1000);
    transposes(1000, 1);
}

// 70,001 blocks would be too many in y and z, where a grid has at most 65,535.
Check(transpose, very_long)
{
    transposes(70001, 3);
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
Check(transpose, two_million)
{
    transposes(1024, 2048);
}

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
            for (size_t r = 0; r < ROWS; r++)
                want[c * ROWS + r] = in[s]->f32[r * COLS + c];
        expect_equal_f32(out[s], want);
    }
}
