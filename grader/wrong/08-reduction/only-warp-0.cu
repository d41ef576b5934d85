// expect: WRONG
// says: That is the sum of the first 32 of 33
// Each block keeps its first warp's sum and forgets the seven others.
#include "08-reduction.h"

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

enum { THREADS = 256, BLOCKS = 1024 };

// The sum of x over the 32 lanes of a warp, in lane 0. All must call it.
__device__ float warp_sum(float x)
{
    for (int away = 16; away > 0; away /= 2)
        x += __shfl_down_sync(0xffffffff, x, away);
    return x;
}

__global__ void block_sums(float *sums, const float *in, int n)
{
    int t = threadIdx.x;

    float sum = 0;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        sum += in[i];

    sum = warp_sum(sum);
    if (t == 0)
        sums[blockIdx.x] = sum;
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    int blocks = (n + THREADS - 1) / THREADS;
    if (blocks > BLOCKS)
        blocks = BLOCKS;
    if (blocks > 0)
        block_sums<<<blocks, THREADS>>>(scratch, in, n);
    CHECK(cudaGetLastError());
    block_sums<<<1, THREADS>>>(out, scratch, blocks);
    CHECK(cudaGetLastError());
}
