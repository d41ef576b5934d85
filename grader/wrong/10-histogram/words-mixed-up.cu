// expect: WRONG
// says: but not each in its own bin
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

// The block counts in bins of its own, in shared memory, and
// adds them to the answer when it has counted its share.
__global__ void count_private(int *bins, const unsigned char *in, int n)
{
    __shared__ int mine[BINS];
    int t = threadIdx.x;

    for (int b = t; b < BINS; b += THREADS)
        mine[b] = 0;
    __syncthreads();
    int first = blockIdx.x * THREADS + t;
    int apart = gridDim.x * THREADS;
    const uint4 *in16 = (const uint4 *)in;
    for (int i = first; i < n / 16; i += apart) {
        uint4 v = in16[i];
        unsigned four[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 16; k++)
            atomicAdd(&mine[four[k % 4] >> 8 * (k % 4) & 255], 1);
    }
    for (int i = n / 16 * 16 + first; i < n; i += apart)
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
    count_private<<<blocks, THREADS>>>(bins, in, n);
    CHECK(cudaGetLastError());  // the caller synchronises
}
