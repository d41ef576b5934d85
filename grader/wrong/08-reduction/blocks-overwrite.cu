// expect: RACE 35
// says: nothing puts one block before the other
// Every block stores its sum in the same place.
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

__global__ void block_sums(float *out, const float *in, int n)
{
    __shared__ float partial[THREADS];
    int t = threadIdx.x;

    int i = blockIdx.x * THREADS + t;
    partial[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride)
            partial[t] += partial[t + stride];
        __syncthreads();
    }
    if (t == 0)
        *out = partial[0];
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    if (n == 0)
        CHECK(cudaMemsetAsync(out, 0, sizeof *out));
    else
        block_sums<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, n);
    CHECK(cudaGetLastError());
}
