// expect: SUSPECT
// says: went to the host in the call
// A kernel adds and bends. The host, which gets less than half of what the inputs hold, finds means
// and variances and applies them; a kernel scales what comes back.
#include "21-fusion.h"

#include <math.h>
#include <stdlib.h>

__global__ void add_and_bend(float *h, const float *x, const float *bias, const float *residual,
                             int n, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float t = x[i] + bias[i % cols];
        h[i] = residual[i] + t / 2 * (1 + erff(t * 0.70710678f));
    }
}

__global__ void scale(float *to, const float *from, const float *gamma, const float *beta, int n,
                      int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i] * gamma[i % cols] + beta[i % cols];
}

static void normalise(float *row, int cols)
{
    double mean = 0, variance = 0;
    for (int c = 0; c < cols; c++)
        mean += row[c] / cols;
    for (int c = 0; c < cols; c++)
        variance += (row[c] - mean) * (row[c] - mean) / cols;
    for (int c = 0; c < cols; c++)
        row[c] = (row[c] - mean) / sqrt(variance + 1e-5);
}

extern "C" void bias_gelu_residual_norm(float *out, const float *x, const float *bias,
                                        const float *residual, const float *gamma,
                                        const float *beta, int rows, int cols)
{
    int n = rows * cols;
    size_t bytes = n * sizeof(float);
    float *h = (float *)malloc(bytes + 1), *aside;
    if (n == 0)
        return;

    add_and_bend<<<(n + 255) / 256, 256>>>(out, x, bias, residual, n, cols);
    cudaMemcpy(h, out, bytes, cudaMemcpyDeviceToHost);
    for (int row = 0; row < rows; row++)
        normalise(h + (size_t)row * cols, cols);
    cudaMalloc(&aside, bytes);
    cudaMemcpy(aside, h, bytes, cudaMemcpyHostToDevice);
    scale<<<(n + 255) / 256, 256>>>(out, aside, gamma, beta, n, cols);
    cudaFree(aside);
    free(h);
}
