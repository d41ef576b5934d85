// expect: SLOW 34 38
// says: they queue up at one place
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

enum { THREADS = 256 };

__global__ void block_sums(float *out, const float *in, int n)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;

    float sum = 0;
    for (int i = blockIdx.x * THREADS + t; i < n; i += gridDim.x * THREADS)
        sum += in[i];
    partial[t] = sum;
    __syncthreads();

    for (int stride = 1; stride < THREADS; stride *= 2) {
        int at = 2 * stride * t;
        if (at < THREADS)
            partial[at] += partial[at + stride];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, partial[0]);
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    int blocks = (n + THREADS - 1) / THREADS;  // 16,384 of 4 million: so many additions at one place
    (void)scratch;
    CHECK(cudaMemsetAsync(out, 0, sizeof *out));
    if (blocks > 0)
        block_sums<<<blocks, THREADS>>>(out, in, n);
    CHECK(cudaGetLastError());
}
