// Lesson 13: numbers of the host, stretched, with room on the device for some of them only; and
// cells that exchange heat in many small steps. The first are whole and exact; the others are held
// against a reference in double.
#include "grader.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { TABLE = 256, ROUNDS = 256 };

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

static const int32_t *numbers, *words_of_table;
static const int32_t *old_table; // of the call before; NULL: there was none
static int numbers_count;

// Whose answer is it, if it is another number's? -1: nobody's near.
static int owner_of(uint32_t got, int from)
{
    for (int away = 1; away < 1 << 19; away++) {
        if (from - away >= 0 && stretched((uint32_t)numbers[from - away], words_of_table) == got)
            return from - away;
        if (from + away < numbers_count
            && stretched((uint32_t)numbers[from + away], words_of_table) == got)
            return from + away;
        if (away > 20000) // it takes time
            break;
    }
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
                 "The last %d are missing: the last chunk, which is not a whole one.", tail);
        return words;
    }
    if (got == POISON) return NULL;
    if (got == x)
        return "That is in[i] itself: the kernel had not been there when it was copied back.";
    if (got == rounds(x, ROUNDS)) return "That is without the table.";
    if (old_table && got == stretched(x, old_table))
        return "That is with the table of the call before: a call may bring another one.";
    int other = owner_of(got, i);
    if (other < 0) return NULL;
    snprintf(words, sizeof words,
             "That is what out[%d] should be: a chunk is copied from or to another one's place.",
             other);
    return words;
}

// ---- stretch ----

// The numbers come again after 65521: no chunk's size goes into that, and the reference need not
// work out a million.
static int32_t *wanted(Buffer *in, const Buffer *table)
{
    enum { PERIOD = 65521 };
    static const int32_t extreme[] = { 0, -1, INT32_MIN, INT32_MAX };
    int n = (int)in->count, distinct = n < PERIOD ? n : PERIOD;
    int32_t *want = reference_i32(n);

    for (int i = 0; i < 4 && i < n; i++) in->i32[i] = extreme[i];
    for (int i = 0; i < n; i++) {
        in->i32[i] = in->i32[i % distinct];
        want[i] = i < distinct ? (int32_t)stretched((uint32_t)in->i32[i], table->i32)
                               : want[i % distinct];
    }
    return want;
}

static void asks(int n, int words, bool is_pinned)
{
    Buffer *in = input_i32("in", n, INT32_MIN, INT32_MAX), *out = output_i32("out", n);
    Buffer *table = input_i32("table", TABLE, INT32_MIN, INT32_MAX);
    int32_t *want = wanted(in, table);

    old_table = words_of_table;
    numbers = in->i32, words_of_table = table->i32, numbers_count = n;
    diagnose(which_stretch);
    answers_come_back();
    given("n = %d, words = %d", n, words);
    call("stretch", is_pinned ? pinned(out) : host(out), is_pinned ? pinned(in) : host(in), i32(n),
         is_pinned ? pinned(table) : host(table), scratch(output_i32("room", words)), i32(words));
    compulsory(4ull * n, 4ull * n);
    compulsory_journey(4ull * n + 4 * TABLE, 4ull * n);
    expect_equal_i32(out, want);
}

static void stretches(int n, int words) { asks(n, words, true); }

Check(streams_and_graphs, few_numbers)
{
    static const int sizes[] = { 1, 31, 32, 33, 255, 256, 257 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) stretches(sizes[s], 1024);
}

Check(streams_and_graphs, no_numbers) { stretches(0, 1024); }

// Rooms of 768 numbers: three chunks of 256, two of 384, or one.
Check(streams_and_graphs, around_a_chunk)
{
    static const int sizes[] = { 383, 384, 385,  511,  512,  513,  767,
                                 768, 769, 1023, 1025, 1535, 1536, 1537 };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) stretches(sizes[s], 1024);
}

Check(streams_and_graphs, odd_rooms)
{
    stretches(7919, 1025);
    stretches(7919, 1339);
    stretches(65537, 8209);
    stretches(10007, 100003);
}

Check(streams_and_graphs, another_table)
{
    stretches(3001, 2048);
    stretches(3001, 2048);
}

Check(streams_and_graphs, pageable_memory)
{
    asks(10007, 2048, false);
    asks(769, 1024, false);
}

// What profiles/lessons/13-streams-and-graphs.cfg measures: room for three chunks of 131,072.
Check(streams_and_graphs, a_million) { stretches(1000003, TABLE + 3 * (1 << 17)); }

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

// What profiles/lessons/13-streams-and-graphs.cfg measures.
Check(streams_and_graphs, a_thousand_steps) { diffuses(4096, 1001); }

// ---- What is timed on a GPU ----

// Eight million numbers in 64 chunks, with room for three: so little that what comes before and
// after each of them counts.
Measure(streams_and_graphs, long_pipeline)
{
    enum { CHUNK = 1 << 17, N = 64 * CHUNK + 3 };
    size_t sets = rotations(8ull * N);
    Buffer *out[ROTATIONS_MAX];
    int32_t *want[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        Buffer *in = input_i32("in", N, INT32_MIN, INT32_MAX),
               *table = input_i32("table", TABLE, INT32_MIN, INT32_MAX);
        want[s] = wanted(in, table);
        out[s] = output_i32("out", N);
        rotate("stretch", pinned(out[s]), pinned(in), i32(N), pinned(table),
               scratch(output_i32("room", TABLE + 3 * CHUNK)), i32(TABLE + 3 * CHUNK));
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
