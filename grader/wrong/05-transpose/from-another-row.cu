// expect: WRONG
// says: All that is wrong comes from the right column of in, but another row
// A block has 8 rows of threads, and 32 rows to load: blockIdx.y counts the 32.
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

enum { TILE = 32 };  // a block has TILE x 8 threads; each row of threads is one warp

__global__ void transpose_tile(float *out, const float *in,
                                 int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];

    int row = blockIdx.y * 8 + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int y = 0; y < TILE; y += 8)
        if (row + y < rows && col < cols)
            tile[threadIdx.y + y][threadIdx.x] = in[(row + y) * cols + col];
    __syncthreads();

    int out_row = blockIdx.x * TILE + threadIdx.y;
    int out_col = blockIdx.y * TILE + threadIdx.x;
    for (int y = 0; y < TILE; y += 8)
        if (out_row + y < cols && out_col < rows)
            out[(out_row + y) * rows + out_col] = tile[threadIdx.x][threadIdx.y + y];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    if (rows == 0 || cols == 0)
        return;

    dim3 block(TILE, 8);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_tile<<<grid, block>>>(out, in, rows, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
}
