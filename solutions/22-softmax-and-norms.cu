// Lesson 22: the softmax of rows in three passes over them, then in two, then in one; and the gradients of a layer norm.
//
// A sum of exponentials needs the row's maximum first. But a sum can be corrected when the maximum moves, so one pass finds
// both. A row that stays on the chip is loaded only once. Sums of columns are kept by blocks that take many rows.
#include "22-softmax-and-norms.h"

#include <cfloat>
#include <cstdio>
#include <cstdlib>
//> pipeline TODO:
#include <cuda_pipeline.h>
//< pipeline

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

//> combine
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
    //> all-stored
    __syncthreads();
    //< all-stored
    return warp_all(lane < blockDim.x / 32 ? of_warps[lane] : Op::NONE, op);
}
//< combine

//> exponential
// Returns e to the power of x - m.
__device__ float e_to(float x, float m)
{
    return __expf(x - m);
}
//< exponential

//> piece
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
//< piece

//> passes
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

    //> two-loops TODO: the sum, and the weights (13 lines)
    float sum = 0;
    //> sum
    for (int c = threadIdx.x; c < cols; c += PIECE * THREADS) {
        load_piece(value, row, c, cols, -INFINITY);
        for (int k = 0; k < PIECE; k++)
            sum += e_to(value[k], m);
    }
    sum = block_all(sum, Sum());
    //< sum

    //> scale
    float scale = sum > 0 ? 1 / sum : 0;  // 0: the whole row is masked
    //< scale
    for (int c = threadIdx.x; c < cols; c += PIECE * THREADS) {
        load_piece(value, row, c, cols, -INFINITY);
        for (int k = 0; k < PIECE; k++)
            value[k] = e_to(value[k], m) * scale;
        store_piece(weights, c, cols, value);
    }
    //< two-loops
}
//< passes

//> online TODO:
// Version 2: the maximum and the sum in one pass. Whenever the maximum
// moves, the sum so far is corrected.
__global__ void softmax_online(bf16 *out, const bf16 *x, int cols,
                               int stride)
{
    const bf16 *row = x + (size_t)blockIdx.x * stride;
    bf16 *weights = out + (size_t)blockIdx.x * stride;
    //> before-all
    float value[PIECE], m = -FLT_MAX, sum = 0;
    //< before-all

    for (int c = threadIdx.x; c < cols; c += PIECE * THREADS) {
        load_piece(value, row, c, cols, -INFINITY);
        //> correct
        float before = m;
        for (int k = 0; k < PIECE; k++)
            m = fmaxf(m, value[k]);
        sum *= e_to(before, m);
        for (int k = 0; k < PIECE; k++)
            sum += e_to(value[k], m);
        //< correct
    }
    float most = block_all(m, Max());
    sum = block_all(sum * e_to(m, most), Sum());

    float scale = sum > 0 ? 1 / sum : 0;
    for (int c = threadIdx.x; c < cols; c += PIECE * THREADS) {
        load_piece(value, row, c, cols, -INFINITY);
        for (int k = 0; k < PIECE; k++)
            value[k] = e_to(value[k], most) * scale;
        store_piece(weights, c, cols, value);
    }
}
//< online

//> kept TODO:
// Version 3: one pass. A thread keeps its N numbers of the row in
// registers, and a block has as many threads as the row needs.
template <int N>
__global__ void __launch_bounds__(1024)
    softmax_kept(bf16 *out, const bf16 *x, int cols, int stride)
{
    const bf16 *row = x + (size_t)blockIdx.x * stride;
    bf16 *weights = out + (size_t)blockIdx.x * stride;
    float value[N], m = -FLT_MAX, sum = 0;

    load_piece(value, row, threadIdx.x, cols, -INFINITY);
    for (int k = 0; k < N; k++)
        m = fmaxf(m, value[k]);
    m = block_all(m, Max());

    for (int k = 0; k < N; k++)
        sum += value[k] = e_to(value[k], m);
    sum = block_all(sum, Sum());

    float scale = sum > 0 ? 1 / sum : 0;
    for (int k = 0; k < N; k++)
        value[k] *= scale;
    store_piece(weights, threadIdx.x, cols, value);
}
//< kept

//> eight TODO:
// Eight numbers, which one load brings, in four words of two. A bf16 is the
// upper half of a float.
__device__ void unpack(float *to, const uint4 &from)
{
    unsigned word[] = { from.x, from.y, from.z, from.w };
    for (int j = 0; j < 4; j++) {
        to[2 * j] = __uint_as_float(word[j] << 16);
        to[2 * j + 1] = __uint_as_float(word[j] & 0xffff0000);
    }
}

__device__ unsigned pack_two(float low, float high)
{
    __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
    return *(unsigned *)&two;
}

__device__ uint4 pack(const float *from)
{
    return make_uint4(
        pack_two(from[0], from[1]), pack_two(from[2], from[3]),
        pack_two(from[4], from[5]), pack_two(from[6], from[7]));
}

// Makes the numbers from `left` on -inf: the gap after a row may hold
// anything.
__device__ uint4 masked(uint4 eight, int left)
{
    //> mask-the-gap
    float value[8];
    if (left >= 8)
        return eight;
    unpack(value, eight);
    for (int j = 0; j < 8; j++)
        value[j] = j < left ? value[j] : -INFINITY;
    return pack(value);
    //< mask-the-gap
}

// Stores the numbers before `left`: the gap is not ours.
__device__ void store_eight(uint4 *to, const float *value, int left)
{
    //> store-eight
    if (left >= 8)
        *to = pack(value);
    else
        for (int j = 0; j < 8; j++)
            if (j < left)
                ((bf16 *)to)[j] = __float2bfloat16(value[j]);
    //< store-eight
}
//< eight

//> flushed TODO:
// e_to, but a power below 1.2e-38 is 0. __expf takes three more instructions
// to compute those.
__device__ float e_to_flushed(float x, float m)
{
    float power, by = (x - m) * 1.44269504f;  // log2(e): the GPU has powers of 2
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(by));
    return power;
}
//< flushed

//> vectors TODO:
// Version 5: loads of 16 bytes. WARP: a warp takes a row, and waits for no
// other.
template <int VECTORS, bool WARP>
__global__ void __launch_bounds__(512, 2)
    softmax_vectors(bf16 *out, const bf16 *x, int rows, int cols, int stride)
{
    int threads = WARP ? 32 : blockDim.x, thread = threadIdx.x % threads;
    int row = WARP ? (blockIdx.x * THREADS + threadIdx.x) / 32 : blockIdx.x;
    if (WARP && row >= rows)
        return;
    const uint4 *from = (const uint4 *)(x + (size_t)row * stride);
    uint4 *to = (uint4 *)(out + (size_t)row * stride), kept[VECTORS];
    float value[VECTORS][8], m = -FLT_MAX, sum = 0;

    for (int k = 0; k < VECTORS; k++) {
        int v = k * threads + thread;
        kept[k] = 8 * v < cols ? from[v] : uint4{};
    }
    for (int k = 0; k < VECTORS; k++) {
        unpack(value[k], masked(kept[k], cols - 8 * (k * threads + thread)));
        for (int j = 0; j < 8; j++)
            m = fmaxf(m, value[k][j]);
    }
    m = WARP ? warp_all(m, Max()) : block_all(m, Max());

    for (int k = 0; k < VECTORS; k++)
        for (int j = 0; j < 8; j++)
            sum += value[k][j] = e_to_flushed(value[k][j], m);
    sum = WARP ? warp_all(sum, Sum()) : block_all(sum, Sum());

    float scale = sum > 0 ? 1 / sum : 0;
    for (int k = 0; k < VECTORS; k++) {
        int v = k * threads + thread;
        for (int j = 0; j < 8; j++)
            value[k][j] *= scale;
        store_eight(&to[v], value[k], cols - 8 * v);
    }
}
//< vectors

//> shared TODO:
// Version 5, longer rows: shared memory keeps the row as it came, in half of
// the room that floats would take, so a multiprocessor holds three rows of
// 32,768. Each thread uses what it copied itself.
__global__ void __launch_bounds__(512, 3)
    softmax_shared(bf16 *out, const bf16 *x, int cols, int stride)
{
    extern __shared__ uint4 kept[];
    const uint4 *from = (const uint4 *)(x + (size_t)blockIdx.x * stride);
    uint4 *to = (uint4 *)(out + (size_t)blockIdx.x * stride);
    float value[8], m = -FLT_MAX, sum = 0;

    for (int v = threadIdx.x; 8 * v < cols; v += blockDim.x)
        __pipeline_memcpy_async(&kept[v], &from[v], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);

    for (int v = threadIdx.x; 8 * v < cols; v += blockDim.x) {
        unpack(value, kept[v] = masked(kept[v], cols - 8 * v));
        for (int j = 0; j < 8; j++)
            m = fmaxf(m, value[j]);
    }
    m = block_all(m, Max());

    for (int v = threadIdx.x; 8 * v < cols; v += blockDim.x) {
        unpack(value, kept[v]);
        for (int j = 0; j < 8; j++)
            sum += e_to_flushed(value[j], m);
    }
    sum = block_all(sum, Sum());

    float scale = sum > 0 ? 1 / sum : 0;
    for (int v = threadIdx.x; 8 * v < cols; v += blockDim.x) {
        unpack(value, kept[v]);
        for (int j = 0; j < 8; j++)
            value[j] = e_to_flushed(value[j], m) * scale;
        store_eight(&to[v], value, cols - 8 * v);
    }
}
//< shared

//> backward
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
        //> variance
        float off = __bfloat162float(x[first + c]) - mean;
        squares += off * off;
        //< variance
    }
    //> scale-norm
    float scale = rsqrtf(block_all(squares, Sum()) / cols + 1e-5f);
    //< scale-norm

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
//< backward

//> backward-rows TODO:
// Version 4: a block takes many rows. Each thread keeps the sums of its
// columns, and adds them to the others' once, at the end.
__global__ void __launch_bounds__(512, 2)
    backward_rows(bf16 *dx, float *dgamma, float *dbeta, const bf16 *dy,
                  const bf16 *x, const float *gamma, int rows, int cols)
{
    float dgamma_sum[PIECE] = {}, dbeta_sum[PIECE] = {};
    float inverse = 1.0f / cols;

    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        size_t first = (size_t)row * cols;
        float h[PIECE], d[PIECE];
        float sum = 0, squares = 0, g_sum = 0, gh_sum = 0;

        load_piece(h, x + first, threadIdx.x, cols, 0);
        load_piece(d, dy + first, threadIdx.x, cols, 0);
        for (int k = 0; k < PIECE; k++)
            sum += h[k];
        float mean = block_all(sum, Sum()) * inverse;

        for (int k = 0; k < PIECE; k++) {
            int c = k * blockDim.x + threadIdx.x;
            h[k] = c < cols ? h[k] - mean : 0;
            squares += h[k] * h[k];
        }
        float scale = rsqrtf(block_all(squares, Sum()) * inverse + 1e-5f);

        for (int k = 0; k < PIECE; k++) {
            int c = k * blockDim.x + threadIdx.x;
            h[k] *= scale;
            //> partial
            dgamma_sum[k] += d[k] * h[k];
            dbeta_sum[k] += d[k];
            //< partial
            d[k] *= c < cols ? gamma[c] : 0;  // g from here on
            g_sum += d[k];
            gh_sum += d[k] * h[k];
        }
        float g_mean = block_all(g_sum, Sum()) * inverse;
        float gh_mean = block_all(gh_sum, Sum()) * inverse;

        for (int k = 0; k < PIECE; k++)
            d[k] = (d[k] - g_mean - h[k] * gh_mean) * scale;
        store_piece(dx + first, threadIdx.x, cols, d);
    }

    //> add-once
    for (int k = 0; k < PIECE; k++) {
        int c = k * blockDim.x + threadIdx.x;
        if (c < cols) {
            atomicAdd(&dgamma[c], dgamma_sum[k]);
            atomicAdd(&dbeta[c], dbeta_sum[k]);
        }
    }
    //< add-once
}
//< backward-rows

//> backward-vectors TODO:
// Makes each of three sums that of the whole block, with one wait for all. A
// call of block_all must come between two calls, to keep them apart.
__device__ void block_sums(float (&sum)[3])
{
    __shared__ float of_warps[32][3];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    for (int away = 16; away > 0; away /= 2)
        for (int n = 0; n < 3; n++)
            sum[n] += __shfl_xor_sync(0xffffffff, sum[n], away);
    for (int n = 0; n < 3; n++)
        if (lane == 0)
            of_warps[warp][n] = sum[n];
    __syncthreads();
    for (int n = 0; n < 3; n++)
        sum[n] = lane < blockDim.x / 32 ? of_warps[lane][n] : 0;
    for (int away = 16; away > 0; away /= 2)
        for (int n = 0; n < 3; n++)
            sum[n] += __shfl_xor_sync(0xffffffff, sum[n], away);
}

// Adds the block's sums of columns to those of all blocks. They change
// places in shared memory, so that neighbouring lanes add to neighbouring
// columns.
template <int VECTORS>
__device__ void add_columns(float *to, const float (&sums)[VECTORS][8], int cols)
{
    //> exchange
    __shared__ float of_block[4096];
    __syncthreads();  // what the call before left has been read
    for (int k = 0; k < VECTORS; k++)
        for (int j = 0; j < 8; j++)
            of_block[8 * (k * blockDim.x + threadIdx.x) + j] = sums[k][j];
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        atomicAdd(&to[c], of_block[c]);
    //< exchange
}

// Version 5: a thread's columns are VECTORS times eight neighbours, and
// eight come in one load. The next row is on its way while a block works on
// one. For whole numbers of eight columns.
template <int VECTORS>
__global__ void __launch_bounds__(512 / VECTORS, 2)
    backward_vectors(bf16 *dx, float *dgamma, float *dbeta, const bf16 *dy,
                     const bf16 *x, const float *gamma, int rows, int cols)
{
    alignas(16) float weight[VECTORS][8] = {};
    float dgamma_sum[VECTORS][8] = {}, dbeta_sum[VECTORS][8] = {};
    uint4 next_x[VECTORS] = {}, next_dy[VECTORS] = {};
    float inverse = 1.0f / cols;
    auto load = [&](int row) {
        for (int k = 0; k < VECTORS; k++) {
            int v = k * blockDim.x + threadIdx.x;
            if (8 * v < cols) {
                next_x[k] = ((const uint4 *)(x + (size_t)row * cols))[v];
                next_dy[k] = ((const uint4 *)(dy + (size_t)row * cols))[v];
            }
        }
    };

    load(blockIdx.x);
    for (int k = 0; k < VECTORS; k++)
        for (int j = 0; j < 8; j += 4) {
            int c = 8 * (k * blockDim.x + threadIdx.x) + j;
            if (c < cols)
                *(float4 *)&weight[k][j] = *(const float4 *)(gamma + c);
        }

    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float h[VECTORS][8], d[VECTORS][8], sum = 0;

        for (int k = 0; k < VECTORS; k++) {
            unpack(h[k], next_x[k]);
            unpack(d[k], next_dy[k]);
            for (int j = 0; j < 8; j++)
                sum += h[k][j];
        }
        if (row + gridDim.x < rows)
            load(row + gridDim.x);
        float mean = block_all(sum, Sum()) * inverse;

        float of[3] = {};  // the squares, g, and g * (x - mean)
        for (int k = 0; k < VECTORS; k++) {
            bool mine = 8 * (k * blockDim.x + threadIdx.x) < cols;
            for (int j = 0; j < 8; j++) {
                float g = d[k][j] * weight[k][j];
                h[k][j] = mine ? h[k][j] - mean : 0;
                of[0] += h[k][j] * h[k][j];
                of[1] += g;
                of[2] += g * h[k][j];
            }
        }
        block_sums(of);
        float scale = rsqrtf(of[0] * inverse + 1e-5f);
        float g_mean = of[1] * inverse, gh_mean = of[2] * inverse * scale;

        for (int k = 0; k < VECTORS; k++) {
            int v = k * blockDim.x + threadIdx.x;
            for (int j = 0; j < 8; j++) {
                h[k][j] *= scale;
                dgamma_sum[k][j] += d[k][j] * h[k][j];
                dbeta_sum[k][j] += d[k][j];
                d[k][j] = (d[k][j] * weight[k][j] - g_mean - h[k][j] * gh_mean) * scale;
            }
            if (8 * v < cols)
                ((uint4 *)(dx + (size_t)row * cols))[v] = pack(d[k]);
        }
    }
    add_columns(dgamma, dgamma_sum, cols);
    add_columns(dbeta, dbeta_sum, cols);
}
//< backward-vectors

//> version TODO:
#ifndef VERSION
#define VERSION 5  // what the functions launch
#endif
//< version

//> whole-warps TODO:
// The threads of a block that has `each` numbers of a row in every thread.
static int whole_warps(int cols, int each)
{
    return ((cols + each - 1) / each + 31) / 32 * 32;
}
//< whole-warps

//> multiprocessors TODO:
static int multiprocessors()
{
    int device, count;
    CHECK(cudaGetDevice(&device));
    CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
    return count;
}
//< multiprocessors

//> launch-softmax TODO:
// Launches the last kernel up to VERSION that takes such rows.
static void launch_softmax(bf16 *out, const bf16 *x, int rows, int cols, int stride)
{
    if (VERSION == 5 && cols <= 32 * 32) {
        int warps = THREADS / 32;  // in a block
        softmax_vectors<4, true>
            <<<(rows + warps - 1) / warps, THREADS>>>(out, x, rows, cols, stride);
    } else if (VERSION == 5 && cols <= 8192) {
        softmax_vectors<4, false><<<rows, whole_warps(cols, 32)>>>(out, x, rows, cols, stride);
    } else if (VERSION == 5 && cols <= 32 * 1024) {
        int bytes = (cols + 7) / 8 * sizeof(uint4);
        CHECK(cudaFuncSetAttribute(softmax_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
        softmax_shared<<<rows, 512, bytes>>>(out, x, cols, stride);
    } else if (VERSION >= 3 && cols <= 16 * 256) {
        softmax_kept<16><<<rows, whole_warps(cols, 16)>>>(out, x, cols, stride);
    } else if (VERSION >= 3 && cols <= 32 * 1024) {
        softmax_kept<32><<<rows, whole_warps(cols, 32)>>>(out, x, cols, stride);
    } else {
        softmax_online<<<rows, THREADS>>>(out, x, cols, stride);
    }
    CHECK(cudaGetLastError());
}
//< launch-softmax

extern "C" void softmax(bf16 *out, const bf16 *x, int rows, int cols, int stride)
{
    if (rows == 0)  // a grid of no blocks is an error
        return;
    //> choose-softmax TODO:
    if (VERSION >= 2) {
        launch_softmax(out, x, rows, cols, stride);
        return;
    }
    //< choose-softmax
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
    //> choose-backward TODO:
    if (VERSION >= 4) {
        int each = VERSION == 5 && cols > 2048 && cols % 8 == 0 ? 16 : 8;  // columns a thread
        int threads = whole_warps(cols, each);
        //> blocks
        int most = multiprocessors() * (threads <= 256 && each == 8 ? 4 : 2), blocks = rows < most ? rows : most;
        //< blocks
        auto kernel = VERSION == 4 || cols % 8 ? backward_rows : each == 8 ? backward_vectors<1> : backward_vectors<2>;
        //> launch-rows
        kernel<<<blocks, threads>>>(dx, dgamma, dbeta, dy, x, gamma, rows, cols);
        //< launch-rows
        CHECK(cudaGetLastError());
        return;
    }
    //< choose-backward
    backward_row<<<rows, THREADS>>>(dx, dgamma, dbeta, dy, x, gamma, cols);
    CHECK(cudaGetLastError());  // the caller synchronises
}
