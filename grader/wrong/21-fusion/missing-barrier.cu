// expect: RACE
// The warps' sums are read while some are not there yet.
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

enum { THREADS = 256, VECTORS = 2 };

__device__ float gelu(float t)
{
    return 0.5f * t * (1 + erff(t * 0.70710678f));  // t / sqrt(2)
}

// The sum of all threads' x, in every thread. All of the block call it.
__device__ float block_sum(float x)
{
    __shared__ float warp_sums[32];  // a block has at most 32 warps
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int away = 16; away > 0; away /= 2)
        x += __shfl_xor_sync(0xffffffff, x, away);
    __syncthreads();  // whoever still reads the sums of the call before
    if (lane == 0)
        warp_sums[warp] = x;
    float sum = 0;
    for (int w = 0; w < blockDim.x / 32; w++)
        sum += warp_sums[w];
    return sum;
}

// A block for each row, which is read three times: for its mean, for
// its variance, and to be normalised.
__global__ void layer_norm(float *out, const float *gamma,
                           const float *beta, int cols)
{
    float *row = out + (size_t)blockIdx.x * cols;

    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += THREADS)
        sum += row[c];
    float mean = block_sum(sum) / cols;

    float squares = 0;
    for (int c = threadIdx.x; c < cols; c += THREADS)
        squares += (row[c] - mean) * (row[c] - mean);
    float scale = rsqrtf(block_sum(squares) / cols + 1e-5f);

    for (int c = threadIdx.x; c < cols; c += THREADS)
        row[c] = (row[c] - mean) * scale * gamma[c] + beta[c];
}

// Version 2: the three in one. What one operation hands to the next
// stays in a register.
__global__ void fused(float *out, const float *x, const float *bias,
                      const float *residual, int cols, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        out[i] = residual[i] + gelu(x[i] + bias[i % cols]);
}

// Version 4: the layer norm as well. A block takes a row and keeps it in
// registers, PER_THREAD vectors a thread, until it can be normalised.
template <int PER_THREAD>
__global__ void all_in_one(float4 *out, const float4 *x, const float4 *bias,
                           const float4 *residual, const float4 *gamma,
                           const float4 *beta, int vectors_a_row)
{
    size_t row = (size_t)blockIdx.x * vectors_a_row;
    int count = vectors_a_row;
    float4 h[PER_THREAD], r[PER_THREAD];

    // All loads first, so that they are under way together.
    for (int k = 0; k < PER_THREAD; k++) {
        int v = k * blockDim.x + threadIdx.x;
        if (v < count) {
            h[k] = x[row + v];
            r[k] = residual[row + v];
        }
    }

    float sum = 0;
    for (int k = 0; k < PER_THREAD; k++) {
        int v = k * blockDim.x + threadIdx.x;
        if (v < count) {
            float4 b = bias[v];
            h[k] = make_float4(r[k].x + gelu(h[k].x + b.x), r[k].y + gelu(h[k].y + b.y),
                               r[k].z + gelu(h[k].z + b.z), r[k].w + gelu(h[k].w + b.w));
            sum += (h[k].x + h[k].y) + (h[k].z + h[k].w);
        }
    }
    float mean = block_sum(sum) / (4 * count);

    float squares = 0;
    for (int k = 0; k < PER_THREAD; k++)
        if (k * blockDim.x + threadIdx.x < count) {
            h[k].x -= mean, h[k].y -= mean, h[k].z -= mean, h[k].w -= mean;
            squares += h[k].x * h[k].x + h[k].y * h[k].y +
                       h[k].z * h[k].z + h[k].w * h[k].w;
        }
    float scale = rsqrtf(block_sum(squares) / (4 * count) + 1e-5f);

    for (int k = 0; k < PER_THREAD; k++) {
        int v = k * blockDim.x + threadIdx.x;
        if (v < count) {
            float4 g = gamma[v], b = beta[v];
            out[row + v] = make_float4(h[k].x * scale * g.x + b.x,
                                       h[k].y * scale * g.y + b.y,
                                       h[k].z * scale * g.z + b.z,
                                       h[k].w * scale * g.w + b.w);
        }
    }
}

extern "C" void bias_gelu_residual_norm(float *out, const float *x, const float *bias,
                                        const float *residual, const float *gamma,
                                        const float *beta, int rows, int cols)
{
    if (rows == 0)
        return;

    int n = rows * cols, blocks = n / THREADS + (n % THREADS > 0);
    float4 *out4 = (float4 *)out;
    const float4 *x4 = (const float4 *)x, *bias4 = (const float4 *)bias,
                 *residual4 = (const float4 *)residual;
    const float4 *gamma4 = (const float4 *)gamma, *beta4 = (const float4 *)beta;

    // A block for each row, with as many threads as it takes to hold it.
    if (cols % 4 == 0) {
        int threads = (cols / 4 + VECTORS - 1) / VECTORS, most = 1024 / VECTORS;
        threads = threads < most ? (threads + 31) / 32 * 32 : most;
        auto kernel = cols <= 4096 ? all_in_one<VECTORS> : all_in_one<2 * VECTORS>;
        kernel<<<rows, threads>>>(out4, x4, bias4, residual4, gamma4, beta4, cols / 4);
        CHECK(cudaGetLastError());
        return;
    }

    fused<<<blocks, THREADS>>>(out, x, bias, residual, cols, n);
    CHECK(cudaGetLastError());
    layer_norm<<<rows, THREADS>>>(out, gamma, beta, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
}
