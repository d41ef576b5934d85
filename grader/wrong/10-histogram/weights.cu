// expect: SLOW
// at: atomicAdd(&mine[in[i]], weight);
// says: one after the other
// Adds what the compiler cannot know to be 1, so that lanes that meet come one after the other.
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

enum { BINS = 256, THREADS = 1024, BLOCKS = 264, SHARE = 32768 };

__global__ void count(int *bins, const unsigned char *in, int n, int weight)
{
    __shared__ int mine[BINS];
    int t = threadIdx.x;

    for (int b = t; b < BINS; b += THREADS)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        atomicAdd(&mine[in[i]], weight);
    __syncthreads();
    for (int b = t; b < BINS; b += THREADS)
        atomicAdd(&bins[b], mine[b]);
}

extern "C" void histogram(int *bins, const unsigned char *in, int n)
{
    int blocks = n / SHARE + 1;
    if (blocks > BLOCKS)
        blocks = BLOCKS;
    CHECK(cudaMemsetAsync(bins, 0, BINS * sizeof *bins));
    count<<<blocks, THREADS>>>(bins, in, n, 1);
    CHECK(cudaGetLastError());
}
