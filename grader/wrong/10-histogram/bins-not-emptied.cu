// expect: MEMORY
// at: atomicAdd(&mine[in[i]], 1);
// Counts on top of whatever shared memory held.
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

__global__ void count(int *bins, const unsigned char *in, int n)
{
    __shared__ int mine[BINS];
    int t = threadIdx.x;

    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        atomicAdd(&mine[in[i]], 1);
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
    count<<<blocks, THREADS>>>(bins, in, n);
    CHECK(cudaGetLastError());
}
