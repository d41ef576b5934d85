// expect: WRONG
// says: single float
// Every thread adds its elements to one float, one after the other.
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

__global__ void add(float *out, const float *in, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        atomicAdd(out, in[i]);
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    (void)scratch;
    CHECK(cudaMemsetAsync(out, 0, sizeof *out));
    if (n > 0)
        add<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, n);
    CHECK(cudaGetLastError());
}
