// Lesson 7: filter a picture, each pixel from those around it, reading none of them more often than need be.
//
// Neighbouring pixels have nearly the same neighbours. So a block keeps a tile of the picture in shared memory, with a
// rim around it, the halo; and who wants to do better keeps a window of it in registers.
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
__constant__ float filter[MAX_SIDE * MAX_SIDE];

// The row or column that counts for `at`, of `count` that there are.
__device__ int clamp(int at, int count)
{
    return min(max(at, 0), count - 1);
}
//< constant

//> naive
// Version 1: a thread for each pixel, which loads its whole window.
template <int RADIUS>
__global__ void convolve_naive(float *out, const float *in, int width, int height)
{
    const int SIDE = 2 * RADIUS + 1;
    int x = blockIdx.x * BLOCK_X + threadIdx.x;
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    float sum = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            int row = clamp(y - RADIUS + i, height);
            int col = clamp(x - RADIUS + j, width);
            sum += filter[i * SIDE + j] * in[row * width + col];
        }
    out[y * width + x] = sum;
}
//< naive

//> tile
//> column TODO:
//| enum { COLUMN = 1 };  // pixels of a thread, one below the other
enum { COLUMN = VERSION == 2 ? 1 : 4 };  // pixels of a thread, one below the other
//< column

// Versions 2 and 3: the block loads its pixels and the halo around them
// once, into shared memory, and takes the windows from there.
template <int RADIUS>
__global__ void convolve_tile(float *out, const float *in, int width, int height)
{
    //> load-tile TODO: declare the tile, load it with its halo, clamped, and wait (10 lines)
    const int HIGH = BLOCK_Y * COLUMN;  // rows of pixels
    //> shared-tile
    __shared__ float tile[HIGH + 2 * RADIUS][BLOCK_X + 2 * RADIUS];
    //< shared-tile

    //> corner
    int top = blockIdx.y * HIGH - RADIUS, left = blockIdx.x * BLOCK_X - RADIUS;
    //< corner
    //> fill-tile
    for (int i = threadIdx.y; i < HIGH + 2 * RADIUS; i += BLOCK_Y)
        for (int j = threadIdx.x; j < BLOCK_X + 2 * RADIUS; j += BLOCK_X) {
            int row = clamp(top + i, height), col = clamp(left + j, width);
            tile[i][j] = in[row * width + col];
        }
    //< fill-tile
    //> wait
    __syncthreads();
    //< wait
    //< load-tile

    //> sum TODO: for each of the thread's pixels, add up its window of the tile, and store it (12 lines)
    const int SIDE = 2 * RADIUS + 1;
    #pragma unroll
    for (int k = 0; k < COLUMN; k++) {
        int ty = threadIdx.y * COLUMN + k, tx = threadIdx.x;
        float sum = 0;
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                //> window
                sum += filter[i * SIDE + j] * tile[ty + i][tx + j];
                //< window
        int y = blockIdx.y * HIGH + ty, x = blockIdx.x * BLOCK_X + tx;
        if (y < height && x < width)
            out[y * width + x] = sum;
    }
    //< sum
}
//< tile

//> rows TODO:
enum { ROWS = 8, WARPS = 4 };  // version 4: rows of a thread, warps of a block

// A kernel's arguments lie in constant memory, too.
struct Filter {
    float weight[MAX_SIDE * MAX_SIDE];
};

__device__ float part(float4 v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

// Version 4: no tile. A lane has four neighbouring pixels of each row, and gets
// those left and right of them from the lanes beside it. The first and the last
// lane of a warp are there for their neighbours only. For rows of whole vectors.
template <int RADIUS>
__global__ void convolve_rows(float4 *out, const float4 *in, int vectors,
                              int height, Filter filter)
{
    const int SIDE = 2 * RADIUS + 1;
    int v = blockIdx.x * 30 + (int)threadIdx.x - 1;
    int y = (blockIdx.y * WARPS + threadIdx.y) * ROWS;
    if (y >= height)
        return;  // all lanes of the warp

    float4 loaded[ROWS + 2 * RADIUS];  // all under way together
    #pragma unroll
    for (int i = 0; i < ROWS + 2 * RADIUS; i++) {
        int row = clamp(y - RADIUS + i, height);
        loaded[i] = in[row * vectors + clamp(v, vectors)];
    }

    float sum[ROWS][4] = {};
    #pragma unroll
    for (int i = 0; i < ROWS + 2 * RADIUS; i++) {
        float4 own = loaded[i];
        if (v < 0)
            own = make_float4(own.x, own.x, own.x, own.x);
        if (v >= vectors)
            own = make_float4(own.w, own.w, own.w, own.w);

        float pixel[RADIUS + 4 + RADIUS];
        #pragma unroll
        for (int k = 0; k < 4; k++)
            pixel[RADIUS + k] = part(own, k);
        #pragma unroll
        for (int k = 0; k < RADIUS; k++) {
            pixel[k] = __shfl_up_sync(0xffffffff, part(own, 4 - RADIUS + k), 1);
            pixel[RADIUS + 4 + k] = __shfl_down_sync(0xffffffff, part(own, k), 1);
        }

        #pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (i >= r && i - r < SIDE)
                #pragma unroll
                for (int j = 0; j < SIDE; j++)
                    #pragma unroll
                    for (int k = 0; k < 4; k++)
                        sum[r][k] += filter.weight[(i - r) * SIDE + j] * pixel[j + k];
    }

    if (threadIdx.x > 0 && threadIdx.x < 31 && v < vectors)
        #pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (y + r < height)
                out[(y + r) * vectors + v] =
                    make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}
//< rows

//> launch
template <int RADIUS>
static void launch(float *out, const float *in, int width, int height, const float *weights)
{
    const int HIGH = BLOCK_Y * COLUMN;  // the rows of a block's pixels
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + HIGH - 1) / HIGH);

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
    //> choice TODO:
    //| convolve_tile<RADIUS><<<grid, block>>>(out, in, width, height);
    if (VERSION == 1)
        convolve_naive<RADIUS><<<dim3(grid.x, (height + BLOCK_Y - 1) / BLOCK_Y), block>>>(out, in, width, height);
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
