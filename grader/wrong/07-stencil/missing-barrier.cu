// expect: RACE
// at: tile[i][j] = in[row * width + col];
// at: sum += filter[i * SIDE + j] * tile[ty + i][tx + j];
// Takes the window from the tile before all of it is there.
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

enum { BLOCK_X = 32, BLOCK_Y = 8 };  // threads of a block
enum { MAX_SIDE = 2 * MAX_RADIUS + 1 };

// The weights, row after row: in memory that kernels only read.
__constant__ float filter[MAX_SIDE * MAX_SIDE];

// The row or column that counts for `at`, of `count` that there are.
__device__ int clamp(int at, int count)
{
    return min(max(at, 0), count - 1);
}

enum { COLUMN = 4 };  // pixels of a thread, one below the other

template <int RADIUS>
__global__ void convolve_tile(float *out, const float *in, int width, int height)
{
    const int HIGH = BLOCK_Y * COLUMN;  // rows of pixels
    __shared__ float tile[HIGH + 2 * RADIUS][BLOCK_X + 2 * RADIUS];

    int top = blockIdx.y * HIGH - RADIUS, left = blockIdx.x * BLOCK_X - RADIUS;
    for (int i = threadIdx.y; i < HIGH + 2 * RADIUS; i += BLOCK_Y)
        for (int j = threadIdx.x; j < BLOCK_X + 2 * RADIUS; j += BLOCK_X) {
            int row = clamp(top + i, height), col = clamp(left + j, width);
            tile[i][j] = in[row * width + col];
        }

    const int SIDE = 2 * RADIUS + 1;
    #pragma unroll
    for (int k = 0; k < COLUMN; k++) {
        int ty = threadIdx.y * COLUMN + k, tx = threadIdx.x;
        float sum = 0;
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                sum += filter[i * SIDE + j] * tile[ty + i][tx + j];
        int y = blockIdx.y * HIGH + ty, x = blockIdx.x * BLOCK_X + tx;
        if (y < height && x < width)
            out[y * width + x] = sum;
    }
}

template <int RADIUS>
static void launch(float *out, const float *in, int width, int height, const float *weights)
{
    const int HIGH = BLOCK_Y * COLUMN;  // the rows of a block's pixels
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + HIGH - 1) / HIGH);

    size_t count = (2 * RADIUS + 1) * (2 * RADIUS + 1);
    CHECK(cudaMemcpyToSymbol(filter, weights, count * sizeof(float)));
    convolve_tile<RADIUS><<<grid, block>>>(out, in, width, height);
    CHECK(cudaGetLastError());  // the caller synchronises
}

extern "C" void convolve(float *out, const float *in, int width, int height,
                         const float *weights, int radius)
{
    if (width == 0 || height == 0)
        return;
    switch (radius) {
    case 0: return launch<0>(out, in, width, height, weights);
    case 1: return launch<1>(out, in, width, height, weights);
    case 2: return launch<2>(out, in, width, height, weights);
    case 3: return launch<3>(out, in, width, height, weights);
    case 4: return launch<4>(out, in, width, height, weights);
    }
}
