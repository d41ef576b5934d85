// expect: WRONG
// says: somewhere a float holds what is an int
// Scans ints as floats, which keep 24 bits of them.
#include "09-scan.h"

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

enum { THREADS = 256 };  // threads in a block: 8 warps

// Version 1, by Hillis and Steele: the sum of x over threads 0 to t of
// the block, in thread t. All threads of the block call it together.
template <typename T>
__device__ T block_scan(T x)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;

    part[t] = x;
    __syncthreads();

    for (int away = 1; away < THREADS; away *= 2) {
        float left = t >= away ? part[t - away] : 0;
        __syncthreads();  // all have read before anybody writes
        part[t] += left;
        __syncthreads();
    }
    return part[t];
}

// First launch: a block for each tile of THREADS elements.
template <typename T>
__global__ void scan_tiles(T *out, T *sums, const T *in, int n)
{
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;

    T x = block_scan(i < n ? in[i] : 0);
    if (i < n)
        out[i] = x;
    if (t == THREADS - 1)
        sums[blockIdx.x] = x;
}

// Second launch: one block scans the tiles' sums, in place, THREADS of
// them at a time. `carry` is the sum of those that it has done.
template <typename T>
__global__ void scan_sums(T *sums, int tiles)
{
    __shared__ T carry;
    int t = threadIdx.x;

    if (t == 0)
        carry = 0;
    for (int first = 0; first < tiles; first += THREADS) {
        int i = first + t;
        T x = block_scan(i < tiles ? sums[i] : 0);
        x += carry;
        if (i < tiles)
            sums[i] = x;
        __syncthreads();  // all have read carry
        if (t == THREADS - 1)
            carry = x;
    }
}

// Third launch: each tile takes up what lies before it.
template <typename T>
__global__ void add_sums(T *out, const T *sums, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (blockIdx.x > 0 && i < n)
        out[i] += sums[blockIdx.x - 1];
}

template <typename T>
static void scan(T *out, const T *in, int n, void *scratch)
{
    if (n == 0)
        return;  // a grid of no blocks is an error
    T *sums = (T *)scratch;

    int tiles = (n + THREADS - 1) / THREADS;
    scan_tiles<<<tiles, THREADS>>>(out, sums, in, n);
    CHECK(cudaGetLastError());
    scan_sums<<<1, THREADS>>>(sums, tiles);
    CHECK(cudaGetLastError());
    add_sums<<<tiles, THREADS>>>(out, sums, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}

extern "C" void scan_i32(int *out, const int *in, int n, void *scratch)
{
    scan(out, in, n, scratch);
}

extern "C" void scan_f32(float *out, const float *in, int n, void *scratch)
{
    scan(out, in, n, scratch);
}
