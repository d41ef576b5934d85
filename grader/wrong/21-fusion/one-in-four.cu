// expect: WRONG
// says: Has every element a thread
// A thread takes four elements, so its index is four times its number: but it counts vectors.
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
    __syncthreads();
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

// Version 3: four neighbours a thread, by loads and stores of 16 bytes.
// For matrices whose rows are a multiple of four.
__global__ void fused_vectors(float4 *out, const float4 *x,
                              const float4 *bias, const float4 *residual,
                              int vectors_a_row, int vectors)
{
    int i = 4 * (blockIdx.x * THREADS + threadIdx.x);
    if (i >= vectors)
        return;
    float4 a = x[i], b = bias[i % vectors_a_row], r = residual[i];
    r.x += gelu(a.x + b.x);
    r.y += gelu(a.y + b.y);
    r.z += gelu(a.z + b.z);
    r.w += gelu(a.w + b.w);
    out[i] = r;
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
    int vectors = n / 4, vector_blocks = vectors / THREADS + (vectors % THREADS > 0);

    if (cols % 4 == 0)
        fused_vectors<<<vector_blocks, THREADS>>>(out4, x4, bias4, residual4, cols / 4, vectors);
    else
        fused<<<blocks, THREADS>>>(out, x, bias, residual, cols, n);
    CHECK(cudaGetLastError());
    layer_norm<<<rows, THREADS>>>(out, gamma, beta, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
}
