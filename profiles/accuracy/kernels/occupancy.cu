// One sum of two vectors of 2 M floats with ever less in flight, and kernels that leave most of the device idle.
#include "exercise.h"

enum { N = 1 << 21, SMS = 132, LARGE_SHARED = 200 << 10 };

static __device__ void add_stride(float *out, const float *a, const float *b)
{
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x)
        out[i] = a[i] + b[i];
}

KERNEL occupancy_full(float *out, const float *a, const float *b) { add_stride(out, a, b); }
KERNEL occupancy_quarter(float *out, const float *a, const float *b) { add_stride(out, a, b); }
KERNEL occupancy_warp(float *out, const float *a, const float *b) { add_stride(out, a, b); }

// So much shared memory that one block fits on a multiprocessor.
KERNEL occupancy_shared(float *out, const float *a, const float *b)
{
    extern __shared__ float own[];
    int t = threadIdx.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + t; i < N; i += gridDim.x * blockDim.x) {
        own[t] = a[i];
        own[t + blockDim.x] = b[i];
        __syncwarp();
        out[i] = own[t ^ 1] + own[(t ^ 1) + blockDim.x];
        __syncwarp();
    }
}

KERNEL few_blocks(float *out, const float *a, const float *b) { add_stride(out, a, b); }

static __device__ void iterate(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = in[i];
#pragma unroll 4
    for (int r = 0; r < 512; r++)
        v = v * 0.5f + 1;
    out[i] = v;
}

// Blocks that fill the device exactly, and one more of them.
KERNEL waves_one(float *out, const float *in) { iterate(out, in); }
KERNEL waves_one_and_a_block(float *out, const float *in) { iterate(out, in); }
KERNEL one_block(float *out, const float *in) { iterate(out, in); }
KERNEL one_warp(float *out, const float *in) { out[threadIdx.x] = in[threadIdx.x]; }
KERNEL nothing() {}

static float *a, *b, *out;

int main(int count, char **arguments)
{
    a = numbers(N);
    b = numbers(N);
    out = output<float>(N);
    OK(cudaFuncSetAttribute(occupancy_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, LARGE_SHARED));
    return run_versions(count, arguments, {
        VERSION_OF("sum in flight", occupancy_full, SMS * 8, 256, 0, out, a, b),
        VERSION_OF("sum in flight", occupancy_quarter, SMS * 2, 256, 0, out, a, b),
        VERSION_OF("sum in flight", occupancy_warp, SMS, 32, 0, out, a, b),
        VERSION_OF("sum in flight", occupancy_shared, SMS, 256, LARGE_SHARED, out, a, b),
        VERSION_OF("sum in flight", few_blocks, 16, 1024, 0, out, a, b),
        VERSION_OF("waves", waves_one, SMS * 2, 1024, 0, out, a),
        VERSION_OF("waves", waves_one_and_a_block, SMS * 2 + 1, 1024, 0, out, a),
        VERSION(one_block, 1, 1024, 0, out, a),
        VERSION(one_warp, 1, 32, 0, out, a),
        VERSION(nothing, 1, 32, 0),
    });
}
