// expect: WRONG
// says: never written
// Draws tickets from scratch, and whatever that holds.
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

__device__ float block_sum(float x)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;

    __syncthreads();
    partial[t] = x;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride)
            partial[t] += partial[t + stride];
        __syncthreads();
    }
    return partial[0];
}

__global__ void add_all(float *out, const float *in, int n, float *sums)
{
    __shared__ bool last;
    int t = threadIdx.x;

    float sum = 0;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        sum += in[i];
    sum = block_sum(sum);
    if (t == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd((unsigned *)&sums[gridDim.x], 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last)
        return;
    __threadfence();

    sum = 0;
    for (int i = t; i < gridDim.x; i += THREADS)
        sum += sums[i];
    sum = block_sum(sum);
    if (t == 0) {
        *out = sum;
        sums[gridDim.x] = 0;
    }
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    int blocks = (n + THREADS - 1) / THREADS;
    if (blocks > BLOCKS)
        blocks = BLOCKS;
    if (blocks == 0)
        blocks = 1;
    add_all<<<blocks, THREADS>>>(out, in, n, scratch);
    CHECK(cudaGetLastError());
}
