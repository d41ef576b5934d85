// Shared by the benchmark's programs: the kernels by name, their inputs, and the timing. The same
// kernels are written in CUDA (cuda.cu) and in OpenCL (opencl.c, kernels.cl). Each program takes a
// kernel's name and a size n. It prints the median seconds of a launch, the number of launches, and
// a sum on which all devices must agree.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 256, TILE = 16, MOST_RUNS = 7 };
static const double ENOUGH_SECONDS = 10;

typedef struct Work {
    const char *name;
    int matrices; // a, b and out are n x n; else n numbers, and of the sum one for each block
    int tiled;    // threads are a tile of a matrix
    int sums;     // only a is read, out has a number for each block
} Work;

static const Work works[] = {
    { "vector_add", 0, 0, 0 },
    { "block_sum", 0, 0, 1 },
    { "matmul_naive", 1, 1, 0 },
    { "matmul_tiled", 1, 1, 0 },
};

static const Work *work_find(const char *name)
{
    for (size_t k = 0; k < sizeof works / sizeof *works; k++)
        if (!strcmp(works[k].name, name)) return &works[k];
    fprintf(stderr, "there is no kernel %s\n", name);
    exit(2);
}

// Small whole numbers, whose sums and products a float holds exactly.
static void work_fill(float *to, size_t count, unsigned step)
{
    for (size_t k = 0; k < count; k++) to[k] = (float)(k * step % 7) - 3;
}

static double work_sum(const float *of, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += of[k] * (double)(k % 17 + 1);
    return sum;
}

static double work_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int work_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Times launches, each from its call to its end. The first warms up, unless it took so long that it
// has to do.
static void work_measure(void (*launch)(void *), void *state, double *median, int *runs)
{
    double seconds[MOST_RUNS], total = 0;
    int count = 0, warm = 0;
    while (count < MOST_RUNS && total < ENOUGH_SECONDS) {
        double start = work_now();
        launch(state);
        seconds[count] = work_now() - start;
        if (!warm && seconds[count] < ENOUGH_SECONDS) {
            warm = 1;
            continue;
        }
        total += seconds[count++];
    }
    qsort(seconds, (size_t)count, sizeof *seconds, work_compare);
    *median = count % 2 ? seconds[count / 2] : (seconds[count / 2 - 1] + seconds[count / 2]) / 2;
    *runs = count;
}
