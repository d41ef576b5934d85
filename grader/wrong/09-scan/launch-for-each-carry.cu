// expect: SLOW
// at: T before = part[right], left = part[right - apart];
// says: let one block scan all
// Scans the sums in a launch for each 256 of them.
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

// Version 1, by Blelloch: the sum of x over threads 0 to t of
// the block, in thread t. All threads of the block call it together.
template <typename T>
__device__ T block_scan(T x)
{
    __shared__ T part[THREADS];
    int t = threadIdx.x;

    part[t] = x;
    __syncthreads();

    // Up: the last place of each pair gets the sum of the pair.
    for (int apart = 1; apart < THREADS; apart *= 2) {
        int right = (t + 1) * 2 * apart - 1;
        if (right < THREADS)
            part[right] += part[right - apart];
        __syncthreads();
    }
    if (t == 0)
        part[THREADS - 1] = 0;  // before all of it lies nothing
    __syncthreads();

    // Down: each pair was given the sum of what lies before it. That
    // goes to its left half, and with the left half's sum to its right.
    for (int apart = THREADS / 2; apart > 0; apart /= 2) {
        int right = (t + 1) * 2 * apart - 1;
        if (right < THREADS) {
            T before = part[right], left = part[right - apart];
            part[right - apart] = before;
            part[right] = before + left;
        }
        __syncthreads();
    }
    return part[t] + x;  // the sum before t, and t's own
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

// Scans THREADS of the tiles' sums, in place, on top of those before them.
template <typename T>
__global__ void scan_sums(T *sums, int first, int tiles)
{
    int t = threadIdx.x, i = first + t;

    T x = block_scan(i < tiles ? sums[i] : 0);
    if (i < tiles)
        sums[i] = x + (first > 0 ? sums[first - 1] : 0);
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
    for (int first = 0; first < tiles; first += THREADS)
        scan_sums<<<1, THREADS>>>(sums, first, tiles);
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
