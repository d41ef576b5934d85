// expect: SLOW
// at: atomicAdd(&copies[in[16 * i + k]][warp], 1);
// says: different words of the same bank
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

// Each warp counts in bins of its own, all of which lie in one bank; each thread reads 16 bytes, one by one.
__global__ void count_private(int *bins, const unsigned char *in, int n)
{
    __shared__ int copies[BINS][32];
    int t = threadIdx.x, warp = t / 32;

    for (int w = t; w < BINS * 32; w += THREADS)
        copies[w / 32][w % 32] = 0;
    __syncthreads();
    int first = blockIdx.x * THREADS + t;
    int apart = gridDim.x * THREADS;
    for (int i = first; i < n / 16; i += apart)
        for (int k = 0; k < 16; k++)
            atomicAdd(&copies[in[16 * i + k]][warp], 1);
    for (int i = n / 16 * 16 + first; i < n; i += apart)
        atomicAdd(&copies[in[i]][warp], 1);
    __syncthreads();
    for (int b = t; b < BINS; b += THREADS) {
        int sum = 0;
        for (int c = 0; c < 32; c++)
            sum += copies[b][(b + c) % 32];
        atomicAdd(&bins[b], sum);
    }
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
