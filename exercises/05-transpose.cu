// Lesson 5: transpose a matrix so that neighbouring threads read and write neighbouring floats.
//
// A transpose turns rows into columns, and only rows are contiguous in memory. With a tile in shared
// memory, both the loads and the stores can run along rows.
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

enum { TILE = 32 };  // the tile has TILE x TILE floats; each row of threads is one warp

// Version 1: each thread moves one float. A warp loads 32 neighbours
// from a row of `in`, and stores them down a column of `out`.
__global__ void transpose_naive(float *out, const float *in,
                                int rows, int cols)
{
    // TODO: find the row and column of this thread; if they are inside, move the float (4 lines)
}

// Version 2: the block keeps a tile in shared memory. It loads the tile
// along the rows of `in`, waits until all of the tile is there, and stores
// it along the rows of `out`.
__global__ void transpose_tile(float *out, const float *in,
                               int rows, int cols)
{
    // Step 1: declare the tile, load it along rows of `in`, wait (6 lines)

    // Step 1: store the tile, transposed, along rows of `out` (4 lines)
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    if (rows == 0 || cols == 0)
        return;

    dim3 block(TILE, TILE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_naive<<<grid, block>>>(out, in, rows, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
}
