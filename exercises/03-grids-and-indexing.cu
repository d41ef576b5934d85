// Lesson 3: a stack of pictures made grey, and a picture of the Mandelbrot set.
//
// No pixel depends on another pixel, so the threads need nothing from one another. You only decide
// which thread makes which pixels.
#include "03-grids-and-indexing.h"

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

enum { THREADS = 256, MAX_BLOCKS = 65535 };  // a grid has at most MAX_BLOCKS in y, and in z

// ---- Grey

__device__ unsigned char luma(int red, int green, int blue)
{
    return (77 * red + 150 * green + 29 * blue + 128) / 256;
}

// Takes the pixels of all pictures as one long row, with a grid of any size,
// and computes x, y and z from a pixel's number in that row.
__global__ void grey_in_a_row(unsigned char *grey, int grey_pitch,
                              const unsigned char *rgb, int rgb_pitch,
                              int width, int height, int count)
{
    int pixels = width * height * count;
    int stride = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels;
         i += stride) {
        // TODO: x, y and z of pixel i; its row; read its colours, store its grey (6 lines)
    }
}

extern "C" void make_grey(unsigned char *grey, int grey_pitch,
                          const unsigned char *rgb, int rgb_pitch,
                          int width, int height, int count)
{
    if (width == 0 || height == 0 || count == 0)
        return;  // a grid of no blocks is an error

    // TODO: choose the number of blocks, and launch grey_in_a_row (3 lines)
    CHECK(cudaGetLastError());  // the caller synchronises
}

// ---- Mandelbrot

// Repeats z = z * z + c from z = 0, and returns the number of steps until z is
// more than 2 away from 0, at most 255. The functions __fadd_rn, __fmul_rn
// and __fsub_rn are +, * and -, but never fused into one operation.
__device__ int steps_to_escape(float cx, float cy)
{
    float x = 0, y = 0;

    for (int step = 0; step < 255; step++) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4)
            return step;
        y = __fadd_rn(__fmul_rn(__fadd_rn(x, x), y), cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
    }
    return 255;
}

__global__ void mandelbrot_pixels(unsigned char *out, int pitch,
                                  int width, int height,
                                  float left, float top, float step)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    float cx = __fadd_rn(left, __fmul_rn(x, step));
    float cy = __fadd_rn(top, __fmul_rn(y, step));
    out[(size_t)y * pitch + x] = steps_to_escape(cx, cy);
}

extern "C" void mandelbrot(unsigned char *out, int pitch,
                           int width, int height,
                           float left, float top, float step)
{
    if (width == 0 || height == 0)
        return;

    // TODO: choose block and grid, and launch mandelbrot_pixels (3 lines)
    CHECK(cudaGetLastError());
}
