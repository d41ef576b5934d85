// All pairs of bodies, as in NVIDIA's GPU Gems 3, chapter 31: each thread sums the accelerations of one or two.
#include "exercise.h"

enum { THREADS = 128, BODIES = 512, MOST = 1 << 19, SHARED = 40 << 10 };

static __device__ __forceinline__ void add(float3 &a, float4 me, float4 other)
{
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    float r = rsqrtf(x * x + y * y + z * z + 1e-4f), s = other.w * r * r * r;
    a.x += x * s;
    a.y += y * s;
    a.z += z * s;
}

static __device__ __forceinline__ void store(float4 *out, int at, float3 a) { out[at] = make_float4(a.x, a.y, a.z, 0); }

static __device__ __forceinline__ void naive(float4 *out, const float4 *in)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 me = in[i % BODIES];
    float3 a = {};
    for (int j = 0; j < BODIES; j++)
        add(a, me, in[j]);
    store(out, i, a);
}

template <int EACH> static __device__ __forceinline__ void tiled(float4 *out, const float4 *in)
{
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 me[EACH];
    float3 a[EACH] = {};
    for (int e = 0; e < EACH; e++)
        me[e] = in[(i + e * 64) % BODIES];
    for (int t = 0; t < BODIES; t += THREADS) {
        tile[threadIdx.x] = in[t + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < THREADS; j++) {
            float4 other = tile[j];
#pragma unroll
            for (int e = 0; e < EACH; e++)
                add(a[e], me[e], other);
        }
        __syncthreads();
    }
    for (int e = 0; e < EACH; e++)
        store(out, i * EACH + e, a[e]);
}

IN_GRIDS(nbody_naive, THREADS, (float4 *out, const float4 *in), naive(out, in))
IN_GRIDS(nbody_tile, THREADS, (float4 *out, const float4 *in), tiled<1>(out, in))
IN_GRIDS(nbody_two, THREADS, (float4 *out, const float4 *in), tiled<2>(out, in))

static float4 *in, *out;

int main(int count, char **arguments)
{
    in = (float4 *)numbers(4 * BODIES);
    out = output<float4>(2 * MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("nbody", nbody_naive, THREADS, SHARED, out, in),
        GRIDS_OF("nbody", nbody_tile, THREADS, SHARED, out, in),
        GRIDS_OF("nbody", nbody_two, THREADS, SHARED, out, in),
    });
}
