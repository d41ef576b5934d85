// expect: WRONG
// says: sets each of its four bytes
// Lets the bins begin at 1, or so it seems.
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
    SHARE = 32768,   // bytes that are worth a block of their own
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
    __syncthreads();
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        atomicAdd(&mine[in[i]], 1);
    __syncthreads();
    for (int b = t; b < BINS; b += THREADS)
        atomicAdd(&bins[b], mine[b]);
}

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    auto kernel = count_private;  // or count_naive, to compare

    int blocks = n / SHARE + 1;
    if (blocks > BLOCKS)
        blocks = BLOCKS;
    CHECK(cudaMemsetAsync(bins, 1, BINS * sizeof *bins));
    kernel<<<blocks, THREADS>>>(bins, in, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}
