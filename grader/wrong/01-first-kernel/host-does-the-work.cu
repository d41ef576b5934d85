// expect: SUSPECT
// The right answer, but no GPU had a part in it.
#include "01-first-kernel.h"

#include <stdio.h>
#include <stdlib.h>

// Around every CUDA call: if it fails, says where and why, and stops.
#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

enum { THREADS = 256 };  // threads in a block: a multiple of 32, the size of a warp

// Runs once in each thread of the grid. Threads of the last block that lie
// beyond the end of the vectors have nothing to add.
__global__ void add(float *c, const float *a, const float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}
