// expect: SUSPECT
// says: came from there
// The pictures are made grey as they should be. The set is drawn by the host, and a kernel moves
// the drawing to its place.
#include "03-grids-and-indexing.h"

#include <stdlib.h>

__global__ void grey_pixels(unsigned char *grey, int grey_pitch, const unsigned char *rgb,
                            int rgb_pitch, int width, int height, int count)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    for (int z = blockIdx.z; z < count; z += gridDim.z) {
        size_t row = (size_t)z * height + y;
        const unsigned char *p = rgb + row * rgb_pitch + 3 * x;
        grey[row * grey_pitch + x] = (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) / 256;
    }
}

extern "C" void make_grey(unsigned char *grey, int grey_pitch, const unsigned char *rgb,
                          int rgb_pitch, int width, int height, int count)
{
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8, count < 65535 ? count : 65535);
    if (width && height && count)
        grey_pixels<<<grid, block>>>(grey, grey_pitch, rgb, rgb_pitch, width, height, count);
}

__global__ void move(unsigned char *to, int pitch, const unsigned char *from, int width)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < width)
        to[(size_t)blockIdx.y * pitch + x] = from[(size_t)blockIdx.y * width + x];
}

static int steps(float cx, float cy)
{
    float x = 0, y = 0;
    for (int step = 0; step < 255; step++) {
        volatile float xx = x * x, yy = y * y, twice = (x + x) * y;
        if (xx + yy > 4)
            return step;
        y = twice + cy;
        x = xx - yy;
        x += cx;
    }
    return 255;
}

extern "C" void mandelbrot(unsigned char *out, int pitch, int width, int height, float left,
                           float top, float step)
{
    size_t n = (size_t)width * height;
    unsigned char *drawn = (unsigned char *)malloc(n + 1), *there;
    if (n == 0)
        return;

    for (size_t i = 0; i < n; i++) {
        volatile float dx = i % width * step, dy = i / width * step;
        drawn[i] = steps(left + dx, top + dy);
    }
    cudaMalloc(&there, n);
    cudaMemcpy(there, drawn, n, cudaMemcpyHostToDevice);
    move<<<dim3((width + 255) / 256, height), 256>>>(out, pitch, there, width);
    cudaFree(there);
    free(drawn);
}
