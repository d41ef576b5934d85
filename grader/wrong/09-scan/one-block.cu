// expect: SLOW
// at: sum += in[i];
// at: out[i] = x;
// says: the lanes of a warp should store neighbouring elements
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

// The x of the thread to the left, 0 for the first.
template <typename T>
__device__ T before_thread(T x)
{
    __shared__ T all[THREADS];

    all[threadIdx.x] = x;
    __syncthreads();
    return threadIdx.x > 0 ? all[threadIdx.x - 1] : 0;
}

// One block scans all: each thread takes a stretch, as the threads of a CPU would.
template <typename T>
__global__ void scan_all(T *out, const T *in, int n)
{
    int each = (n + THREADS - 1) / THREADS, first = threadIdx.x * each;

    T sum = 0;
    for (int i = first; i < first + each && i < n; i++)
        sum += in[i];
    T x = before_thread(block_scan(sum));
    for (int i = first; i < first + each && i < n; i++) {
        x += in[i];
        out[i] = x;
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
