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

//> naive
// Version 1: each thread moves one float. A warp loads 32 neighbours
// from a row of `in`, and stores them down a column of `out`.
__global__ void transpose_naive(float *out, const float *in,
                                int rows, int cols)
{
    //> move-one TODO: find the row and column of this thread; if they are inside, move the float (4 lines)
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;

    if (row < rows && col < cols)
        out[col * rows + row] = in[row * cols + col];
    //< move-one
}
//< naive

//> tile
// Version 2: the block keeps a tile in shared memory. It loads the tile
// along the rows of `in`, waits until all of the tile is there, and stores
// it along the rows of `out`.
__global__ void transpose_tile(float *out, const float *in,
                               int rows, int cols)
{
    //> load-tile TODO:
    //| // Step 1: declare the tile, load it along rows of `in`, wait (6 lines)
    __shared__ float tile[TILE][TILE];

    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    if (row < rows && col < cols)
        tile[threadIdx.y][threadIdx.x] = in[row * cols + col];
    __syncthreads();
    //< load-tile

    //> store-tile TODO:
    //| // Step 1: store the tile, transposed, along rows of `out` (4 lines)
    int out_row = blockIdx.x * TILE + threadIdx.y;
    int out_col = blockIdx.y * TILE + threadIdx.x;
    if (out_row < cols && out_col < rows)
        out[out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y];
    //< store-tile
}
//< tile

//> padded TODO:
// Version 3: as version 2, but each row of the tile is one float longer.
// So the 32 floats of a column are in 32 different banks.
__global__ void transpose_padded(float *out, const float *in,
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
        out[out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y];
}
//< padded

//> fours TODO:
enum { ROWS = 8 };  // version 4: a block has TILE x ROWS threads

// Version 4: the same tile, but a thread moves four floats of a column,
// ROWS apart. All four loads are on their way before the thread waits.
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
//< fours

//> squares TODO:
enum { SIDE = 16 };  // version 5: a block has SIDE x SIDE threads

// Version 5: a thread has a square of 4 x 4 floats. It loads 16 bytes at a
// time and turns the square in its registers. The tile turns the squares.
// blockIdx.x counts down the rows of `in`. rows and cols: multiples of 4.
__global__ void transpose_squares(float *out, const float *in,
                                  int rows, int cols)
{
    __shared__ float4 tile[4 * SIDE][SIDE];

    int x = threadIdx.x, y = threadIdx.y;
    int row = 4 * (blockIdx.x * SIDE + y);
    int col = 4 * (blockIdx.y * SIDE + x);
    if (row < rows && col < cols) {
        const float *p = in + row * cols + col;
        float4 a = *(const float4 *)p;
        float4 b = *(const float4 *)(p + cols);
        float4 c = *(const float4 *)(p + 2 * cols);
        float4 d = *(const float4 *)(p + 3 * cols);
        //> store-swizzled
        tile[4 * x + 0][y ^ x] = make_float4(a.x, b.x, c.x, d.x);
        tile[4 * x + 1][y ^ x] = make_float4(a.y, b.y, c.y, d.y);
        tile[4 * x + 2][y ^ x] = make_float4(a.z, b.z, c.z, d.z);
        tile[4 * x + 3][y ^ x] = make_float4(a.w, b.w, c.w, d.w);
        //< store-swizzled
    }
    __syncthreads();

    int out_row = 4 * (blockIdx.y * SIDE + y);
    int out_col = 4 * (blockIdx.x * SIDE + x);
    if (out_row < cols && out_col < rows)
        for (int k = 0; k < 4; k++) {
            float *p = out + (out_row + k) * rows + out_col;
            //> load-swizzled
            *(float4 *)p = tile[4 * y + k][x ^ y];
            //< load-swizzled
        }
}
//< squares

//> version TODO:
#ifndef VERSION
#define VERSION 5  // the kernel that `transpose` launches
#endif
//< version

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    //> empty
    if (rows == 0 || cols == 0)
        return;
    //< empty

    //> launch
    //> grid
    dim3 block(TILE, TILE);
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    //< grid
    //> choice TODO:
    //| transpose_naive<<<grid, block>>>(out, in, rows, cols);
    if (VERSION == 1)
        transpose_naive<<<grid, block>>>(out, in, rows, cols);
    else if (VERSION == 2)
        transpose_tile<<<grid, block>>>(out, in, rows, cols);
    else if (VERSION == 3)
        transpose_padded<<<grid, block>>>(out, in, rows, cols);
    //> ragged
    else if (VERSION == 4 || rows % 4 != 0 || cols % 4 != 0)
    //< ragged
        transpose_fours<<<grid, dim3(TILE, ROWS)>>>(out, in, rows, cols);
    else {
        dim3 half((grid.y + 1) / 2, (grid.x + 1) / 2);  // tiles of 64 x 64
        transpose_squares<<<half, dim3(SIDE, SIDE)>>>(out, in, rows, cols);
    }
    //< choice
    CHECK(cudaGetLastError());  // the caller synchronises
    //< launch
}
