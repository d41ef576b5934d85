// expect: PROTOCOL
// says: a grid of 1x131072x1 blocks has more than 65535 of them in y
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

__global__ void transpose_naive(float *out, const float *in,
                                int rows, int cols)
{
    int row = blockIdx.y * 8 + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;

    if (row < rows && col < cols)
        out[col * rows + row] = in[row * cols + col];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    if (rows == 0 || cols == 0)
        return;

    dim3 block(TILE, 8);
    dim3 grid((cols + TILE - 1) / TILE, (rows + 7) / 8);
    transpose_naive<<<grid, block>>>(out, in, rows, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
}
