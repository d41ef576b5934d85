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

//> gelu
__device__ float gelu(float t)
{
    return 0.5f * t * (1 + erff(t * 0.70710678f));  // t / sqrt(2)
}
//< gelu

//> unfused
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
//< unfused

//> block-sum
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
    //> all-stored
    __syncthreads();
    //< all-stored
    float sum = 0;
    for (int w = 0; w < blockDim.x / 32; w++)
        sum += warp_sums[w];
    return sum;
}
//< block-sum

//> norm
// A block normalises one row of h, which is in `out`.
__global__ void layer_norm(float *out, const float *gamma,
                           const float *beta, int cols)
{
    float *row = out + (size_t)blockIdx.x * cols;

    //> normalise TODO: the mean, the scale, and the normalised row (9 lines)
    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += THREADS)
        sum += row[c];
    float mean = block_sum(sum) / cols;

    float squares = 0;
    for (int c = threadIdx.x; c < cols; c += THREADS)
        squares += (row[c] - mean) * (row[c] - mean);
    //> scale
    float scale = rsqrtf(block_sum(squares) / cols + 1e-5f);
    //< scale

    for (int c = threadIdx.x; c < cols; c += THREADS)
        row[c] = (row[c] - mean) * scale * gamma[c] + beta[c];
    //< normalise
}
//< norm

//> fused TODO:
// Version 2: the three operations on one element in one kernel.
__global__ void fused(float *out, const float *x, const float *bias,
                      const float *residual, int cols, int n)
{
    //> fuse
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        out[i] = residual[i] + gelu(x[i] + bias[i % cols]);
    //< fuse
}
//< fused

//> shared TODO:
// Version 3: the layer norm as well. A block computes a row of h and
// keeps it in shared memory until the row can be normalised. Each thread
// reads only elements of h that it stored, so h needs no barrier.
__global__ void fused_norm(float *out, const float *x, const float *bias,
                           const float *residual, const float *gamma,
                           const float *beta, int cols)
{
    //> keep
    extern __shared__ float h[];  // cols floats
    size_t first = (size_t)blockIdx.x * cols;

    float sum = 0;
    for (int c = threadIdx.x; c < cols; c += THREADS) {
        h[c] = residual[first + c] + gelu(x[first + c] + bias[c]);
        sum += h[c];
    }
    //< keep
    float mean = block_sum(sum) / cols;

    float squares = 0;
    for (int c = threadIdx.x; c < cols; c += THREADS)
        squares += (h[c] - mean) * (h[c] - mean);
    float scale = rsqrtf(block_sum(squares) / cols + 1e-5f);

    //> normalise-kept
    for (int c = threadIdx.x; c < cols; c += THREADS)
        out[first + c] = (h[c] - mean) * scale * gamma[c] + beta[c];
    //< normalise-kept
}
//< shared

//> one TODO:
// Version 4: float4, and the row in registers. A thread keeps PER_THREAD
// vectors of four elements. For rows of whole vectors.
template <int PER_THREAD>
__global__ void fused_norm_vectors(float4 *out, const float4 *x,
                                   const float4 *bias,
                                   const float4 *residual,
                                   const float4 *gamma,
                                   const float4 *beta, int vectors)
{
    size_t row = (size_t)blockIdx.x * vectors;
    float4 h[PER_THREAD], r[PER_THREAD];

    // All loads come first, so that they are under way together.
    for (int k = 0; k < PER_THREAD; k++) {
        int v = k * blockDim.x + threadIdx.x;
        if (v < vectors) {
            h[k] = x[row + v];
            r[k] = residual[row + v];
        }
    }

    float sum = 0;
    for (int k = 0; k < PER_THREAD; k++) {
        int v = k * blockDim.x + threadIdx.x;
        if (v < vectors) {
            float4 b = bias[v];
            //> components
            h[k].x = r[k].x + gelu(h[k].x + b.x);
            h[k].y = r[k].y + gelu(h[k].y + b.y);
            h[k].z = r[k].z + gelu(h[k].z + b.z);
            h[k].w = r[k].w + gelu(h[k].w + b.w);
            //< components
            sum += (h[k].x + h[k].y) + (h[k].z + h[k].w);
        }
    }
    float mean = block_sum(sum) / (4 * vectors);

    float squares = 0;
    for (int k = 0; k < PER_THREAD; k++)
        if (k * blockDim.x + threadIdx.x < vectors) {
            h[k].x -= mean, h[k].y -= mean, h[k].z -= mean, h[k].w -= mean;
            squares += h[k].x * h[k].x + h[k].y * h[k].y +
                       h[k].z * h[k].z + h[k].w * h[k].w;
        }
    //> scale-one
    float scale = rsqrtf(block_sum(squares) / (4 * vectors) + 1e-5f);
    //< scale-one

    for (int k = 0; k < PER_THREAD; k++) {
        int v = k * blockDim.x + threadIdx.x;
        if (v < vectors) {
            float4 g = gamma[v], b = beta[v];
            out[row + v] = make_float4(h[k].x * scale * g.x + b.x,
                                       h[k].y * scale * g.y + b.y,
                                       h[k].z * scale * g.z + b.z,
                                       h[k].w * scale * g.w + b.w);
        }
    }
}
//< one

//> version TODO:
#ifndef VERSION
#define VERSION 4  // what `bias_gelu_residual_norm` launches
#endif
#ifndef VECTORS
#define VECTORS 2  // of a thread of version 4, for rows of up to 4,096 floats
#endif
//< version

extern "C" void bias_gelu_residual_norm(float *out, const float *x, const float *bias,
                                        const float *residual, const float *gamma,
                                        const float *beta, int rows, int cols)
{
    //> no-rows
    if (rows == 0)  // a grid of no blocks is an error
        return;
    //< no-rows
    //> choose-one TODO:
    //> vector-rows
    if (VERSION == 4 && cols % 4 == 0) {
    //< vector-rows
        // A block has as many threads as it takes to keep a row.
        int threads = (cols / 4 + VECTORS - 1) / VECTORS, most = 1024 / VECTORS;
        threads = threads < most ? (threads + 31) / 32 * 32 : most;
        //> long-rows
        auto kernel = cols <= 4096 ? fused_norm_vectors<VECTORS> : fused_norm_vectors<2 * VECTORS>;
        //< long-rows
        kernel<<<rows, threads>>>((float4 *)out, (const float4 *)x, (const float4 *)bias,
                                  (const float4 *)residual, (const float4 *)gamma,
                                  (const float4 *)beta, cols / 4);
        CHECK(cudaGetLastError());
        return;
    }
    //> launch-shared
    if (VERSION >= 3) {
        size_t bytes = cols * sizeof(float);  // at most 32 KB
        fused_norm<<<rows, THREADS, bytes>>>(out, x, bias, residual, gamma, beta, cols);
        CHECK(cudaGetLastError());
        return;
    }
    //< launch-shared
    //< choose-one

    //> launch
    int n = rows * cols, blocks = n / THREADS + (n % THREADS > 0);
    //> choice TODO:
    //| add_bias<<<blocks, THREADS>>>(out, x, bias, cols, n);
    //| CHECK(cudaGetLastError());
    //| apply_gelu<<<blocks, THREADS>>>(out, n);
    //| CHECK(cudaGetLastError());
    //| add_residual<<<blocks, THREADS>>>(out, residual, n);
    //| CHECK(cudaGetLastError());
    if (VERSION == 1) {
        add_bias<<<blocks, THREADS>>>(out, x, bias, cols, n);
        CHECK(cudaGetLastError());
        apply_gelu<<<blocks, THREADS>>>(out, n);
        CHECK(cudaGetLastError());
        add_residual<<<blocks, THREADS>>>(out, residual, n);
    } else {
        fused<<<blocks, THREADS>>>(out, x, bias, residual, cols, n);
    }
    CHECK(cudaGetLastError());
    //< choice
    layer_norm<<<rows, THREADS>>>(out, gamma, beta, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
    //< launch
}
