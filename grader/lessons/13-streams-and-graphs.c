// Lesson 13: numbers of the host, stretched, with room on the device for three chunks and two
// tables; and cells that exchange heat in many small steps. The numbers are exact, and the cells
// are compared with a reference in double.
#include "grader.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { TABLE = 4096, SERVES = 4, ROUNDS = 256 };

static uint32_t rounds(uint32_t h, int count)
{
    for (int r = 0; r < count; r++) {
        h ^= h >> 16;
        h *= 0x85ebca6b;
        h ^= h >> 13;
        h *= 0xc2b2ae35;
        h ^= h >> 16;
    }
    return h;
}

static uint32_t stretched(uint32_t x, const int32_t *table)
{
    return rounds(x ^ (uint32_t)table[x % TABLE], ROUNDS);
}

// ---- What a wrong answer tells ----

static const int32_t *numbers, *words_of_tables;
static const int32_t *old_tables; // of the call before; NULL: there was none
static int numbers_count, chunk_size;

static int table_count(int n, int chunk)
{
    int span = SERVES * chunk;
    return (n + span - 1) / span;
}

static const int32_t *table_of(int i)
{
    return words_of_tables + i / (SERVES * chunk_size) * TABLE;
}

static uint32_t due(int i) { return stretched((uint32_t)numbers[i], table_of(i)); }

// The index whose answer it is, near `from`; -1: none.
static int owner_of(uint32_t got, int from)
{
    for (int away = 1; away <= 20000; away++) { // it takes time
        if (from - away >= 0 && due(from - away) == got) return from - away;
        if (from + away < numbers_count && due(from + away) == got) return from + away;
    }
    return -1;
}

// The table with which the number gives what was got, -1: none.
static int table_used(uint32_t x, uint32_t got)
{
    for (int k = 0; k < table_count(numbers_count, chunk_size); k++)
        if (stretched(x, words_of_tables + k * TABLE) == got) return k;
    return -1;
}

static const char *which_stretch(const Mismatch *m)
{
    static char words[200];
    int i = (int)m->first, tail = 0;
    uint32_t x = (uint32_t)numbers[i], got = (uint32_t)m->out->i32[i];

    while (tail < numbers_count && (uint32_t)m->out->i32[numbers_count - 1 - tail] == POISON)
        tail++;
    if (tail && (size_t)tail == m->wrong) {
        snprintf(words, sizeof words,
                 "What is missing at the end: %d of the %d answers of the last chunk.", tail,
                 (numbers_count - 1) % chunk_size + 1);
        return words;
    }
    if (got == POISON) return NULL;
    if (got == x) return "That is in[i] itself: it was copied back before the kernel worked on it.";
    if (got == rounds(x, ROUNDS)) return "That is without the table.";
    int k = table_used(x, got);
    if (k >= 0) {
        snprintf(words, sizeof words, "That is with table %d, and chunk %d needs table %d.", k,
                 i / chunk_size, i / chunk_size / SERVES);
        return words;
    }
    if (old_tables && got == stretched(x, old_tables))
        return "That is with the table of the call before: each call brings its own tables.";
    int other = owner_of(got, i);
    if (other < 0) return NULL;
    snprintf(words, sizeof words,
             "That is what out[%d] should be: a chunk was copied from or to the wrong place.",
             other);
    return words;
}

// ---- stretch ----

// The numbers repeat after 65521: no chunk's size divides that, and the reference need not work out
// each number of a table.
static int32_t *wanted(Buffer *in, const Buffer *tables, int chunk)
{
    enum { PERIOD = 65521 };
    static const int32_t extreme[] = { 0, -1, INT32_MIN, INT32_MAX };
    int n = (int)in->count, span = SERVES * chunk;
    int32_t *want = reference_i32(n);

    for (int i = 0; i < 4 && i < n; i++) in->i32[i] = extreme[i];
    for (int i = 0; i < n; i++) {
        in->i32[i] = in->i32[i % PERIOD];
        want[i] = i % span < PERIOD
                    ? (int32_t)stretched((uint32_t)in->i32[i], tables->i32 + i / span * TABLE)
                    : want[i - PERIOD];
    }
    return want;
}

static void asks(int n, int chunk, bool is_pinned)
{
    int count = TABLE * table_count(n, chunk), words = 3 * chunk + 2 * TABLE;
    Buffer *in = input_i32("in", n, INT32_MIN, INT32_MAX), *out = output_i32("out", n);
    Buffer *tables = input_i32("tables", count, INT32_MIN, INT32_MAX);

    old_tables = words_of_tables;
    numbers = in->i32, words_of_tables = tables->i32, numbers_count = n, chunk_size = chunk;
    int32_t *want = wanted(in, tables, chunk);
    diagnose(which_stretch);
    given("n = %d, chunk = %d", n, chunk);
    call("stretch", is_pinned ? pinned(out) : host(out), is_pinned ? pinned(in) : host(in), i32(n),
         i32(chunk), is_pinned ? pinned(tables) : host(tables), scratch(output_i32("room", words)));
    compulsory(4ull * n, 4ull * n);
    compulsory_journey(4ull * n + 4ull * count, 4ull * n);
    expect_equal_i32(out, want);
}

static void stretches(int n, int chunk) { asks(n, chunk, true); }

Check(streams_and_graphs, few_numbers)
{
    static const int sizes[] = { 1, 31, 32, 33, 255, 256, 257 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) stretches(sizes[s], 256);
}

Check(streams_and_graphs, no_numbers) { stretches(0, 256); }

// Up to four chunks: one part of the room is used twice.
Check(streams_and_graphs, around_a_chunk)
{
    static const int sizes[] = { 511, 512, 513, 767, 768, 769 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) stretches(sizes[s], 256);
}

// The last number that one table serves, and the first of the next; then four tables and a half.
Check(streams_and_graphs, around_a_table)
{
    static const int sizes[] = { 1023, 1024, 1025, 2048, 2049, 4700 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) stretches(sizes[s], 256);
}

Check(streams_and_graphs, odd_chunks)
{
    stretches(23, 1);
    stretches(7919, 333);
    stretches(65537, 2731);
    stretches(10007, 33333);
}

Check(streams_and_graphs, other_tables)
{
    stretches(3001, 500);
    stretches(3001, 500);
}

Check(streams_and_graphs, pageable_memory)
{
    asks(10007, 640, false);
    asks(769, 256, false);
}

// What profiles/lessons/13-streams-and-graphs.cfg measures: 16 chunks of 98,304, and four tables.
Check(streams_and_graphs, sixteen_chunks) { stretches(1500003, 3 << 15); }

// ---- diffuse ----

static const float *cells;
static int cells_count, steps_asked;

static void diffuse_cpu(double *to, const float *from, int n, int steps)
{
    double *now = reference_f64(n), *next = reference_f64(n);

    for (int i = 0; i < n; i++) now[i] = from[i];
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++)
            next[i] = 0.25 * now[i > 0 ? i - 1 : n - 1] + 0.5 * now[i]
                    + 0.25 * now[i + 1 < n ? i + 1 : 0];
        double *old = now;
        now = next;
        next = old;
    }
    memcpy(to, now, n * sizeof *to);
}

static bool is_after(const Mismatch *m, const double *state)
{
    for (size_t i = 0; i < m->out->count; i++)
        if (!(m->out->f32[i] - state[i] < 1e-5 && state[i] - m->out->f32[i] < 1e-5)) return false;
    return true;
}

// The numbers of steps that mistakes with pairs and batches make.
static const char *which_steps(const Mismatch *m)
{
    static char words[120];
    double *state = reference_f64(cells_count);

    for (int steps = steps_asked - 200 < 0 ? 0 : steps_asked - 200; steps <= steps_asked + 200;
         steps++) {
        if (steps == steps_asked) continue;
        diffuse_cpu(state, cells, cells_count, steps);
        if (!is_after(m, state)) continue;
        snprintf(words, sizeof words, "That is what %d step%s give%s.", steps,
                 steps == 1 ? "" : "s", steps == 1 ? "s" : "");
        return words;
    }
    return NULL;
}

static void diffuses(int n, int steps)
{
    Buffer *in = input_f32("in", n), *out = output_f32("out", n);
    double *want = reference_f64(n);

    diffuse_cpu(want, in->f32, n, steps);
    cells = in->f32, cells_count = n, steps_asked = steps;
    diagnose(n <= 1000 && steps <= 1000 ? which_steps : NULL);
    given("n = %d, steps = %d", n, steps);
    call("diffuse", device(out), scratch(output_f32("spare", n)), device(in), i32(n), i32(steps));
    compulsory(4ull * n, 4ull * n);
    compulsory_operations(32ull * steps); // a launch for each step
    expect_close_f32(out, want, 1e-5, 1e-5);
}

Check(streams_and_graphs, no_steps)
{
    diffuses(1000, 0);
    diffuses(1, 0);
}

Check(streams_and_graphs, few_steps_in_small_rings)
{
    static const int sizes[] = { 1, 2, 3, 31, 32, 33, 255, 256, 257 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) diffuses(sizes[s], 1 + (int)s % 4);
}

// Around twenty, forty, a hundred, and a prime number: batches that are full, and what is left
// over.
Check(streams_and_graphs, odd_and_even_steps)
{
    static const int steps[] = { 19, 20, 21, 31, 32, 39, 40, 41, 99, 100, 101, 347 };
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) diffuses(300, steps[s]);
}

// The next call has other arrays, another size, and another number of steps.
Check(streams_and_graphs, one_call_after_another)
{
    diffuses(500, 250);
    diffuses(700, 250);
    diffuses(500, 250);
    diffuses(500, 130);
}

// What profiles/lessons/13-streams-and-graphs.cfg measures: 256 KiB of cells, which neither the
// shared memory nor the registers of one block hold.
Check(streams_and_graphs, a_large_ring) { diffuses(1 << 16, 201); }

// ---- What is timed on a GPU ----

// Eight million numbers in 64 chunks. The chunks are so small that what comes before and after each
// of them counts.
Measure(streams_and_graphs, long_pipeline)
{
    enum { CHUNK = 1 << 17, N = 64 * CHUNK + 3 };
    size_t sets = rotations(8ull * N);
    Buffer *out[ROTATIONS_MAX];
    int32_t *want[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        Buffer *in = input_i32("in", N, INT32_MIN, INT32_MAX),
               *tables = input_i32("tables", TABLE * table_count(N, CHUNK), INT32_MIN, INT32_MAX);
        want[s] = wanted(in, tables, CHUNK);
        out[s] = output_i32("out", N);
        rotate("stretch", pinned(out[s]), pinned(in), i32(N), i32(CHUNK), pinned(tables),
               scratch(output_i32("room", 3 * CHUNK + 2 * TABLE)));
        compulsory(4ull * N, 4ull * N);
    }
    measure();

    for (size_t s = 0; s < sets; s++) expect_equal_i32(out[s], want[s]);
}

Measure(streams_and_graphs, small_kernels)
{
    enum { CELLS = 4096, STEPS = 1000 };
    size_t sets = rotations(8ull * CELLS);
    Buffer *out[ROTATIONS_MAX], *in[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        in[s] = input_f32("in", CELLS);
        out[s] = output_f32("out", CELLS);
        rotate("diffuse", device(out[s]), scratch(output_f32("spare", CELLS)), device(in[s]),
               i32(CELLS), i32(STEPS));
        compulsory(4ull * CELLS, 4ull * CELLS);
    }
    measure();

    double *want = reference_f64(CELLS);
    for (size_t s = 0; s < sets; s++) {
        diffuse_cpu(want, in[s]->f32, CELLS, STEPS);
        expect_close_f32(out[s], want, 1e-5, 1e-5);
    }
}
