// expect: WRONG
// says: Only the first picture was made
// All blocks begin with the first picture.
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

enum { THREADS = 256, MAX_Z = 65535 };  // a grid has at most MAX_Z blocks in y and in z

// ---- Grey

__device__ unsigned char luma(int red, int green, int blue)
{
    return (77 * red + 150 * green + 29 * blue + 128) / 256;
}

// Version 1: the pixels of all pictures as one long row, and a grid of
// any size that strides over it. The place comes from the number.
__global__ void grey_in_a_row(unsigned char *grey, int grey_pitch,
                              const unsigned char *rgb, int rgb_pitch,
                              int width, int height, int count)
{
    int pixels = width * height * count;
    int stride = gridDim.x * blockDim.x;

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels;
         i += stride) {
        int x = i % width;
        int y = i / width % height;
        int z = i / width / height;
        size_t row = (size_t)z * height + y;
        const unsigned char *pixel = rgb + row * rgb_pitch + 3 * x;
        grey[row * grey_pitch + x] = luma(pixel[0], pixel[1], pixel[2]);
    }
}

// Version 2: a thread has the same pixel of each picture that is its
// block's: gridDim.z apart, where there are more than the grid is deep.
__global__ void grey_pixels(unsigned char *grey, int grey_pitch,
                            const unsigned char *rgb, int rgb_pitch,
                            int width, int height, int count)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    for (int z = 0; z < count; z += gridDim.z) {
        size_t row = (size_t)z * height + y;
        const unsigned char *pixel = rgb + row * rgb_pitch + 3 * x;
        grey[row * grey_pitch + x] = luma(pixel[0], pixel[1], pixel[2]);
    }
}

extern "C" void make_grey(unsigned char *grey, int grey_pitch,
                          const unsigned char *rgb, int rgb_pitch,
                          int width, int height, int count)
{
    if (width == 0 || height == 0 || count == 0)
        return;  // a grid of no blocks is an error

    dim3 block(32, 8);
    dim3 grid((width + 31) / 32, (height + 7) / 8, min(count, MAX_Z));
    grey_pixels<<<grid, block>>>(
        grey, grey_pitch, rgb, rgb_pitch, width, height, count);
    CHECK(cudaGetLastError());  // the caller synchronises
}

// ---- Mandelbrot

// z = z * z + c again and again, from z = 0: how often until it is more
// than 2 away from 0, at most 255 times. The functions __fadd_rn, __fmul_rn
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

    dim3 block(8, 32);  // so a warp has 8 x 4 pixels
    dim3 grid((width + 7) / 8, (height + 31) / 32);
    mandelbrot_pixels<<<grid, block>>>(out, pitch, width, height, left, top, step);
    CHECK(cudaGetLastError());
}
