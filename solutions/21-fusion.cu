// Lesson 21: four kernels, then two, then one.
//
// Each kernel here does a few operations on every number, and reads and writes all of them for it. What the next
// kernel reads is what this one has just had in a register: so fuse them, and the journey through memory is saved.
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
// Version 1: a kernel for each operation, all of them on `out`.
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
    //> scale
    float scale = rsqrtf(block_sum(squares) / cols + 1e-5f);
    //< scale

    for (int c = threadIdx.x; c < cols; c += THREADS)
        row[c] = (row[c] - mean) * scale * gamma[c] + beta[c];
}
//< norm

//> fused
// Version 2: the three in one. What one operation hands to the next
// stays in a register.
__global__ void fused(float *out, const float *x, const float *bias,
                      const float *residual, int cols, int n)
{
    //> fuse TODO: all three operations on one element, and one store (3 lines)
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        out[i] = residual[i] + gelu(x[i] + bias[i % cols]);
    //< fuse
}
//< fused

//> vectors
// Version 3: four neighbours a thread, by loads and stores of 16 bytes.
// For matrices whose rows are a multiple of four.
__global__ void fused_vectors(float4 *out, const float4 *x,
                              const float4 *bias, const float4 *residual,
                              int vectors_a_row, int vectors)
{
    //> vector TODO: the same with float4, four elements a thread (9 lines)
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= vectors)
        return;
    //> loads
    float4 a = x[i], b = bias[i % vectors_a_row], r = residual[i];
    //< loads
    r.x += gelu(a.x + b.x);
    r.y += gelu(a.y + b.y);
    r.z += gelu(a.z + b.z);
    r.w += gelu(a.w + b.w);
    out[i] = r;
    //< vector
}
//< vectors

//> one TODO:
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
    //> scale-one
    float scale = rsqrtf(block_sum(squares) / (4 * count) + 1e-5f);
    //< scale-one

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
//< one

//> version TODO:
#ifndef VERSION
#define VERSION 4  // what `bias_gelu_residual_norm` launches
#endif
#ifndef VECTORS
#define VECTORS 2  // that a thread of version 4 keeps, of rows of up to 4,096 floats
#endif
//< version

extern "C" void bias_gelu_residual_norm(float *out, const float *x, const float *bias,
                                        const float *residual, const float *gamma,
                                        const float *beta, int rows, int cols)
{
    //> no-rows
    if (rows == 0)
        return;
    //< no-rows

    int n = rows * cols, blocks = n / THREADS + (n % THREADS > 0);
    float4 *out4 = (float4 *)out;
    const float4 *x4 = (const float4 *)x, *bias4 = (const float4 *)bias,
                 *residual4 = (const float4 *)residual;
    int vectors = n / 4, vector_blocks = vectors / THREADS + (vectors % THREADS > 0);
    //> choose-one TODO:
    const float4 *gamma4 = (const float4 *)gamma, *beta4 = (const float4 *)beta;

    // A block for each row, with as many threads as it takes to hold it.
    if (VERSION == 4 && cols % 4 == 0) {
        int threads = (cols / 4 + VECTORS - 1) / VECTORS, most = 1024 / VECTORS;
        threads = threads < most ? (threads + 31) / 32 * 32 : most;
        //> long-rows
        auto kernel = cols <= 4096 ? all_in_one<VECTORS> : all_in_one<2 * VECTORS>;
        //< long-rows
        kernel<<<rows, threads>>>(out4, x4, bias4, residual4, gamma4, beta4, cols / 4);
        CHECK(cudaGetLastError());
        return;
    }
    //< choose-one

    //> launch
    //> choice TODO:
    //| if (cols % 4 == 0)
    //|     fused_vectors<<<vector_blocks, THREADS>>>(out4, x4, bias4, residual4, cols / 4, vectors);
    //| else
    //|     fused<<<blocks, THREADS>>>(out, x, bias, residual, cols, n);
    if (VERSION == 1) {
        add_bias<<<blocks, THREADS>>>(out, x, bias, cols, n);
        apply_gelu<<<blocks, THREADS>>>(out, n);
        add_residual<<<blocks, THREADS>>>(out, residual, n);
    } else if (VERSION >= 3 && cols % 4 == 0) {
        fused_vectors<<<vector_blocks, THREADS>>>(out4, x4, bias4, residual4, cols / 4, vectors);
    } else {
        fused<<<blocks, THREADS>>>(out, x, bias, residual, cols, n);
    }
    //< choice
    CHECK(cudaGetLastError());
    layer_norm<<<rows, THREADS>>>(out, gamma, beta, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
    //< launch
}
