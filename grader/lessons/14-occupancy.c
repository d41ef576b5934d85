// Lesson 14 compares the blocks that a multiprocessor holds with the rules, in cases that each rule
// decides, and the calibrated readings with a reference in double.
#include "grader.h"
#include <stdio.h>

// ---- How many blocks fit ----

// What can be wrong with the rules.
enum mistake {
    LANES_TO_SPARE,
    WARPS_UNLIMITED,
    BLOCKS_UNLIMITED,
    REGISTERS_UNLIMITED,
    PORTIONS_OF_256,
    QUARTERS,
    ONE_QUARTER,
    WHOLE_IN_QUARTER,
    SHARED_UNLIMITED,
    SYSTEMS_OWN,
    PORTIONS_OF_128,
    OWN_AFTER,
    A_BLOCKS_MOST,
    LARGEST,
    WARPS_RETURNED,
    AT_LEAST_ONE,
    MISTAKES
};

static const char *const mistake_words[MISTAKES] = {
    [LANES_TO_SPARE] =
        "threads are counted and not warps (the last warp of a block takes a whole place)",
    [WARPS_UNLIMITED] = "the limit of 64 warps is left out",
    [BLOCKS_UNLIMITED] = "the limit of 32 blocks is left out",
    [REGISTERS_UNLIMITED] = "the limit of 65,536 registers is left out",
    [PORTIONS_OF_256] =
        "a warp gets exactly 32 times a thread's registers (it gets whole portions of 256)",
    [QUARTERS] = "the registers of all four schedulers are one heap (a warp must find all of its "
                 "registers in one quarter)",
    [ONE_QUARTER] = "one scheduler's 16,384 registers are taken for those of the multiprocessor",
    [WHOLE_IN_QUARTER] =
        "a whole block has to find its registers in one quarter (only a warp has to)",
    [SHARED_UNLIMITED] = "the limit of shared memory is left out",
    [SYSTEMS_OWN] =
        "the 1,024 bytes of shared memory that the system uses in each block are left out",
    [PORTIONS_OF_128] = "shared memory is not given in whole portions of 128 bytes",
    [OWN_AFTER] =
        "the system's 1,024 bytes are taken once from the multiprocessor, and not in each block",
    [A_BLOCKS_MOST] = "232,448 bytes, the most that one block may have, are taken for all that a "
                      "multiprocessor has",
    [LARGEST] = "the largest of the limits is returned, and not the smallest",
    [WARPS_RETURNED] = "the number of warps is returned, and not that of blocks",
    [AT_LEAST_ONE] = "1 is returned where no block fits",
};

static int round_up(int x, int portion) { return (x + portion - 1) / portion * portion; }
static int smaller(int a, int b) { return a < b ? a : b; }
static int larger(int a, int b) { return a > b ? a : b; }

typedef struct Kernel {
    int threads, registers, shared;
} Kernel;

typedef struct Limits {
    int blocks, warps, registers, shared; // how many blocks each of them allows
} Limits;

enum { UNLIMITED = 1 << 20 };

static bool has(unsigned mistakes, enum mistake m) { return mistakes >> m & 1; }

static int by_registers(Kernel k, int warps, unsigned mistakes)
{
    int a_warp = round_up(32 * k.registers, has(mistakes, PORTIONS_OF_256) ? 1 : 256),
        in_quarter = 65536 / 4 / a_warp;

    if (has(mistakes, REGISTERS_UNLIMITED)) return UNLIMITED;
    if (has(mistakes, QUARTERS)) return 65536 / a_warp / warps;
    if (has(mistakes, WHOLE_IN_QUARTER)) return in_quarter / warps * 4;
    return in_quarter * (has(mistakes, ONE_QUARTER) ? 1 : 4) / warps;
}

static int by_shared(Kernel k, unsigned mistakes)
{
    int own = k.shared + (has(mistakes, SYSTEMS_OWN) || has(mistakes, OWN_AFTER) ? 0 : 1024);
    int all = has(mistakes, A_BLOCKS_MOST) ? 232448
            : has(mistakes, OWN_AFTER)     ? 233472 - 1024
                                           : 233472;

    own = round_up(own, has(mistakes, PORTIONS_OF_128) ? 1 : 128);
    return has(mistakes, SHARED_UNLIMITED) || own == 0 ? UNLIMITED : all / own;
}

// As <cuda_occupancy.h> of the CUDA Toolkit works it out for compute capability 9.0, but for these
// mistakes.
static Limits limits_of(Kernel k, unsigned mistakes)
{
    int warps = (k.threads + 31) / 32;
    int by_warps = has(mistakes, LANES_TO_SPARE)  ? 2048 / k.threads
                 : has(mistakes, WARPS_UNLIMITED) ? UNLIMITED
                                                  : 64 / warps;

    return (Limits){ has(mistakes, BLOCKS_UNLIMITED) ? UNLIMITED : 32, by_warps,
                     by_registers(k, warps, mistakes), by_shared(k, mistakes) };
}

static int blocks_of(Kernel k, unsigned mistakes)
{
    Limits l = limits_of(k, mistakes);
    int blocks = has(mistakes, LARGEST)
                   ? larger(larger(l.blocks, l.warps), larger(l.registers, l.shared))
                   : smaller(smaller(l.blocks, l.warps), smaller(l.registers, l.shared));

    if (has(mistakes, AT_LEAST_ONE)) blocks = larger(blocks, 1);
    return has(mistakes, WARPS_RETURNED) ? blocks * ((k.threads + 31) / 32) : blocks;
}

// One answer can have several causes. What is told explains every answer of the check.
static bool explains(const Kernel *kernel, const int *got, size_t count, unsigned mistakes)
{
    for (size_t k = 0; k < count; k++)
        if (got[k] != blocks_of(kernel[k], mistakes)) return false;
    return true;
}

static const char *why(const Kernel *kernel, const int *got, size_t count, Kernel wrong)
{
    static char words[300];
    Limits l = limits_of(wrong, 0);

    for (int a = 0; a < MISTAKES; a++)
        if (explains(kernel, got, count, 1u << a)) {
            snprintf(words, sizeof words, "that is when %s", mistake_words[a]);
            return words;
        }
    for (int a = 0; a < MISTAKES; a++)
        for (int b = a + 1; b < MISTAKES; b++)
            if (explains(kernel, got, count, 1u << a | 1u << b)) {
                snprintf(words, sizeof words, "that is when %s, and when %s", mistake_words[a],
                         mistake_words[b]);
                return words;
            }
    snprintf(words, sizeof words,
             "the places for blocks allow %d, those for warps %d, registers %d, shared memory %d",
             l.blocks, l.warps, l.registers, l.shared);
    return words;
}

enum { CASES = 200 };

static void fit(const Kernel *kernel, size_t count)
{
    int got[CASES];
    size_t wrong = count;

    for (size_t k = 0; k < count; k++) {
        given("threads = %d, registers = %d, shared = %d", kernel[k].threads, kernel[k].registers,
              kernel[k].shared);
        got[k] = call_i32("resident_blocks", i32(kernel[k].threads), i32(kernel[k].registers),
                          i32(kernel[k].shared));
        if (wrong == count && got[k] != blocks_of(kernel[k], 0)) wrong = k;
    }
    bool right = wrong == count;
    Kernel k = kernel[right ? 0 : wrong];
    given("threads = %d, registers = %d, shared = %d", k.threads, k.registers, k.shared);
    expect(right, "resident_blocks returned %d, should be %d: %s", got[right ? 0 : wrong],
           blocks_of(k, 0), right ? "" : why(kernel, got, count, k));
}

Check(occupancy, limited_by_warps)
{
    static const int threads[] = { 1,   31,  32,  33,  63,  64,  65,   96,  97,
                                   128, 160, 257, 511, 672, 673, 1023, 1024 };
    enum { COUNT = sizeof threads / sizeof *threads };
    Kernel kernel[COUNT];
    for (size_t k = 0; k < COUNT; k++) kernel[k] = (Kernel){ threads[k], 16, 0 };
    fit(kernel, COUNT);
}

Check(occupancy, limited_by_registers)
{
    static const int registers[] = { 1,  32, 33,  40,  41,  64,  65,  72,
                                     80, 96, 128, 129, 168, 200, 248, 255 };
    static const int threads[] = { 128, 1024, 96 };
    enum { COUNT = 3 * sizeof registers / sizeof *registers };
    Kernel kernel[COUNT];
    for (size_t k = 0; k < COUNT; k++) kernel[k] = (Kernel){ threads[k % 3], registers[k / 3], 0 };
    fit(kernel, COUNT);
}

Check(occupancy, limited_by_shared_memory)
{
    static const int shared[] = { 232448, 115713, 115712, 57345, 57344, 49152, 32772,
                                  22323,  10100,  6273,   6272,  6271,  0 };
    enum { COUNT = sizeof shared / sizeof *shared };
    Kernel kernel[COUNT];
    for (size_t k = 0; k < COUNT; k++) kernel[k] = (Kernel){ 64, 32, shared[k] };
    fit(kernel, COUNT);
}

Check(occupancy, any_kernel)
{
    Kernel kernel[CASES];
    Buffer *threads = input_i32("threads", CASES, 1, 1024),
           *registers = input_i32("registers", CASES, 1, 255),
           *shared = input_i32("shared", CASES, 0, 65536);
    for (int k = 0; k < CASES; k++)
        kernel[k] =
            (Kernel){ threads->i32[k], registers->i32[k], shared->i32[k] / (k % 4 ? 8 : 1) };
    fit(kernel, CASES);
}

// ---- The curve ----

enum { POINTS = 8193, HIGHEST = 65535 };

static Buffer *out, *raw, *table;

enum curve { THE_CURVE, NO_LINES, NEAREST, BACKWARDS, SIXTEENTHS, CURVES };

static const char *const curve_words[CURVES] = {
    [NO_LINES] = "That is table[k] itself: the line from there to table[k + 1] is missing.",
    [NEAREST] = "That is the nearest point of the table, without the line between two.",
    [BACKWARDS] = "That is the value on a line from table[k + 1] to table[k].",
    [SIXTEENTHS] = "That is the value for r / 16; neighbouring points are 8 apart.",
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
        while (i < m->out->count && m->out->f32[i] - value_of(raw->i32[i], how) < 1e-6
               && value_of(raw->i32[i], how) - m->out->f32[i] < 1e-6)
            i++;
        if (i == m->out->count) return curve_words[how];
    }
    return NULL;
}

static double *wanted(const Buffer *readings, size_t n)
{
    double *want = reference_f64(n);
    for (size_t i = 0; i < n; i++) want[i] = value_of(readings->i32[i], THE_CURVE);
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

// The largest size comes first, because it tells most about a mistake.
Check(occupancy, few_readings)
{
    static const size_t sizes[] = { 1025, 1024, 1023, 257, 256, 255, 65, 64, 63,
                                    33,   32,   31,   5,   4,   3,   2,  1 };
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
Check(occupancy, a_million)
{
    make_curve(1 << 20, 0, HIGHEST);
    calibrates(1 << 20);
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
