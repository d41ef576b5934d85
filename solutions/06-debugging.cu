// Lesson 6: five functions for signals, each with one mistake.
//
// They compile without a warning, and some of them give right answers on a GPU. Mend one mistake after the other:
// the grader says which one it sees, and where.
#include "06-debugging.h"

#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

enum { THREADS = RUN };  // threads in a block: one for each number of a run

static int blocks_for(int n)
{
    return n / THREADS + (n % THREADS > 0);
}

//> version TODO:
#ifndef VERSION
#define VERSION 2  // 1: each mistake mended where it is; 2: less work as well
#endif
//< version

//> differences
// Each thread computes one difference.
__global__ void subtract_neighbours(float *out, const float *in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    //> bounds BUG:
    //| if (i < n)
    if (i + 1 < n)
    //< bounds
        out[i] = in[i + 1] - in[i];
}
//< differences

extern "C" void differences(float *out, const float *in, int n)
{
    if (n < 2)
        return;
    subtract_neighbours<<<blocks_for(n), THREADS>>>(out, in, n);
    CHECK(cudaGetLastError());
}

//> smooth
// Each block keeps one run in shared memory, and each thread has one number of it.
__global__ void smooth_run(float *out, const float *in, int n, int rounds)
{
    __shared__ float run[RUN];
    int t = threadIdx.x, i = blockIdx.x * RUN + t;
    int count = min(RUN, n - blockIdx.x * RUN);  // the last run may be shorter
    int left = max(t - 1, 0), right = min(t + 1, count - 1);

    if (t < count)
        run[t] = in[i];
    __syncthreads();
    //> rounds
    for (int r = 0; r < rounds; r++) {
        float mean = 0;
        if (t < count)
            mean = (run[left] + 2 * run[t] + run[right]) / 4;
        //> race BUG:
        __syncthreads();  // all threads have read
        //< race
        if (t < count)
            run[t] = mean;
        __syncthreads();
    }
    //< rounds
    if (t < count)
        out[i] = run[t];
}
//< smooth

//> two-buffers TODO:
// Version 2: two arrays change places after each round, so one barrier is enough.
__global__ void smooth_two_buffers(float *out, const float *in, int n, int rounds)
{
    __shared__ float buffers[2][RUN];
    int t = threadIdx.x, i = blockIdx.x * RUN + t;
    int count = min(RUN, n - blockIdx.x * RUN);
    int left = max(t - 1, 0), right = min(t + 1, count - 1);
    float mine = t < count ? in[i] : 0;

    for (int r = 0; r < rounds; r++) {
        float *run = buffers[r % 2];
        run[t] = mine;
        __syncthreads();  // no thread reads the other buffer any more
        if (t < count)
            mine = (run[left] + 2 * mine + run[right]) / 4;
    }
    if (t < count)
        out[i] = mine;
}
//< two-buffers

extern "C" void smooth(float *out, const float *in, int n, int rounds)
{
    if (n == 0)
        return;
    //> choose-smooth TODO:
    //| smooth_run<<<blocks_for(n), THREADS>>>(out, in, n, rounds);
    auto kernel = VERSION == 1 ? smooth_run : smooth_two_buffers;
    kernel<<<blocks_for(n), THREADS>>>(out, in, n, rounds);
    //< choose-smooth
    CHECK(cudaGetLastError());
}

//> sort
__device__ void put_in_order(float *a, float *b)
{
    float low = fminf(*a, *b), high = fmaxf(*a, *b);
    *a = low, *b = high;
}

// Odd-even transposition sort. Even phases put the pairs (0,1), (2,3) ... in
// order, and odd phases (1,2), (3,4) ... After as many phases as there are
// numbers, all numbers are in order.
__global__ void sort_run(float *out, const float *in, int n)
{
    __shared__ float run[RUN];
    int t = threadIdx.x, i = blockIdx.x * RUN + t;
    int count = min(RUN, n - blockIdx.x * RUN);

    if (t < count)
        run[t] = in[i];
    __syncthreads();
    //> phases
    for (int phase = 0; phase < count; phase++) {
        //> barrier BUG:
        //| if (t % 2 == phase % 2 && t + 1 < count) {
        //|     put_in_order(&run[t], &run[t + 1]);
        //|     __syncthreads();
        //| }
        if (t % 2 == phase % 2 && t + 1 < count)
            put_in_order(&run[t], &run[t + 1]);
        __syncthreads();
        //< barrier
    }
    //< phases
    if (t < count)
        out[i] = run[t];
}
//< sort

extern "C" void sort_runs(float *out, const float *in, int n)
{
    if (n == 0)
        return;
    sort_run<<<blocks_for(n), THREADS>>>(out, in, n);
    CHECK(cudaGetLastError());
}

//> means
// Each thread adds up one column. Neighbouring threads read neighbouring numbers of a row.
__global__ void add_rows(float *sums, const float *in, int rows, int cols)
{
    //> column
    int c = blockIdx.x * THREADS + threadIdx.x;
    //< column
    if (c < cols)
        for (int r = 0; r < rows; r++)
            sums[c] += in[(size_t)r * cols + c];
}

__global__ void divide(float *out, const float *sums, int rows, int cols)
{
    int c = blockIdx.x * THREADS + threadIdx.x;
    if (c < cols)
        out[c] = sums[c] / rows;
}
//< means

//> by-memory
static void means_by_memory(float *out, const float *in, int rows, int cols)
{
    float *sums;

    CHECK(cudaMalloc(&sums, cols * sizeof *sums));
    //> undefined BUG:
    CHECK(cudaMemset(sums, 0, cols * sizeof *sums));
    //< undefined
    //> add
    add_rows<<<blocks_for(cols), THREADS>>>(sums, in, rows, cols);
    //< add
    CHECK(cudaGetLastError());
    divide<<<blocks_for(cols), THREADS>>>(out, sums, rows, cols);
    CHECK(cudaGetLastError());
    //> free
    CHECK(cudaFree(sums));
    //< free
}
//< by-memory

//> by-register TODO:
// Version 2: only one thread needs the sum of a column, so the sum can be in a register.
__global__ void average_rows(float *out, const float *in, int rows, int cols)
{
    int c = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
    if (c < cols) {
        for (int r = 0; r < rows; r++)
            sum += in[(size_t)r * cols + c];
        out[c] = sum / rows;
    }
}

static void means_by_register(float *out, const float *in, int rows, int cols)
{
    average_rows<<<blocks_for(cols), THREADS>>>(out, in, rows, cols);
    CHECK(cudaGetLastError());
}
//< by-register

extern "C" void column_means(float *out, const float *in, int rows, int cols)
{
    if (cols == 0)
        return;
    //> choose-means TODO:
    //| means_by_memory(out, in, rows, cols);
    auto means = VERSION == 1 ? means_by_memory : means_by_register;
    means(out, in, rows, cols);
    //< choose-means
}

//> gain
__global__ void multiply(float *out, const float *in, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = factor * in[i];
}

// The caller says how many threads a block has, and is told if no block can have so many.
extern "C" int gain(float *out, const float *in, float factor, int n, int threads)
{
    if (n == 0)
        return cudaSuccess;
    //> any-threads
    multiply<<<n / threads + (n % threads > 0), threads>>>(out, in, factor, n);
    //< any-threads
    //> unchecked BUG:
    //| return cudaSuccess;
    return cudaGetLastError();
    //< unchecked
}
//< gain
