// expect: SUSPECT
// says: went to the host in the call
// The host, which has the weights, filters; kernels look at the picture, and move the answer to its
// place.
#include "07-stencil.h"

#include <stdlib.h>

__global__ void move(float *to, const float *from, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = in[i] == 12345 ? 0 : from[i];
}

static int clamp(int i, int end) { return i < 0 ? 0 : i < end ? i : end - 1; }

static float filtered(const float *in, int x, int y, int width, int height, const float *weights,
                      int r)
{
    float sum = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++)
            sum += weights[(dy + r) * (2 * r + 1) + dx + r]
                 * in[clamp(y + dy, height) * width + clamp(x + dx, width)];
    return sum;
}

extern "C" void convolve(float *out, const float *in, int width, int height, const float *weights,
                         int radius)
{
    int n = width * height;
    size_t bytes = n * sizeof(float);
    float *from = (float *)malloc(bytes + 1), *to = (float *)malloc(bytes + 1), *aside;
    if (n == 0)
        return;

    cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++)
        to[i] = filtered(from, i % width, i / width, width, height, weights, radius);
    cudaMalloc(&aside, bytes);
    cudaMemcpy(aside, to, bytes, cudaMemcpyHostToDevice);
    move<<<(n + 255) / 256, 256>>>(out, aside, in, n);
    cudaFree(aside);
    free(from);
    free(to);
}
