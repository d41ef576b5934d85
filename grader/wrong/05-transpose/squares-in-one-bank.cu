// expect: SLOW 55
// says: takes 32 passes, 4 would do, one for each 8 lanes
// Squares of 4 x 4 without a swizzle: lanes side by side store their quads a whole number of tile rows apart.
#include "05-transpose.h"

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

enum { TILE = 32, ROWS = 8, SIDE = 16 };

__global__ void transpose_fours(float *out, const float *in,
                                int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];

    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    #pragma unroll
    for (int y = 0; y < TILE; y += ROWS)
        if (row + y < rows && col < cols)
            tile[threadIdx.y + y][threadIdx.x] = in[(row + y) * cols + col];
    __syncthreads();

    int out_row = blockIdx.x * TILE + threadIdx.y;
    int out_col = blockIdx.y * TILE + threadIdx.x;
    #pragma unroll
    for (int y = 0; y < TILE; y += ROWS)
        if (out_row + y < cols && out_col < rows)
            out[(out_row + y) * rows + out_col] = tile[threadIdx.x][threadIdx.y + y];
}
__global__ void transpose_squares(float *out, const float *in,
                                  int rows, int cols)
{
    __shared__ float4 tile[4 * SIDE][SIDE];

    int x = threadIdx.x, y = threadIdx.y;
    int row = 4 * (blockIdx.y * SIDE + y);
    int col = 4 * (blockIdx.x * SIDE + x);
    if (row < rows && col < cols) {
        const float *p = in + row * cols + col;
        float4 a = *(const float4 *)p;
        float4 b = *(const float4 *)(p + cols);
        float4 c = *(const float4 *)(p + 2 * cols);
        float4 d = *(const float4 *)(p + 3 * cols);
        tile[4 * x + 0][y] = make_float4(a.x, b.x, c.x, d.x);
        tile[4 * x + 1][y] = make_float4(a.y, b.y, c.y, d.y);
        tile[4 * x + 2][y] = make_float4(a.z, b.z, c.z, d.z);
        tile[4 * x + 3][y] = make_float4(a.w, b.w, c.w, d.w);
    }
    __syncthreads();

    int out_row = 4 * (blockIdx.x * SIDE + y);
    int out_col = 4 * (blockIdx.y * SIDE + x);
    if (out_row < cols && out_col < rows)
        for (int k = 0; k < 4; k++) {
            float *p = out + (out_row + k) * rows + out_col;
            *(float4 *)p = tile[4 * y + k][x];
        }
}
extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    if (rows == 0 || cols == 0)
        return;

    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    if (rows % 4 != 0 || cols % 4 != 0)
        transpose_fours<<<grid, dim3(TILE, ROWS)>>>(out, in, rows, cols);
    else {
        dim3 half((grid.x + 1) / 2, (grid.y + 1) / 2);  // a tile of 64 x 64
        transpose_squares<<<half, dim3(SIDE, SIDE)>>>(out, in, rows, cols);
    }
    CHECK(cudaGetLastError());  // the caller synchronises
}
