// expect: WRONG
// says: A's tile turned
// Reads a column of A's tile where its row is wanted.
#include "15-tiled-matmul.h"

enum { TILE = 32 };

__global__ void matmul_tiled(float *c, const float *a, const float *b,
                             int m, int n, int k)
{
    __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
    int y = threadIdx.y, row = blockIdx.y * TILE + y;
    int x = threadIdx.x, col = blockIdx.x * TILE + x;

    float sum = 0;
    for (int first = 0; first < k; first += TILE) {
        a_tile[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
        b_tile[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
        __syncthreads();
        for (int p = 0; p < TILE; p++)
            sum += a_tile[p][y] * b_tile[p][x];
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
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    matmul_tiled<<<grid, dim3(TILE, TILE)>>>(c, a, b, m, n, k);
}
