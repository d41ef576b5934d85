// Lesson 14: the blocks that a multiprocessor holds, for cases in which each rule decides, against those rules; and a curve
// against a reference in double.
#include "grader.h"
#include <stdio.h>

// ---- How many blocks fit ----

// The rules, and what becomes of the answer when one is forgotten.
enum rule {
    AS_ASKED, LANES_TO_SPARE, WARPS_UNLIMITED, BLOCKS_UNLIMITED, REGISTERS_UNLIMITED, PORTIONS_OF_256, QUARTERS, SHARED_UNLIMITED,
    SYSTEMS_OWN, PORTIONS_OF_128, OWN_AFTER, RULES
};

static const char *const rule_words[RULES] = {
    [LANES_TO_SPARE] = ": that is when threads are counted and not warps; the last warp of a block takes a whole one's place",
    [WARPS_UNLIMITED] = ": that is without the limit of 64 warps",
    [BLOCKS_UNLIMITED] = ": that is without the limit of 32 blocks",
    [REGISTERS_UNLIMITED] = ": that is without the limit of 65,536 registers",
    [PORTIONS_OF_256] = ": that is when a warp gets exactly 32 times a thread's registers; it gets whole portions of 256",
    [QUARTERS] = ": that is when the registers of all four schedulers are one heap; a warp must find all of its own in one quarter",
    [SHARED_UNLIMITED] = ": that is without the limit of shared memory",
    [SYSTEMS_OWN] = ": that is without the 1,024 bytes of shared memory that the system takes in each block",
    [PORTIONS_OF_128] = ": that is when shared memory is not given in whole portions of 128 bytes",
    [OWN_AFTER] = ": that is when the system's 1,024 bytes are taken once from the multiprocessor, and not in each block",
};

static int round_up(int x, int portion) { return (x + portion - 1) / portion * portion; }
static int smaller(int a, int b) { return a < b ? a : b; }

// As <cuda_occupancy.h> of the CUDA Toolkit works it out for compute capability 9.0, with the one rule forgotten.
static int blocks_of(int threads, int registers, int shared, enum rule forgotten)
{
    int blocks = forgotten == BLOCKS_UNLIMITED ? 1 << 20 : 32;
    int warps = (threads + 31) / 32, a_warp = round_up(32 * registers, forgotten == PORTIONS_OF_256 ? 1 : 256);
    int own = shared + (forgotten == SYSTEMS_OWN || forgotten == OWN_AFTER ? 0 : 1024);

    own = round_up(own, forgotten == PORTIONS_OF_128 ? 1 : 128);
    if (forgotten == LANES_TO_SPARE)
        blocks = smaller(blocks, 2048 / threads);
    else if (forgotten != WARPS_UNLIMITED)
        blocks = smaller(blocks, 64 / warps);
    if (forgotten == QUARTERS)
        blocks = smaller(blocks, 65536 / a_warp / warps);
    else if (forgotten != REGISTERS_UNLIMITED)
        blocks = smaller(blocks, 65536 / 4 / a_warp * 4 / warps);
    if (forgotten != SHARED_UNLIMITED && own > 0)
        blocks = smaller(blocks, (forgotten == OWN_AFTER ? 233472 - 1024 : 233472) / own);
    return blocks;
}

static void fits(int threads, int registers, int shared)
{
    int want = blocks_of(threads, registers, shared, AS_ASKED);
    const char *words = "";

    given("threads = %d, registers = %d, shared = %d", threads, registers, shared);
    int got = call_i32("resident_blocks", i32(threads), i32(registers), i32(shared));
    for (enum rule r = AS_ASKED + 1; r < RULES && !*words; r++)
        if (got == blocks_of(threads, registers, shared, r))
            words = rule_words[r];
    expect(got == want, "resident_blocks returned %d, should be %d%s", got, want, words);
}

Check(occupancy, limited_by_warps)
{
    static const int threads[] = {1, 31, 32, 33, 63, 64, 65, 96, 97, 128, 160, 257, 511, 672, 673, 1023, 1024};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++)
        fits(threads[t], 16, 0);
}

Check(occupancy, limited_by_registers)
{
    static const int registers[] = {1, 32, 33, 40, 41, 64, 65, 72, 80, 96, 128, 129, 168, 200, 248, 255};
    for (size_t r = 0; r < sizeof registers / sizeof *registers; r++) {
        fits(128, registers[r], 0);
        fits(1024, registers[r], 0);
        fits(96, registers[r], 0);
    }
}

// The largest first: there each mistake gives another number.
Check(occupancy, limited_by_shared_memory)
{
    static const int shared[] = {232448, 115713, 115712, 57345, 57344, 49152, 32772, 22323, 10100, 6273, 6272, 6271, 0};
    for (size_t s = 0; s < sizeof shared / sizeof *shared; s++)
        fits(64, 32, shared[s]);
}

Check(occupancy, any_kernel)
{
    enum { CASES = 200 };
    Buffer *threads = input_i32("threads", CASES, 1, 1024), *registers = input_i32("registers", CASES, 1, 255),
           *shared = input_i32("shared", CASES, 0, 65536);
    for (int c = 0; c < CASES; c++)
        fits(threads->i32[c], registers->i32[c], shared->i32[c] / (c % 4 ? 8 : 1));
}

// ---- The curve ----

enum { POINTS = 8193, HIGHEST = 65535 };

static Buffer *out, *raw, *table;

enum curve { THE_CURVE, NO_LINES, NEAREST, BACKWARDS, SIXTEENTHS, CURVES };

static const char *const curve_words[CURVES] = {
    [NO_LINES] = "That is table[k] itself: the line from there to table[k + 1] is missing.",
    [NEAREST] = "That is the nearest point of the table, without the line between two.",
    [BACKWARDS] = "So it is when the line is walked from table[k + 1] to table[k].",
    [SIXTEENTHS] = "So it is when r is divided by 16; neighbouring points are 8 apart.",
};

static double value_of(int reading, enum curve how)
{
    int k = reading / 8, r = reading % 8;
    double from = table->f32[k], to = table->f32[k + 1];

    switch (how) {
    case NO_LINES: return from;
    case NEAREST: return r < 4 ? from : to;
    case BACKWARDS: return to + r / 8.0 * (from - to);
    case SIXTEENTHS: return from + r / 16.0 * (to - from);
    default: return from + r / 8.0 * (to - from);
    }
}

// Every element is what that mistake makes of it.
static const char *which_curve(const Mismatch *m)
{
    for (enum curve how = THE_CURVE + 1; how < CURVES; how++) {
        size_t i = 0;
        while (i < m->out->count && m->out->f32[i] - value_of(raw->i32[i], how) < 1e-6 &&
               value_of(raw->i32[i], how) - m->out->f32[i] < 1e-6)
            i++;
        if (i == m->out->count)
            return curve_words[how];
    }
    return NULL;
}

static double *wanted(const Buffer *readings, size_t n)
{
    double *want = reference_f64(n);
    for (size_t i = 0; i < n; i++)
        want[i] = value_of(readings->i32[i], THE_CURVE);
    return want;
}

static void make_curve(size_t n, int lowest, int highest)
{
    raw = input_i32("raw", n, lowest, highest);
    table = input_f32("table", POINTS);
    out = output_f32("out", n);
}

static void calibrates(size_t n)
{
    diagnose(which_curve);
    given("n = %zu", n);
    call("calibrate", device(out), device(raw), device(table), i32((int)n));
    compulsory(4 * n + 4 * POINTS, 4 * n);
    expect_close_f32(out, wanted(raw, n), 5e-7, 0);
}

// The largest comes first, as it tells most about a mistake.
Check(occupancy, few_readings)
{
    static const size_t sizes[] = {1025, 1024, 1023, 257, 256, 255, 65, 64, 63, 33, 32, 31, 5, 4, 3, 2, 1};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        make_curve(sizes[s], 0, HIGHEST);
        calibrates(sizes[s]);
    }
}

Check(occupancy, primes)
{
    make_curve(7919, 0, HIGHEST);
    calibrates(7919);
    make_curve(300007, 0, HIGHEST);
    calibrates(300007);
}

Check(occupancy, no_readings)
{
    make_curve(0, 0, HIGHEST);
    calibrates(0);
}

// The first and the last stretch of the curve alone, and readings that are all the same.
Check(occupancy, ends_of_the_curve)
{
    make_curve(1000, 0, 7);
    calibrates(1000);
    make_curve(1000, HIGHEST - 7, HIGHEST);
    calibrates(1000);
    make_curve(1000, HIGHEST, HIGHEST);
    calibrates(1000);
}

// The check that profiles/lessons/14-occupancy.cfg measures.
Check(occupancy, four_million)
{
    make_curve(1 << 22, 0, HIGHEST);
    calibrates(1 << 22);
}

// What profiles/lessons/14-occupancy.cfg times on a GPU: 268 MB of compulsory traffic a call.
Measure(occupancy, large)
{
    size_t n = 1 << 25, sets = rotations(8 * n);
    Buffer *outs[ROTATIONS_MAX], *raws[ROTATIONS_MAX], *tables[ROTATIONS_MAX];

    for (size_t s = 0; s < sets; s++) {
        outs[s] = output_f32("out", n);
        raws[s] = input_i32("raw", n, 0, HIGHEST);
        tables[s] = input_f32("table", POINTS);
        rotate("calibrate", device(outs[s]), device(raws[s]), device(tables[s]), i32((int)n));
        compulsory(4 * n + 4 * POINTS, 4 * n);
    }
    measure();
    for (size_t s = 0; s < sets; s++) {
        table = tables[s];
        expect_close_f32(outs[s], wanted(raws[s], n), 5e-7, 0);
    }
}
