// Lesson 3: a stack of pictures made grey, and a picture of the Mandelbrot set.
//
// No pixel needs another one. All that there is to decide is which thread takes which pixel: a
// matter of indices for the first, and of which 32 pixels share a warp for the second.
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

//> version TODO:
#ifndef VERSION
#define VERSION 3  // 1: places by division; 2: by the grid; 3: four pixels a thread
#endif
//< version

// ---- Grey

//> luma
__device__ unsigned char luma(int red, int green, int blue)
{
    return (77 * red + 150 * green + 29 * blue + 128) / 256;
}
//< luma

//> row
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
//< row

//> pixels
// Version 2: a thread has the same pixel of each picture that is its
// block's: gridDim.z apart, where there are more than the grid is deep.
__global__ void grey_pixels(unsigned char *grey, int grey_pitch,
                            const unsigned char *rgb, int rgb_pitch,
                            int width, int height, int count)
{
    //> mine TODO: x and y of this thread, its bounds check, and a loop over z (8 lines)
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    for (int z = blockIdx.z; z < count; z += gridDim.z) {
        size_t row = (size_t)z * height + y;
        const unsigned char *pixel = rgb + row * rgb_pitch + 3 * x;
        grey[row * grey_pitch + x] = luma(pixel[0], pixel[1], pixel[2]);
    }
    //< mine
}
//< pixels

//> weigh TODO:
// The grey of the pixel in a word's lowest three bytes. __dp4a adds four
// products of bytes in one instruction; the weight of the fourth is 0.
__device__ unsigned weigh(unsigned word)
{
    return __dp4a(word, 77u | 150u << 8 | 29u << 16, 128u) >> 8;
}
//< weigh

//> fours TODO:
// Version 3: four pixels a thread. Their 12 bytes are three words, and
// what becomes of them is one.
__global__ void grey_fours(unsigned char *grey, int grey_pitch,
                           const unsigned char *rgb, int rgb_pitch,
                           int width, int height, int count)
{
    int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;

    for (int z = blockIdx.z; z < count; z += gridDim.z) {
        size_t row = (size_t)z * height + y;
        const unsigned char *pixel = rgb + row * rgb_pitch + 3 * x;
        unsigned char *out = grey + row * grey_pitch + x;
        //> four
        if (x + 4 <= width) {
            const unsigned *word = (const unsigned *)pixel;
            unsigned a = word[0], b = word[1], c = word[2];  // rgbr gbrg brgb
            *(unsigned *)out = weigh(a)
                             | weigh(__funnelshift_r(a, b, 24)) << 8
                             | weigh(__funnelshift_r(b, c, 16)) << 16
                             | weigh(c >> 8) << 24;
        } else {
            for (int i = 0; i < width - x; i++)
                out[i] = luma(pixel[3 * i], pixel[3 * i + 1], pixel[3 * i + 2]);
        }
        //< four
    }
}
//< fours

extern "C" void make_grey(unsigned char *grey, int grey_pitch,
                          const unsigned char *rgb, int rgb_pitch,
                          int width, int height, int count)
{
    //> empty
    if (width == 0 || height == 0 || count == 0)
        return;  // a grid of no blocks is an error
    //< empty

    //> others TODO:
    if (VERSION == 1) {
        int blocks = (width * height * count + THREADS - 1) / THREADS;
        grey_in_a_row<<<blocks, THREADS>>>(
            grey, grey_pitch, rgb, rgb_pitch, width, height, count);
        CHECK(cudaGetLastError());
        return;
    }
    if (VERSION == 3) {
        dim3 fours((width + 127) / 128, (height + 7) / 8, min(count, MAX_Z));
        grey_fours<<<fours, dim3(32, 8)>>>(
            grey, grey_pitch, rgb, rgb_pitch, width, height, count);
        CHECK(cudaGetLastError());
        return;
    }
    //< others

    //> launch
    //> grid TODO: choose block and grid, and launch grey_pixels (4 lines)
    dim3 block(32, 8);
    dim3 grid((width + 31) / 32, (height + 7) / 8, min(count, MAX_Z));
    grey_pixels<<<grid, block>>>(
        grey, grey_pitch, rgb, rgb_pitch, width, height, count);
    //< grid
    CHECK(cudaGetLastError());  // the caller synchronises
    //< launch
}

// ---- Mandelbrot

//> escape
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
//< escape

//> fives TODO:
// The same. What is more than 2 away never comes back, so that it is soon
// enough to look after every fifth step; which of the five it was is found
// out by taking them again.
__device__ int steps_in_fives(float cx, float cy)
{
    float x = 0, y = 0;

    for (int step = 0; step < 255; step += 5) {
        float x_before = x, y_before = y;
        #pragma unroll
        for (int i = 0; i < 5; i++) {
            float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
            y = __fadd_rn(__fmul_rn(__fadd_rn(x, x), y), cy);
            x = __fadd_rn(__fsub_rn(xx, yy), cx);
        }
        if (__fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 4)
            continue;

        x = x_before, y = y_before;
        for (; step < 255; step++) {
            float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
            if (__fadd_rn(xx, yy) > 4)
                break;
            y = __fadd_rn(__fmul_rn(__fadd_rn(x, x), y), cy);
            x = __fadd_rn(__fsub_rn(xx, yy), cx);
        }
        return step;
    }
    return 255;
}
//< fives

//> drawn
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
    //> count TODO:
    //| out[(size_t)y * pitch + x] = steps_to_escape(cx, cy);
    out[(size_t)y * pitch + x] = VERSION < 3 ? steps_to_escape(cx, cy)
                                             : steps_in_fives(cx, cy);
    //< count
}
//< drawn

extern "C" void mandelbrot(unsigned char *out, int pitch,
                           int width, int height,
                           float left, float top, float step)
{
    if (width == 0 || height == 0)
        return;

    //> rows TODO:
    if (VERSION == 1) {
        dim3 rows(32, 8);  // a warp has 32 x 1
        dim3 enough((width + 31) / 32, (height + 7) / 8);
        mandelbrot_pixels<<<enough, rows>>>(out, pitch, width, height, left, top, step);
        CHECK(cudaGetLastError());
        return;
    }
    //< rows

    //> shape
    //> warps TODO: choose block and grid, and launch mandelbrot_pixels (3 lines)
    dim3 block(8, 32);  // so a warp has 8 x 4 pixels
    dim3 grid((width + 7) / 8, (height + 31) / 32);
    mandelbrot_pixels<<<grid, block>>>(out, pitch, width, height, left, top, step);
    //< warps
    CHECK(cudaGetLastError());
    //< shape
}
