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

enum { BLOCK_X = 32, BLOCK_Y = 8 };  // threads of a block
enum { MAX_SIDE = 2 * MAX_RADIUS + 1 };

// The weights, row after row: in memory that kernels only read.
__constant__ float filter[MAX_SIDE * MAX_SIDE];

// The row or column that counts for `at`, of `count` that there are.
__device__ int clamp(int at, int count)
{
    return min(max(at, 0), count - 1);
}

// A thread for each pixel, which loads its whole window.
template <int RADIUS>
__global__ void convolve_naive(float *out, const float *in,
                               int width, int height)
{
    int x = blockIdx.x * BLOCK_X + threadIdx.x;
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    // TODO: add up weight times pixel over the window, and store the sum (9 lines)
}

template <int RADIUS>
static void launch(float *out, const float *in, int width, int height, const float *weights)
{
    // TODO: copy the weights to `filter` (2 lines)
    const int HIGH = BLOCK_Y;  // the rows of a block's pixels
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + HIGH - 1) / HIGH);
    convolve_naive<RADIUS><<<grid, block>>>(out, in, width, height);
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
