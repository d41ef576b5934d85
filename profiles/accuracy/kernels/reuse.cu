// Data that are read again: from the L1 cache, from the L2 cache, from shared memory with and without conflicts, from
// local memory.
#include "exercise.h"

enum { THREADS = 256, BLOCKS = 132 * 8, SHARED = 4096, ROUNDS = 32 };

// All blocks read the same 4 MB, from where each begins: eight times in all.
KERNEL read_l2(float *out, const float4 *in)
{
    enum { N = 1 << 18 };
    float sum = 0;
    int from = blockIdx.x * 997 * THREADS + threadIdx.x;
    for (int r = 0; r < ROUNDS / 4; r++) {
        float4 v = in[(from + r * THREADS * 31) % N];
        sum += v.x + v.y + v.z + v.w;
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

// Each block reads 8 KB of its own again and again, each time another thread.
KERNEL read_l1(float *out, const float *in)
{
    enum { N = 2048 };
    float sum = 0;
    const float *own = in + blockIdx.x * N;
    for (int r = 0; r < 2 * ROUNDS; r++)
        sum += own[(threadIdx.x + r * 288) % N];
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

template <int STRIDE>
static __device__ void read_stride(float *out)
{
    __shared__ float own[SHARED];
    for (int i = threadIdx.x; i < SHARED; i += THREADS)
        own[i] = i;
    __syncthreads();
    float sum = 0;
#pragma unroll 4
    for (int r = 0; r < ROUNDS; r++)
        sum += own[(threadIdx.x * STRIDE + r * 37) % SHARED];
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

KERNEL shared_stride_1(float *out) { read_stride<1>(out); }
KERNEL shared_stride_2(float *out) { read_stride<2>(out); }
KERNEL shared_stride_8(float *out) { read_stride<8>(out); }
KERNEL shared_stride_32(float *out) { read_stride<32>(out); }

// An array that registers cannot hold, since its index is known only when it runs.
KERNEL local_array(float *out, const float *in)
{
    float own[32];
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (int k = 0; k < 32; k++)
        own[k] = in[i] + k;
    unsigned at = __float_as_uint(in[i]);
    float sum = 0;
    for (int r = 0; r < 16; r++) {
        sum += own[at % 32];
        own[(at >> 5) % 32] = sum;
        at = at * 1664525 + 1013904223;
    }
    out[i] = sum;
}

KERNEL barriers(float *out, const float *in)
{
    __shared__ float own[THREADS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    own[t] = in[i];
#pragma unroll 1
    for (int r = 0; r < ROUNDS; r++) {
        __syncthreads();
        float v = own[(t + 32) % THREADS];
        __syncthreads();
        own[t] = v + 1;
    }
    out[i] = own[t];
}

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers(BLOCKS * 2048);
    out = output<float>(BLOCKS * THREADS);
    return run_versions(count, arguments, {
        VERSION(read_l2, BLOCKS, THREADS, 0, out, (const float4 *)in),
        VERSION(read_l1, BLOCKS, THREADS, 0, out, in),
        VERSION_OF("strides", shared_stride_1, BLOCKS, THREADS, 0, out),
        VERSION_OF("strides", shared_stride_2, BLOCKS, THREADS, 0, out),
        VERSION_OF("strides", shared_stride_8, BLOCKS, THREADS, 0, out),
        VERSION_OF("strides", shared_stride_32, BLOCKS, THREADS, 0, out),
        VERSION(local_array, BLOCKS, THREADS, 0, out, in),
        VERSION(barriers, BLOCKS, THREADS, 0, out, in),
    });
}
