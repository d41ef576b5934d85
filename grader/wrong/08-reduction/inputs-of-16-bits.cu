// expect: WRONG
// says: somewhere a number is kept in 16 bits
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

// x without the last 16 bits of its mantissa: what bfloat16 keeps.
__device__ float short_of(float x)
{
    return __uint_as_float(__float_as_uint(x) & 0xffff0000);
}

__global__ void block_sums(float *sums, const float *in, int n, bool shorten)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;

    float sum = 0;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        sum += shorten ? short_of(in[i]) : in[i];
    partial[t] = sum;
    __syncthreads();

    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride)
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
        block_sums<<<blocks, THREADS>>>(scratch, in, n, true);
    CHECK(cudaGetLastError());
    block_sums<<<1, THREADS>>>(out, scratch, blocks, false);
    CHECK(cudaGetLastError());
}
