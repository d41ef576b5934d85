// Sums of 8 M floats, one for each block.
#include "exercise.h"

enum { N = 1 << 23, THREADS = 256, BLOCKS = 132 * 8 };

// Threads 0, 2, 4 ... of each warp work on: half of a warp idles.
KERNEL reduce_interleaved(float *out, const float *in)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        if (t % (2 * step) == 0)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

// The first threads work on, with a stride that grows: bank conflicts.
KERNEL reduce_strided(float *out, const float *in)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        int i = 2 * step * t;
        if (i < THREADS)
            part[i] += part[i + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

KERNEL reduce_sequential(float *out, const float *in)
{
    __shared__ float part[THREADS];
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (t < step)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = part[0];
}

static __device__ void sum_block(float *out, float sum)
{
    __shared__ float part[THREADS / 32];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < THREADS / 32; i++)
            sum += part[i];
        out[blockIdx.x] = sum;
    }
}

KERNEL reduce_shuffle(float *out, const float *in)
{
    float sum = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N; i += THREADS * BLOCKS)
        sum += in[i];
    sum_block(out, sum);
}

KERNEL reduce_float4(float *out, const float4 *in)
{
    float sum = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < N / 4; i += THREADS * BLOCKS) {
        float4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    sum_block(out, sum);
}

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers(N);
    out = output<float>(N / THREADS);
    return run_versions(count, arguments, {
        VERSION_OF("reduction", reduce_interleaved, N / THREADS, THREADS, 0, out, in),
        VERSION_OF("reduction", reduce_strided, N / THREADS, THREADS, 0, out, in),
        VERSION_OF("reduction", reduce_sequential, N / THREADS, THREADS, 0, out, in),
        VERSION_OF("reduction", reduce_shuffle, BLOCKS, THREADS, 0, out, in),
        VERSION_OF("reduction", reduce_float4, BLOCKS, THREADS, 0, out, (const float4 *)in),
    });
}
