// Lesson 15: multiply matrices, and use each float that was loaded more than once.
//
// A product of two n x n matrices needs each input n times. Whoever loads it n times waits for memory;
// a block that keeps tiles of both in shared memory loads it n / 32 times, and a thread that keeps a
// tile of its own in registers leaves shared memory alone, too.
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

enum { TILE = 32 };  // a block has TILE x TILE threads; each row of threads is one warp

// Version 1: each thread makes one element of C from a row of A and a
// column of B, straight from global memory.
__global__ void matmul_naive(float *c, const float *a, const float *b,
                             int m, int n, int k)
{
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    if (row >= m || col >= n)
        return;

    float sum = 0;
    for (int p = 0; p < k; p++)
        sum += a[row * k + p] * b[p * n + col];
    c[row * n + col] = sum;
}

// Version 2: the block makes a tile of C. It goes through the k products
// 32 at a time: it loads a tile of A and a tile of B into shared memory,
// waits until both are there, and each thread takes its row and column.
__global__ void matmul_tiled(float *c, const float *a, const float *b,
                             int m, int n, int k)
{
    // TODO: declare a tile of A and a tile of B (1 line)
    int y = threadIdx.y, row = blockIdx.y * TILE + y;
    int x = threadIdx.x, col = blockIdx.x * TILE + x;

    float sum = 0;
    for (int first = 0; first < k; first += TILE) {
        // TODO: load an element of each, 0 where there is none; wait (5 lines)

        // TODO: add 32 products to `sum`; wait again (3 lines)
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

extern "C" void matmul(float *c, const float *a, const float *b,
                       int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;

    int side = TILE;  // a block makes side x side elements of C
    auto kernel = matmul_tiled;  // or matmul_naive, to compare
    dim3 block(TILE, TILE);
    dim3 grid((n + side - 1) / side, (m + side - 1) / side);
    kernel<<<grid, block>>>(c, a, b, m, n, k);
    CHECK(cudaGetLastError());  // the caller synchronises
}
