// expect: MEMORY
// says: Next: read the tile the other way than it was filled
// The tiles change places, but the floats in a tile do not; at the ragged edge it stores what it never loaded.
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

enum { TILE = 32 };  // a block has TILE x TILE threads; each row of threads is one warp

__global__ void transpose_tile(float *out, const float *in,
                                 int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];

    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    if (row < rows && col < cols)
        tile[threadIdx.y][threadIdx.x] = in[row * cols + col];
    __syncthreads();

    int out_row = blockIdx.x * TILE + threadIdx.y;
    int out_col = blockIdx.y * TILE + threadIdx.x;
    if (out_row < cols && out_col < rows)
        out[out_row * rows + out_col] = tile[threadIdx.y][threadIdx.x];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    if (rows == 0 || cols == 0)
        return;

    dim3 block(TILE, TILE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_tile<<<grid, block>>>(out, in, rows, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
}
