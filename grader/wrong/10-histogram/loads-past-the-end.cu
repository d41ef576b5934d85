// expect: BOUNDS 30
// Loads 16 bytes at a time, the last ones whole.
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

    for (int b = t; b < BINS; b += THREADS)
        mine[b] = 0;
    __syncthreads();
    const uint4 *in16 = (const uint4 *)in;
    for (int i = blockIdx.x * THREADS + t; i < (n + 15) / 16; i += gridDim.x * THREADS) {
        uint4 v = in16[i];
        unsigned four[] = { v.x, v.y, v.z, v.w };
        for (int k = 0; k < 16; k++)
            atomicAdd(&mine[four[k / 4] >> 8 * (k % 4) & 255], 1);
    }
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
