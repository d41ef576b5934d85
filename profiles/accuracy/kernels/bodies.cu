// The forces that 1024 bodies put on each of 32 K bodies.
#include "exercise.h"

enum { TARGETS = 1 << 15, SOURCES = 1 << 10, THREADS = 256 };

static __device__ void pull(float4 &sum, float4 a, float4 b)
{
    float x = b.x - a.x, y = b.y - a.y, z = b.z - a.z, d = x * x + y * y + z * z + 0.01f;
    float by = rsqrtf(d), f = b.w * by * by * by;
    sum.x += f * x;
    sum.y += f * y;
    sum.z += f * z;
}

KERNEL bodies_global(float4 *out, const float4 *in)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 own = in[i], sum = { 0, 0, 0, 0 };
    for (int j = 0; j < SOURCES; j++)
        pull(sum, own, in[j]);
    out[i] = sum;
}

KERNEL bodies_tiled(float4 *out, const float4 *in)
{
    __shared__ float4 others[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 own = in[i], sum = { 0, 0, 0, 0 };
    for (int from = 0; from < SOURCES; from += THREADS) {
        others[threadIdx.x] = in[from + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < THREADS; j++)
            pull(sum, own, others[j]);
        __syncthreads();
    }
    out[i] = sum;
}

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers(4 * TARGETS);
    out = output<float>(4 * TARGETS);
    return run_versions(count, arguments, {
        VERSION_OF("bodies", bodies_global, TARGETS / THREADS, THREADS, 0, (float4 *)out, (const float4 *)in),
        VERSION_OF("bodies", bodies_tiled, TARGETS / THREADS, THREADS, 0, (float4 *)out, (const float4 *)in),
    });
}
