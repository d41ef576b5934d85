// Softmax and layer normalisation of short rows, which stay in the L2 cache: a warp for each row, with its words in
// registers, and a block for each row, by shared memory; each row several times.
#include "exercise.h"

enum { THREADS = 256, WIDTH = 256, ROWS = 1024, AGAIN = 4, MOST = 1 << 24 };

static __device__ __forceinline__ float over_warp(float v, bool most)
{
#pragma unroll
    for (int d = 16; d; d /= 2) {
        float other = __shfl_xor_sync(~0u, v, d);
        v = most ? fmaxf(v, other) : v + other;
    }
    return v;
}

static __device__ __forceinline__ void softmax(float *out, const float *in)
{
    enum { EACH = WIDTH / 32 };
    int warp = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum_of_all = 0;
#pragma unroll 1
    for (int n = 0; n < AGAIN; n++) {
        const float *row = in + (warp * AGAIN + n) % ROWS * WIDTH;
        float v[EACH], most = -1e30f, sum = 0;
        for (int e = 0; e < EACH; e++)
            v[e] = row[e * 32 + lane], most = fmaxf(most, v[e]);
        most = over_warp(most, true);
        for (int e = 0; e < EACH; e++)
            v[e] = __expf(v[e] - most), sum += v[e];
        sum = 1 / over_warp(sum, false);
        for (int e = 0; e < EACH; e++)
            sum_of_all += v[e] * sum * (e + 1);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum_of_all;
}

static __device__ __forceinline__ float over_block(float v, float *of_warp)
{
    v = over_warp(v, false);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    float sum = 0;
    for (int w = 0; w < THREADS / 32; w++)
        sum += of_warp[w];
    __syncthreads();
    return sum;
}

static __device__ __forceinline__ void norm(float *out, const float *in)
{
    __shared__ float of_warp[THREADS / 32];
    float sum = 0;
#pragma unroll 1
    for (int n = 0; n < AGAIN; n++) {
        float v = in[(blockIdx.x * AGAIN + n) % ROWS * WIDTH + threadIdx.x];
        float mean = over_block(v, of_warp) / WIDTH, d = v - mean;
        float variance = over_block(d * d, of_warp) / WIDTH;
        sum += d * rsqrtf(variance + 1e-5f);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

// The same of a thread each, four words at a time.
static __device__ __forceinline__ void root_mean_square(float *out, const float4 *in)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    const float4 *row = in + i % ROWS * (WIDTH / 4);
    float sum = 0, scaled = 0;
#pragma unroll 4
    for (int n = 0; n < WIDTH / 4; n++) {
        float4 v = row[n];
        sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    float scale = rsqrtf(sum / WIDTH + 1e-6f);
#pragma unroll 4
    for (int n = 0; n < WIDTH / 4; n++) {
        float4 v = row[n];
        scaled += fabsf(v.x * scale) + fabsf(v.y * scale) + fabsf(v.z * scale) + fabsf(v.w * scale);
    }
    out[i] = scaled;
}

IN_GRIDS(rows_softmax, THREADS, (float *out, const float *in), softmax(out, in))
IN_GRIDS(rows_norm, THREADS, (float *out, const float *in), norm(out, in))
IN_GRIDS(rows_thread, THREADS, (float *out, const float4 *in), root_mean_square(out, in))

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers(ROWS * WIDTH);
    out = output<float>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("", rows_softmax, THREADS, 0, out, in),
        GRIDS_OF("", rows_norm, THREADS, 0, out, in),
        GRIDS_OF("", rows_thread, THREADS, 0, out, (const float4 *)in),
    });
}
