// expect: MEMORY
// says: The shuffle in line 24 of shuffle-from-the-gone.cu read a lane that took no part
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
    __shared__ float warp_sums[THREADS / 32];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;

    float sum = 0;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        sum += in[i];

    sum = warp_sum(sum);
    if (lane == 0)
        warp_sums[warp] = sum;
    __syncthreads();

    if (t >= THREADS / 32 / 2)
        return;
    sum = warp_sum(warp_sums[t]);
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
