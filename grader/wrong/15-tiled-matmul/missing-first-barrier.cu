// expect: RACE
// at: b_tile[y][x] = b_row < k && col < n ? b[b_row * n + col] : 0;
// at: sum += a_tile[y][p] * b_tile[p][x];
// Uses the tiles before all of them is there.
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

__global__ void matmul_tiled(float *c, const float *a, const float *b,
                             int m, int n, int k)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int y = threadIdx.y, row = blockIdx.y * TILE + y;
    int x = threadIdx.x, col = blockIdx.x * TILE + x;

    float sum = 0;
    for (int first = 0; first < k; first += TILE) {
        int a_col = first + x, b_row = first + y;
        a_tile[y][x] = row < m && a_col < k ? a[row * k + a_col] : 0;
        b_tile[y][x] = b_row < k && col < n ? b[b_row * n + col] : 0;
        for (int p = 0; p < TILE; p++)
            sum += a_tile[y][p] * b_tile[p][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}

extern "C" void matmul(float *c, const float *a, const float *b,
                       int m, int n, int k)
{
    if (m == 0 || n == 0)
        return;

    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul_tiled<<<grid, block>>>(c, a, b, m, n, k);
    CHECK(cudaGetLastError());
}
