// Fourier transforms of 1,024 points a block, in shared memory, after Stockham: with radix 2, radix 4, and with sines that
// are computed, not read.
#include "exercise.h"

enum { POINTS = 1024, THREADS = 256, MOST = 1 << 22 };

static __device__ __forceinline__ float2 times(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
static __device__ __forceinline__ float2 plus(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ __forceinline__ float2 minus(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }

template <bool COMPUTED> static __device__ __forceinline__ float2 root(const float2 *roots, int k)
{
    float2 r;
    if (COMPUTED)
        __sincosf(-6.28318531f / POINTS * k, &r.y, &r.x);
    else
        r = roots[k];
    return r;
}

template <bool COMPUTED> static __device__ __forceinline__ void radix_2(float2 *out, const float2 *in, const float2 *roots)
{
    __shared__ float2 s[2][POINTS];
    int now = 0;
    for (int i = threadIdx.x; i < POINTS; i += THREADS)
        s[0][i] = in[(blockIdx.x * POINTS + i) % MOST];
    for (int m = 1; m < POINTS; m *= 2, now ^= 1) {
        __syncthreads();
#pragma unroll
        for (int n = 0; n < POINTS / 2 / THREADS; n++) {
            int j = n * THREADS + threadIdx.x, k = j & (m - 1);
            float2 a = s[now][j], b = times(s[now][j + POINTS / 2], root<COMPUTED>(roots, k * (POINTS / 2 / m)));
            int to = 2 * (j - k) + k;
            s[!now][to] = plus(a, b);
            s[!now][to + m] = minus(a, b);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < POINTS; i += THREADS)
        out[(blockIdx.x * POINTS + i) % MOST] = s[now][i];
}

static __device__ __forceinline__ void radix_4(float2 *out, const float2 *in, const float2 *roots)
{
    __shared__ float2 s[2][POINTS];
    int now = 0, j = threadIdx.x;
    for (int i = threadIdx.x; i < POINTS; i += THREADS)
        s[0][i] = in[(blockIdx.x * POINTS + i) % MOST];
#pragma unroll
    for (int m = 1; m < POINTS; m *= 4, now ^= 1) {
        __syncthreads();
        int k = j & (m - 1), to = 4 * (j - k) + k, turn = k * (POINTS / 4 / m);
        float2 a = s[now][j], b = times(s[now][j + POINTS / 4], roots[turn]), c = times(s[now][j + POINTS / 2], roots[2 * turn]),
               d = times(s[now][j + 3 * POINTS / 4], roots[3 * turn % POINTS]);
        float2 p = plus(a, c), q = minus(a, c), r = plus(b, d), t = minus(b, d), u = make_float2(t.y, -t.x);
        s[!now][to] = plus(p, r);
        s[!now][to + m] = plus(q, u);
        s[!now][to + 2 * m] = minus(p, r);
        s[!now][to + 3 * m] = minus(q, u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < POINTS; i += THREADS)
        out[(blockIdx.x * POINTS + i) % MOST] = s[now][i];
}

#define POINTERS (float2 *out, const float2 *in, const float2 *roots)
IN_GRIDS(fft_2, THREADS, POINTERS, radix_2<false>(out, in, roots))
IN_GRIDS(fft_2_computed, THREADS, POINTERS, radix_2<true>(out, in, roots))
IN_GRIDS(fft_4, THREADS, POINTERS, radix_4(out, in, roots))

static float2 *in, *out, *roots;

int main(int count, char **arguments)
{
    in = (float2 *)numbers(2 * MOST);
    roots = (float2 *)numbers(2 * POINTS);
    out = output<float2>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("fft", fft_2, THREADS, 0, out, in, roots),
        GRIDS_OF("", fft_2_computed, THREADS, 0, out, in, roots),
        GRIDS_OF("fft", fft_4, THREADS, 0, out, in, roots),
    });
}
