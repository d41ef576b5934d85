// expect: BOUNDS 44
// Loads four pixels at once, also where rows are no multiple of four.
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

// A lane has four pixels of each row of its windows, and its neighbours' to both sides.
template <int RADIUS>
__global__ void convolve_vectors(float *out, const float *in, int width, int height)
{
    const int SIDE = 2 * RADIUS + 1;
    int x = 4 * (blockIdx.x * BLOCK_X + threadIdx.x);
    int y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    float sum[4] = {};
    for (int i = 0; i < SIDE; i++) {
        const float *row = in + clamp(y - RADIUS + i, height) * width;
        float4 own = *(const float4 *)(row + x);
        float4 left = x > 0 ? *(const float4 *)(row + x - 4) : make_float4(own.x, own.x, own.x, own.x);
        float4 right = x + 4 < width ? *(const float4 *)(row + x + 4) : make_float4(own.w, own.w, own.w, own.w);
        float pixel[12] = {left.x, left.y, left.z, left.w, own.x, own.y, own.z, own.w,
                           right.x, right.y, right.z, right.w};
        for (int j = 0; j < SIDE; j++)
            for (int k = 0; k < 4; k++)
                sum[k] += filter[i * SIDE + j] * pixel[4 - RADIUS + j + k];
    }
    for (int k = 0; k < 4 && x + k < width; k++)
        out[y * width + x + k] = sum[k];
}

template <int RADIUS>
static void launch(float *out, const float *in, int width, int height, const float *weights)
{
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((width + BLOCK_X - 1) / BLOCK_X, (height + BLOCK_Y - 1) / BLOCK_Y);

    size_t count = (2 * RADIUS + 1) * (2 * RADIUS + 1);
    CHECK(cudaMemcpyToSymbol(filter, weights, count * sizeof(float)));
    convolve_vectors<RADIUS><<<grid, block>>>(out, in, width, height);
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
