// Random numbers: Philox 4x32-10 (Salmon et al., 2011), from which pi is estimated, or normal numbers are made after Box
// and Muller; and a walk that branches on each of them.
#include "exercise.h"

enum { THREADS = 128, DRAWS = 32, SHARED = 24 << 10, MOST = 1 << 22 };

static __device__ __forceinline__ uint4 philox(uint4 c, uint2 k)
{
#pragma unroll
    for (int r = 0; r < 10; r++) {
        unsigned a = __umulhi(0xD2511F53, c.x), b = 0xD2511F53 * c.x, d = __umulhi(0xCD9E8D57, c.z), e = 0xCD9E8D57 * c.z;
        c = make_uint4(d ^ c.y ^ k.x, e, a ^ c.w ^ k.y, b);
        k.x += 0x9E3779B9, k.y += 0xBB67AE85;
    }
    return c;
}

static __device__ __forceinline__ float unit(unsigned x) { return (x >> 8) * 0x1p-24f + 0x1p-25f; }

static __device__ __forceinline__ void circle(float *out)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, inside = 0;
#pragma unroll 1
    for (int d = 0; d < DRAWS; d++) {
        uint4 r = philox(make_uint4(i, d, 0, 0), make_uint2(7, 11));
        float a = unit(r.x), b = unit(r.y), c = unit(r.z), e = unit(r.w);
        inside += (a * a + b * b < 1) + (c * c + e * e < 1);
    }
    out[i] = inside;
}

static __device__ __forceinline__ void normal(float *out)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int d = 0; d < DRAWS; d++) {
        uint4 r = philox(make_uint4(i, d, 0, 0), make_uint2(7, 11));
        float s, c, far = sqrtf(-2 * __logf(unit(r.x)));
        __sincosf(6.28318531f * unit(r.y), &s, &c);
        sum += far * s + far * c + unit(r.z);
    }
    out[i] = sum;
}

static __device__ __forceinline__ void walk(float *out)
{
    unsigned i = blockIdx.x * THREADS + threadIdx.x, state = i * 2654435761u + 1;
    float x = 0, y = 0;
#pragma unroll 1
    for (int d = 0; d < 4 * DRAWS; d++) {
        state = state * 1664525 + 1013904223;
        float step = unit(state);
        switch (state >> 30) {
        case 0: x += step; break;
        case 1: x -= step * y; break;
        case 2: y += sqrtf(step); break;
        default: y -= step;
        }
    }
    out[i] = x + y;
}

IN_GRIDS(philox_circle, THREADS, (float *out), circle(out))
IN_GRIDS(philox_normal, THREADS, (float *out), normal(out))
IN_GRIDS(random_walk, THREADS, (float *out), walk(out))

static float *out;

int main(int count, char **arguments)
{
    out = output<float>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("", philox_circle, THREADS, SHARED, out),
        GRIDS_OF("", philox_normal, THREADS, SHARED, out),
        GRIDS_OF("", random_walk, THREADS, SHARED, out),
    });
}
