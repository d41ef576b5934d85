// expect: SLOW
// at: sum += a[row * k + p] * b[p * n + col];
// No tiles at all.
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

enum { TILE = 32 };

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

extern "C" void matmul(float *c, const float *a, const float *b,
                       int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;

    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul_naive<<<grid, block>>>(c, a, b, m, n, k);
    CHECK(cudaGetLastError());
}
