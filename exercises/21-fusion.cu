// Lesson 21: the end of a transformer's layer, in four kernels, then in two, then in one.
//
// Each kernel reads every number, does a few operations on it, and writes it back. The next kernel reads it again,
// although it was just in a register. A fused kernel does several operations between one load and one store.
#include "21-fusion.h"

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

enum { THREADS = 256 };  // threads in a block

__device__ float gelu(float t)
{
    return 0.5f * t * (1 + erff(t * 0.70710678f));  // t / sqrt(2)
}

// Version 1: one kernel for each operation, all of them on `out`.
__global__ void add_bias(float *out, const float *x, const float *bias,
                         int cols, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        out[i] = x[i] + bias[i % cols];
}

__global__ void apply_gelu(float *out, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        out[i] = gelu(out[i]);
}

__global__ void add_residual(float *out, const float *residual, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        out[i] += residual[i];
}

// Returns the sum of all threads' x to every thread. All threads of the
// block must call it together.
__device__ float block_sum(float x)
{
    __shared__ float warp_sums[32];  // a block has at most 32 warps
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int away = 16; away > 0; away /= 2)
        x += __shfl_xor_sync(0xffffffff, x, away);
    __syncthreads();  // the sums of the call before have been read
    if (lane == 0)
        warp_sums[warp] = x;
    __syncthreads();
    float sum = 0;
    for (int w = 0; w < blockDim.x / 32; w++)
        sum += warp_sums[w];
    return sum;
}

// A block normalises one row of h, which is in `out`.
__global__ void layer_norm(float *out, const float *gamma,
                           const float *beta, int cols)
{
    float *row = out + (size_t)blockIdx.x * cols;

    // TODO: the mean, the scale, and the normalised row (9 lines)
}

extern "C" void bias_gelu_residual_norm(float *out, const float *x, const float *bias,
                                        const float *residual, const float *gamma,
                                        const float *beta, int rows, int cols)
{
    if (rows == 0)  // a grid of no blocks is an error
        return;

    int n = rows * cols, blocks = n / THREADS + (n % THREADS > 0);
    add_bias<<<blocks, THREADS>>>(out, x, bias, cols, n);
    CHECK(cudaGetLastError());
    apply_gelu<<<blocks, THREADS>>>(out, n);
    CHECK(cudaGetLastError());
    add_residual<<<blocks, THREADS>>>(out, residual, n);
    CHECK(cudaGetLastError());
    layer_norm<<<rows, THREADS>>>(out, gamma, beta, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
}
