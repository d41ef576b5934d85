// expect: SLOW
// says: too few threads share the work
// One block goes through all of it, 256 elements at a time.
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
    __shared__ T part[THREADS];
    int t = threadIdx.x;

    part[t] = x;
    __syncthreads();

    for (int away = 1; away < THREADS; away *= 2) {
        T left = t >= away ? part[t - away] : 0;
        __syncthreads();  // all have read before anybody writes
        part[t] += left;
        __syncthreads();
    }
    return part[t];
}

// One block scans all, THREADS elements at a time.
template <typename T>
__global__ void scan_all(T *out, const T *in, int n)
{
    __shared__ T carry;
    int t = threadIdx.x;

    if (t == 0)
        carry = 0;
    for (int first = 0; first < n; first += THREADS) {
        int i = first + t;
        T x = block_scan(i < n ? in[i] : 0) + carry;
        if (i < n)
            out[i] = x;
        __syncthreads();  // all have read carry
        if (t == THREADS - 1)
            carry = x;
    }
}

template <typename T>
static void scan(T *out, const T *in, int n, void *scratch)
{
    if (n == 0)
        return;  // a grid of no blocks is an error
    (void)scratch;
    scan_all<<<1, THREADS>>>(out, in, n);
    CHECK(cudaGetLastError());
}

extern "C" void scan_i32(int *out, const int *in, int n, void *scratch)
{
    scan(out, in, n, scratch);
}

extern "C" void scan_f32(float *out, const float *in, int n, void *scratch)
{
    scan(out, in, n, scratch);
}
