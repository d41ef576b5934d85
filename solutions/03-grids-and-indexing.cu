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

//> version TODO:
#ifndef VERSION
#define VERSION 4  // 1: divides to find a pixel; 2: asks the grid; 3: several pixels a thread; 4: words
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
        //> mine TODO: x, y and z of pixel i; its row; read its colours, store its grey (6 lines)
        int x = i % width;
        int y = i / width % height;
        int z = i / width / height;
        size_t row = (size_t)z * height + y;
        const unsigned char *pixel = rgb + row * rgb_pitch + 3 * x;
        grey[row * grey_pitch + x] = luma(pixel[0], pixel[1], pixel[2]);
        //< mine
    }
}
//< row

//> later TODO:
//> pixels
// Version 2: a thread takes the same pixel of every gridDim.z-th picture,
// from its block's z on. That is one picture if the grid is deep enough.
__global__ void grey_pixels(unsigned char *grey, int grey_pitch,
                            const unsigned char *rgb, int rgb_pitch,
                            int width, int height, int count)
{
    //> place
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    //< place

    //> depth
    for (int z = blockIdx.z; z < count; z += gridDim.z) {
    //< depth
        size_t row = (size_t)z * height + y;
        //> pixel
        const unsigned char *pixel = rgb + row * rgb_pitch + 3 * x;
        grey[row * grey_pitch + x] = luma(pixel[0], pixel[1], pixel[2]);
        //< pixel
    }
}
//< pixels

//> rows-of-all
// Version 3: a stack is one tall picture of height * count rows. A thread
// computes two addresses once, and then takes a pixel of every stride-th row.
__global__ void grey_rows(unsigned char *grey, int grey_pitch,
                          const unsigned char *rgb, int rgb_pitch,
                          int width, int height, int count)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width)
        return;

    int rows = height * count, stride = gridDim.y * blockDim.y;
    rgb += (size_t)y * rgb_pitch + 3 * x;
    grey += (size_t)y * grey_pitch + x;
    for (; y < rows; y += stride) {
        *grey = luma(rgb[0], rgb[1], rgb[2]);
        rgb += (size_t)stride * rgb_pitch;
        grey += (size_t)stride * grey_pitch;
    }
}
//< rows-of-all

//> weigh
// The grey of the pixel in a word's lowest three bytes. __dp4a adds four
// products of bytes in one instruction; the weight of the fourth is 0.
__device__ unsigned weigh(unsigned word)
{
    return __dp4a(word, 77u | 150u << 8 | 29u << 16, 128u) >> 8;
}
//< weigh

//> fours
// Version 4: as version 3, but four pixels of a row at a time. Their 12 bytes
// are three words, and their four grey bytes are one word.
__global__ void grey_fours(unsigned char *grey, int grey_pitch,
                           const unsigned char *rgb, int rgb_pitch,
                           int width, int height, int count)
{
    int x = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width)
        return;

    int rows = height * count, stride = gridDim.y * blockDim.y;
    rgb += (size_t)y * rgb_pitch + 3 * x;
    grey += (size_t)y * grey_pitch + x;
    for (; y < rows; y += stride) {
        //> four
        if (x + 4 <= width) {
            const unsigned *word = (const unsigned *)rgb;
            unsigned a = word[0], b = word[1], c = word[2];  // rgbr gbrg brgb
            *(unsigned *)grey = weigh(a)
                              | weigh(__funnelshift_r(a, b, 24)) << 8
                              | weigh(__funnelshift_r(b, c, 16)) << 16
                              | weigh(c >> 8) << 24;
        } else {
            for (int i = 0; i < width - x; i++)
                grey[i] = luma(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
        }
        //< four
        rgb += (size_t)stride * rgb_pitch;
        grey += (size_t)stride * grey_pitch;
    }
}
//< fours

static void launch_later(unsigned char *grey, int grey_pitch,
                         const unsigned char *rgb, int rgb_pitch,
                         int width, int height, int count)
{
    if (VERSION == 2) {
        //> grid
        dim3 block(32, 8);
        dim3 grid((width + 31) / 32, (height + 7) / 8, min(count, MAX_BLOCKS));
        grey_pixels<<<grid, block>>>(
            grey, grey_pitch, rgb, rgb_pitch, width, height, count);
        //< grid
    } else if (VERSION == 3) {
        //> grid-rows
        dim3 block(32, 8);
        dim3 grid((width + 31) / 32, min((height * count + 63) / 64, MAX_BLOCKS));
        grey_rows<<<grid, block>>>(
            grey, grey_pitch, rgb, rgb_pitch, width, height, count);
        //< grid-rows
    } else {
        dim3 block(32, 8);
        dim3 grid((width + 127) / 128, min((height * count + 31) / 32, MAX_BLOCKS));
        grey_fours<<<grid, block>>>(
            grey, grey_pitch, rgb, rgb_pitch, width, height, count);
    }
}
//< later

extern "C" void make_grey(unsigned char *grey, int grey_pitch,
                          const unsigned char *rgb, int rgb_pitch,
                          int width, int height, int count)
{
    //> empty
    if (width == 0 || height == 0 || count == 0)
        return;  // a grid of no blocks is an error
    //< empty

    //> others TODO:
    if (VERSION > 1) {
        launch_later(grey, grey_pitch, rgb, rgb_pitch, width, height, count);
        CHECK(cudaGetLastError());
        return;
    }
    //< others
    //> launch-row TODO: choose the number of blocks, and launch grey_in_a_row (3 lines)
    int blocks = (width * height * count + THREADS - 1) / THREADS;
    grey_in_a_row<<<blocks, THREADS>>>(
        grey, grey_pitch, rgb, rgb_pitch, width, height, count);
    //< launch-row
    CHECK(cudaGetLastError());  // the caller synchronises
}

// ---- Mandelbrot

//> escape
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
//< escape

//> fives TODO:
// Returns the same. Once z is more than 2 away it never comes back, so this
// looks only after every fifth step. Then it repeats the last five steps to
// find out which of them it was.
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
    out[(size_t)y * pitch + x] = VERSION < 4 ? steps_to_escape(cx, cy)
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

    //> narrow TODO:
    if (VERSION == 4) {
        //> shape
        dim3 narrow(8, 32);  // a warp has 8 x 4 pixels
        dim3 enough((width + 7) / 8, (height + 31) / 32);
        mandelbrot_pixels<<<enough, narrow>>>(out, pitch, width, height, left, top, step);
        //< shape
        CHECK(cudaGetLastError());
        return;
    }
    //< narrow

    //> warps TODO: choose block and grid, and launch mandelbrot_pixels (3 lines)
    dim3 block(32, 8);
    dim3 grid((width + 31) / 32, (height + 7) / 8);
    mandelbrot_pixels<<<grid, block>>>(out, pitch, width, height, left, top, step);
    //< warps
    CHECK(cudaGetLastError());
}
