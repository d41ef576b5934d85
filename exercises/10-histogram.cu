// Lesson 10: how often does each byte occur? Every thread has to count in the same 256 bins.
//
// An atomic addition makes that right. It is fast if few additions meet.
#include "10-histogram.h"

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

enum {
    BINS = 256,
    THREADS = 1024,  // in a block
    BLOCKS = 264,    // at most: they fill the device
    SHARE = 32768,   // bytes for each block, at least
};

// Version 1: each byte is an atomic addition to the answer.
__global__ void count_naive(int *bins, const unsigned char *in, int n)
{
    int first = blockIdx.x * THREADS + threadIdx.x;
    int apart = gridDim.x * THREADS;  // all threads of the grid

    for (int i = first; i < n; i += apart)
        atomicAdd(&bins[in[i]], 1);
}

// Version 2: the block counts in bins of its own, in shared memory, and
// adds them to the answer when it has counted its share.
__global__ void count_private(int *bins, const unsigned char *in, int n)
{
    __shared__ int mine[BINS];
    int t = threadIdx.x;

    for (int b = t; b < BINS; b += THREADS)
        mine[b] = 0;
    // TODO: count this block's share in `mine`; who has to wait for whom? (4 lines)
    for (int b = t; b < BINS; b += THREADS)
        atomicAdd(&bins[b], mine[b]);
}

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    auto kernel = count_private;  // or count_naive, to compare

    int blocks = n / SHARE + 1;
    if (blocks > BLOCKS)
        blocks = BLOCKS;
    CHECK(cudaMemsetAsync(bins, 0, BINS * sizeof *bins));
    kernel<<<blocks, THREADS>>>(bins, in, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}
