// expect: WRONG
// says: elements 0, 1, 2, 4, 8 and so on, which thread 0 adds
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

__global__ void block_sums(float *sums, const float *in, int n)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;

    float sum = 0;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        sum += in[i];
    partial[t] = sum;
    __syncthreads();

    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t % (2 * stride) == 0)  // whose turn it is in the tree of neighbours
            partial[t] += partial[t + stride];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = partial[0];
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
