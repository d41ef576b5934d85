// Lesson 22: the softmax of rows in three passes over them, then in two, then in one; and the gradients of a layer norm.
//
// A sum of exponentials needs the row's maximum first. But a sum can be corrected when the maximum moves, so one pass finds
// both. A row that stays on the chip is loaded only once. Sums of columns are kept by blocks that take many rows.
#include "22-softmax-and-norms.h"

#include <cfloat>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                  \
    do {                                                             \
        cudaError_t error = (call);                                  \
        if (error != cudaSuccess) {                                  \
            fprintf(stderr, "%s:%d: %s\n    %s\n", __FILE__,         \
                    __LINE__, #call, cudaGetErrorString(error));     \
            exit(EXIT_FAILURE);                                      \
        }                                                            \
    } while (0)

using bf16 = __nv_bfloat16;

enum {
    THREADS = 256,  // threads in a block, where nothing else is said
    PIECE = 8,      // numbers that a thread loads at once
};

struct Sum {
    static constexpr float NONE = 0;  // what changes no sum
    __device__ float operator()(float a, float b) { return a + b; }
};
struct Max {
    static constexpr float NONE = -FLT_MAX;
    __device__ float operator()(float a, float b) { return fmaxf(a, b); }
};

// Returns the sum, or the maximum, of what all lanes of the warp pass.
template <class Op>
__device__ float warp_all(float x, Op op)
{
    for (int away = 16; away > 0; away /= 2)
        x = op(x, __shfl_xor_sync(0xffffffff, x, away));
    return x;
}

// Returns that of what all threads of the block pass, to each of them. All
// threads must call it together.
template <class Op>
__device__ float block_all(float x, Op op)
{
    __shared__ float of_warps[32];  // a block has at most 32 warps
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    x = warp_all(x, op);
    __syncthreads();  // what the call before left has been read
    if (lane == 0)
        of_warps[warp] = x;
    __syncthreads();
    return warp_all(lane < blockDim.x / 32 ? of_warps[lane] : Op::NONE, op);
}

// Returns e to the power of x - m.
__device__ float e_to(float x, float m)
{
    return __expf(x - m);
}

// Loads N numbers of a row for this thread, from column c on and a block's
// width apart. All loads are under way before the first number is used.
// Beyond the row, the value is `beyond`.
template <int N>
__device__ void load_piece(float (&value)[N], const bf16 *row, int c,
                           int cols, float beyond)
{
    bf16 loaded[N];
    for (int k = 0; k < N; k++)
        loaded[k] = c + k * blockDim.x < cols ? row[c + k * blockDim.x]
                                              : __float2bfloat16(beyond);
    for (int k = 0; k < N; k++)
        value[k] = __bfloat162float(loaded[k]);
}

// Stores them in the same places, but for those beyond the row.
template <int N>
__device__ void store_piece(bf16 *row, int c, int cols,
                            const float (&value)[N])
{
    for (int k = 0; k < N; k++)
        if (c + k * blockDim.x < cols)
            row[c + k * blockDim.x] = __float2bfloat16(value[k]);
}

// Version 1: a block takes a row, in three passes over it.
__global__ void softmax_passes(bf16 *out, const bf16 *x, int cols,
                               int stride)
{
    const bf16 *row = x + (size_t)blockIdx.x * stride;
    bf16 *weights = out + (size_t)blockIdx.x * stride;
    float value[PIECE], m = -FLT_MAX;

    for (int c = threadIdx.x; c < cols; c += PIECE * THREADS) {
        load_piece(value, row, c, cols, -INFINITY);
        for (int k = 0; k < PIECE; k++)
            m = fmaxf(m, value[k]);
    }
    m = block_all(m, Max());

    // TODO: the sum, and the weights (13 lines)
}

// Version 1: a block takes a row, and adds each element's share to the
// sums of its column.
__global__ void backward_row(bf16 *dx, float *dgamma, float *dbeta,
                             const bf16 *dy, const bf16 *x,
                             const float *gamma, int cols)
{
    size_t first = (size_t)blockIdx.x * cols;
    float sum = 0, squares = 0, g_sum = 0, gh_sum = 0;

    for (int c = threadIdx.x; c < cols; c += THREADS)
        sum += __bfloat162float(x[first + c]);
    float mean = block_all(sum, Sum()) / cols;

    for (int c = threadIdx.x; c < cols; c += THREADS) {
        float off = __bfloat162float(x[first + c]) - mean;
        squares += off * off;
    }
    float scale = rsqrtf(block_all(squares, Sum()) / cols + 1e-5f);

    for (int c = threadIdx.x; c < cols; c += THREADS) {
        float h = (__bfloat162float(x[first + c]) - mean) * scale;
        float g = __bfloat162float(dy[first + c]) * gamma[c];
        g_sum += g;
        gh_sum += g * h;
    }
    float g_mean = block_all(g_sum, Sum()) / cols;
    float gh_mean = block_all(gh_sum, Sum()) / cols;

    for (int c = threadIdx.x; c < cols; c += THREADS) {
        float h = (__bfloat162float(x[first + c]) - mean) * scale;
        float d = __bfloat162float(dy[first + c]);
        dx[first + c] = __float2bfloat16(
            (d * gamma[c] - g_mean - h * gh_mean) * scale);
        atomicAdd(&dgamma[c], d * h);
        atomicAdd(&dbeta[c], d);
    }
}

extern "C" void softmax(bf16 *out, const bf16 *x, int rows, int cols, int stride)
{
    if (rows == 0)  // a grid of no blocks is an error
        return;
    softmax_passes<<<rows, THREADS>>>(out, x, cols, stride);
    CHECK(cudaGetLastError());  // the caller synchronises
}

extern "C" void layer_norm_backward(bf16 *dx, float *dgamma, float *dbeta, const bf16 *dy,
                                    const bf16 *x, const float *gamma, int rows, int cols)
{
    CHECK(cudaMemsetAsync(dgamma, 0, cols * sizeof *dgamma));  // the kernels add to these
    CHECK(cudaMemsetAsync(dbeta, 0, cols * sizeof *dbeta));
    if (rows == 0)
        return;
    backward_row<<<rows, THREADS>>>(dx, dgamma, dbeta, dy, x, gamma, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
}
