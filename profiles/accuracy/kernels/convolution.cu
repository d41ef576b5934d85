// Direct convolutions with weights in constant memory: 7 taps of rows, 5 x 5 of an image, and 3 x 3 of eight channels.
#include "exercise.h"

enum { THREADS = 256, WIDE = 1 << 18 };
__constant__ float weights[8 * 3 * 3 * 8];

// Each thread has eight outputs in a row.
static __device__ __forceinline__ void rows(float *out, const float *in)
{
    enum { EACH = 8, TAPS = 7 };
    const float *from = in + (blockIdx.x * THREADS + threadIdx.x) * EACH % (WIDE / 2);
    float v[EACH + TAPS - 1];
    for (int i = 0; i < EACH + TAPS - 1; i++)
        v[i] = from[i];
    for (int round = 0; round < 16; round++) {
        float sum[EACH] = {};
#pragma unroll
        for (int t = 0; t < TAPS; t++)
#pragma unroll
            for (int e = 0; e < EACH; e++)
                sum[e] += weights[t] * v[e + t];
        for (int e = 0; e < EACH; e++)
            v[e] = sum[e];
    }
    for (int e = 0; e < EACH; e++)
        out[(blockIdx.x * EACH + e) * THREADS + threadIdx.x] = v[e];
}

// A tile of 32 x 8 in shared memory, with its edges; four images.
static __device__ __forceinline__ void image(float *out, const float *in)
{
    enum { R = 2, X = 32, Y = 8, W = X + 2 * R, H = Y + 2 * R, IMAGES = 8 };
    __shared__ float tile[H][W];
    int x = threadIdx.x % X, y = threadIdx.x / X;
    float all = 0;
    for (int n = 0; n < IMAGES; n++) {
        __syncthreads();
        for (int i = threadIdx.x; i < W * H; i += THREADS)
            tile[i / W][i % W] = in[(blockIdx.x % 64 * X + n * 4096 + i / W * 2048 + i % W) % WIDE];
        __syncthreads();
        float sum = 0;
#pragma unroll
        for (int dy = 0; dy <= 2 * R; dy++)
#pragma unroll
            for (int dx = 0; dx <= 2 * R; dx++)
                sum += weights[dy * 5 + dx] * tile[y + dy][x + dx];
        all += sum * sum;
    }
    out[blockIdx.x * THREADS + threadIdx.x] = all;
}

// 3 x 3 of eight channels: eight sums a thread, and weights that a loop goes through.
static __device__ __forceinline__ void channels(float *out, const float *in)
{
    enum { CHANNELS = 8 };
    float sum[CHANNELS] = {};
    const float *from = in + blockIdx.x % 64 * 2048 + threadIdx.x;
#pragma unroll 1
    for (int c = 0; c < CHANNELS; c++)
#pragma unroll
        for (int t = 0; t < 9; t++) {
            float v = from[c * 1024 + t / 3 * 512 + t % 3];
#pragma unroll
            for (int to = 0; to < CHANNELS; to++)
                sum[to] += weights[(c * 9 + t) * CHANNELS + to] * v;
        }
    for (int to = 0; to < CHANNELS; to++)
        out[(blockIdx.x * CHANNELS + to) * THREADS + threadIdx.x] = sum[to];
}

IN_GRIDS(convolution_rows, THREADS, (float *out, const float *in), rows(out, in))
IN_GRIDS(convolution_image, THREADS, (float *out, const float *in), image(out, in))
IN_GRIDS(convolution_channels, THREADS, (float *out, const float *in), channels(out, in))

static float *in, *out;

int main(int count, char **arguments)
{
    float host[8 * 3 * 3 * 8];
    for (float &w : host)
        w = random_word() * 0x1p-35f;
    OK(cudaMemcpyToSymbol(weights, host, sizeof host));
    in = numbers(WIDE);
    out = output<float>(1 << 24);
    return run_versions(count, arguments, {
        GRIDS_OF("", convolution_rows, THREADS, 0, out, in),
        GRIDS_OF("", convolution_image, THREADS, 0, out, in),
        GRIDS_OF("", convolution_channels, THREADS, 0, out, in),
    });
}
