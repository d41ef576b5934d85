// Lesson 9: all sums on the way, out[i] = in[0] + ... + in[i], as a block, then as a whole device.
//
// A block scans a tile by itself. What it lacks is one number: the sum of all tiles before its own.
// One block alone carries that sum from tile to tile. Many blocks need another way.
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

// By Hillis and Steele: the sum of x over threads 0 to t of the block, in
// thread t. All threads of the block call it together.
template <typename T>
__device__ T block_scan(T x)
{
    __shared__ T part[THREADS];
    int t = threadIdx.x;

    part[t] = x;
    __syncthreads();

    // TODO: add what lies 1, 2, 4 ... to the left, until part[t] is the sum up to t (6 lines)
    return part[t];
}

// One block scans all n elements, THREADS of them at a time. `carry` is
// the sum of the tiles before. `out` may be `in`.
template <typename T>
__global__ void scan_one_block(T *out, const T *in, int n)
{
    __shared__ T carry;
    int t = threadIdx.x;

    if (t == 0)
        carry = 0;
    for (int first = 0; first < n; first += THREADS) {
        int i = first + t;
        T x = block_scan(i < n ? in[i] : 0);
        // TODO: add the carry to x; the last thread then stores the next carry (4 lines)
        if (i < n)
            out[i] = x;
    }
}

// For step 2: four neighbours, which a thread loads or stores in one
// instruction. i is a multiple of 4; elements from n on count as 0.
template <typename T>
struct alignas(16) Four {
    T at[4];
};

template <typename T>
__device__ Four<T> load_four(const T *in, int i, int n)
{
    if (i + 4 <= n)
        return *(const Four<T> *)(in + i);
    Four<T> x;
    for (int j = 0; j < 4; j++)
        x.at[j] = i + j < n ? in[i + j] : 0;
    return x;
}

template <typename T>
__device__ void store_four(T *out, int i, int n, Four<T> x)
{
    if (i + 4 <= n) {
        *(Four<T> *)(out + i) = x;
        return;
    }
    for (int j = 0; j < 4; j++)
        if (i + j < n)
            out[i + j] = x.at[j];
}

template <typename T>
static void scan(T *out, const T *in, int n, void *scratch)
{
    if (n == 0)
        return;  // a grid of no blocks is an error
    (void)scratch;
    // One block scans everything.
    scan_one_block<<<1, THREADS>>>(out, in, n);
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
