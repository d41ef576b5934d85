// Lesson 7: filter a picture. Each pixel of the answer is a weighted sum of the pixels around it.
//
// Neighbouring pixels have nearly the same neighbours. So a pixel that has been loaded should serve several sums: in a
// register those of one thread, in shared memory those of a block.
#include "07-stencil.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

//> version TODO:
#ifndef VERSION
#define VERSION 4  // what `convolve` launches
#endif
//< version

enum { BLOCK_X = 32, BLOCK_Y = 8 };  // threads of a block
enum { MAX_SIDE = 2 * MAX_RADIUS + 1 };

//> constant
// The weights, row after row: in memory that kernels only read.
//> weights
__constant__ float filter[MAX_SIDE * MAX_SIDE];
//< weights

//> edge
// The row or column that counts for `at`, of `count` that there are.
__device__ int clamp(int at, int count)
{
    return min(max(at, 0), count - 1);
}
//< edge
//< constant

//> naive
// A thread for each pixel, which loads its whole window.
template <int RADIUS>
__global__ void convolve_naive(float *out, const float *in,
                               int width, int height)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x;
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    //> sum TODO: add up weight times pixel over the window, and store the sum (9 lines)
    const int SIDE = 2 * RADIUS + 1;
    float sum = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            //> place
            int row = clamp(y - RADIUS + i, height);
            int col = clamp(x - RADIUS + j, width);
            //< place
            //> naive-sum
            sum += filter[i * SIDE + j] * in[row * width + col];
            //< naive-sum
        }
    out[y * width + x] = sum;
    //< sum
}
//< naive

//> steps TODO:
//> one-below-the-other
enum { COLUMN = 4 };  // versions 2 and 3: the pixels of a thread
//< one-below-the-other

//> serve
// Adds a pixel to the sums of the column that it counts in. The pixel is
// in row i and column j of the column's common window.
template <int RADIUS>
__device__ void serve(float *sum, float pixel, int i, int j)
{
    const int SIDE = 2 * RADIUS + 1;
    #pragma unroll
    for (int k = 0; k < COLUMN; k++)
        if (i >= k && i - k < SIDE)
            sum[k] += filter[(i - k) * SIDE + j] * pixel;
}
//< serve

//> column
// Version 2: a thread has a column of pixels, and loads their common
// window.
template <int RADIUS>
__global__ void convolve_column(float *out, const float *in,
                                int width, int height)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x;
    int y = (blockIdx.y * BLOCK_Y + threadIdx.y) * COLUMN;
    if (x >= width)
        return;

    float sum[COLUMN] = {};
    #pragma unroll
    for (int i = 0; i < COLUMN + 2 * RADIUS; i++)
        #pragma unroll
        for (int j = 0; j < 2 * RADIUS + 1; j++) {
            //> column-place
            int row = clamp(y - RADIUS + i, height);
            int col = clamp(x - RADIUS + j, width);
            //< column-place
            //> column-serve
            serve<RADIUS>(sum, in[row * width + col], i, j);
            //< column-serve
        }
    //> column-store
    #pragma unroll
    for (int k = 0; k < COLUMN; k++)
        if (y + k < height)
            out[(y + k) * width + x] = sum[k];
    //< column-store
}
//< column

//> tile
// Version 3: the block loads its pixels and the halo around them once,
// into shared memory, and its threads take their windows from there.
template <int RADIUS>
__global__ void convolve_tile(float *out, const float *in,
                              int width, int height)
{
    const int HIGH = BLOCK_Y * COLUMN;  // rows of pixels
    //> shared-tile
    __shared__ float tile[HIGH + 2 * RADIUS][BLOCK_X + 2 * RADIUS];
    //< shared-tile

    //> corner
    int top = blockIdx.y * HIGH - RADIUS;
    int left = blockIdx.x * BLOCK_X - RADIUS;
    //< corner
    //> fill-tile
    for (int i = threadIdx.y; i < HIGH + 2 * RADIUS; i += BLOCK_Y)
        for (int j = threadIdx.x; j < BLOCK_X + 2 * RADIUS;
             j += BLOCK_X) {
            int row = clamp(top + i, height);
            int col = clamp(left + j, width);
            //> tile-pixel
            tile[i][j] = in[row * width + col];
            //< tile-pixel
        }
    //< fill-tile
    //> wait
    __syncthreads();
    //< wait

    int ty = threadIdx.y * COLUMN, tx = threadIdx.x;
    float sum[COLUMN] = {};
    #pragma unroll
    for (int i = 0; i < COLUMN + 2 * RADIUS; i++)
        #pragma unroll
        for (int j = 0; j < 2 * RADIUS + 1; j++)
            //> window
            serve<RADIUS>(sum, tile[ty + i][tx + j], i, j);
            //< window
    int y = blockIdx.y * HIGH + ty, x = blockIdx.x * BLOCK_X + tx;
    #pragma unroll
    for (int k = 0; k < COLUMN; k++)
        if (y + k < height && x < width)
            out[(y + k) * width + x] = sum[k];
}
//< tile
//< steps

//> rows TODO:
enum { ROWS = 8, WARPS = 4 };  // a thread's rows, a block's warps

// A kernel's arguments are in constant memory, too.
struct Filter {
    float weight[MAX_SIDE * MAX_SIDE];
};

__device__ float part(float4 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// Version 4: no tile. A lane has four neighbouring pixels of each row, and
// gets those left and right of them from the lanes beside it. The first
// and the last lane of a warp are there for their neighbours only. For
// rows of whole vectors.
template <int RADIUS>
__global__ void convolve_rows(float4 *out, const float4 *in,
                              int vectors, int height,
                              Filter filter)
{
    const int SIDE = 2 * RADIUS + 1;
    int v = blockIdx.x * 30 + (int)threadIdx.x - 1;
    int y = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
    if (y >= height)
        return;  // all lanes of the warp

    float4 loaded[ROWS + 2 * RADIUS];  // all under way together
    #pragma unroll
    for (int i = 0; i < ROWS + 2 * RADIUS; i++) {
        //> vector
        int row = clamp(y - RADIUS + i, height);
        loaded[i] = in[row * vectors + clamp(v, vectors)];
        //< vector
    }

    float sum[ROWS][4] = {};
    #pragma unroll
    for (int i = 0; i < ROWS + 2 * RADIUS; i++) {
        float4 own = loaded[i];
        //> beyond
        if (v < 0)
            own = make_float4(own.x, own.x, own.x, own.x);
        if (v >= vectors)
            own = make_float4(own.w, own.w, own.w, own.w);
        //< beyond

        float pixel[RADIUS + 4 + RADIUS];
        #pragma unroll
        for (int k = 0; k < 4; k++)
            pixel[RADIUS + k] = part(own, k);
        #pragma unroll
        for (int k = 0; k < RADIUS; k++) {
            pixel[k] =
                __shfl_up_sync(0xffffffff, part(own, 4 - RADIUS + k), 1);
            pixel[RADIUS + 4 + k] =
                __shfl_down_sync(0xffffffff, part(own, k), 1);
        }

        #pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (i >= r && i - r < SIDE)
                #pragma unroll
                for (int j = 0; j < SIDE; j++)
                    #pragma unroll
                    for (int k = 0; k < 4; k++)
                        sum[r][k] += filter.weight[(i - r) * SIDE + j]
                                   * pixel[j + k];
    }

    if (threadIdx.x > 0 && threadIdx.x < 31 && v < vectors)
        #pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (y + r < height)
                out[(y + r) * vectors + v] = make_float4(
                    sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}
//< rows

//> launch
template <int RADIUS>
static void launch(float *out, const float *in, int width, int height, const float *weights)
{
    //> choose-rows TODO:
    if (VERSION == 4 && width % 4 == 0) {
        Filter filter;
        memcpy(filter.weight, weights, (2 * RADIUS + 1) * (2 * RADIUS + 1) * sizeof(float));
        dim3 warps((width / 4 + 29) / 30, (height + ROWS * WARPS - 1) / (ROWS * WARPS));
        convolve_rows<RADIUS><<<warps, dim3(32, WARPS)>>>((float4 *)out, (const float4 *)in, width / 4,
                                                          height, filter);
        CHECK(cudaGetLastError());
        return;
    }

    //< choose-rows
    //> copy TODO: copy the weights to `filter` (2 lines)
    size_t count = (2 * RADIUS + 1) * (2 * RADIUS + 1);
    CHECK(cudaMemcpyToSymbol(filter, weights, count * sizeof(float)));
    //< copy
    //> rows-of-a-block TODO:
    //| const int HIGH = BLOCK_Y;  // the rows of a block's pixels
    const int HIGH = VERSION == 1 ? BLOCK_Y : BLOCK_Y * COLUMN;  // the rows of a block's pixels
    //< rows-of-a-block
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + HIGH - 1) / HIGH);
    //> choice TODO:
    //| convolve_naive<RADIUS><<<grid, block>>>(out, in, width, height);
    if constexpr (VERSION == 1)
        convolve_naive<RADIUS><<<grid, block>>>(out, in, width, height);
    else if constexpr (VERSION == 2)
        convolve_column<RADIUS><<<grid, block>>>(out, in, width, height);
    else
        convolve_tile<RADIUS><<<grid, block>>>(out, in, width, height);
    //< choice
    CHECK(cudaGetLastError());  // the caller synchronises
}
//< launch

extern "C" void convolve(float *out, const float *in, int width, int height,
                         const float *weights, int radius)
{
    //> empty
    if (width == 0 || height == 0)
        return;
    //< empty
    switch (radius) {
    case 0: return launch<0>(out, in, width, height, weights);
    case 1: return launch<1>(out, in, width, height, weights);
    case 2: return launch<2>(out, in, width, height, weights);
    case 3: return launch<3>(out, in, width, height, weights);
    case 4: return launch<4>(out, in, width, height, weights);
    }
}
