// Lesson 5: transpose a matrix so that neighbouring threads read and write neighbouring floats.
//
// A transpose turns rows into columns, and only rows are contiguous in memory. Going through a tile
// in shared memory lets both the loads and the stores run along rows.
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

// Version 1: each thread moves one float. A warp loads 32 neighbours
// from a row of `in`, and stores them down a column of `out`.
__global__ void transpose_naive(float *out, const float *in,
                                int rows, int cols)
{
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;

    if (row < rows && col < cols)
        out[col * rows + row] = in[row * cols + col];
}

// Version 2: the block keeps a tile in shared memory. It loads it along
// the rows of `in`, waits until all of it is there, and stores it along
// the rows of `out`.
__global__ void transpose_tile(float *out, const float *in,
                               int rows, int cols)
{
    // TODO: declare the tile, load it along rows of `in`, wait (6 lines)

    // TODO: store the tile, transposed, along rows of `out` (4 lines)
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
