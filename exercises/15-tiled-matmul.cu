// Lesson 15: multiply matrices, and use each float that was loaded more than once.
//
// A product of two n x n matrices needs each input n times. A block that keeps tiles of both inputs in
// shared memory loads each input n / 32 times. A thread that makes several elements of C in registers
// also reads shared memory less often.
#include "15-tiled-matmul.h"

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

// Version 1: each thread makes one element of C from a row of A and a
// column of B, straight from global memory.
__global__ void matmul_naive(float *c, const float *a, const float *b,
                             int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n)
        return;

    float sum = 0;
    // TODO: add k products to `sum` (2 lines)
    c[row * n + col] = sum;
}

extern "C" void matmul(float *c, const float *a, const float *b,
                       int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;

    int side = 16;  // a block makes side x side elements of C
    auto kernel = matmul_naive;
    dim3 block(side, side);
    dim3 grid((n + side - 1) / side, (m + side - 1) / side);
    kernel<<<grid, block>>>(c, a, b, m, n, k);
    CHECK(cudaGetLastError());  // the caller synchronises
}
