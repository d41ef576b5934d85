// expect: exit 0
// Half, bfloat16 and 8-bit numbers, one and two at a time, and float and double rounded in every direction, against what
// the same functions and operations give on the host.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <math.h>
#include <string.h>

#include "check.h"

enum { N = 256 };

struct Out {
    __half h[8];
    __half2 hh[4];
    __nv_bfloat16 b[6];
    __nv_bfloat162 bb[3];
    __nv_fp8_e4m3 e;
    __nv_fp8_e5m2 m;
    float f[8];
    int i[6];
};

#ifdef __CUDA_ARCH__
#define FMA_HALF(a, b, c) __hfma(a, b, c)
#define FMA_BF16(a, b, c) __hfma(a, b, c)
#define FMA_HALF2(a, b, c) __hfma2(a, b, c)
#define FMA_BF162(a, b, c) __hfma2(a, b, c)
#else
#define FMA_HALF(a, b, c) __double2half((double)__half2float(a) * __half2float(b) + __half2float(c))
#define FMA_BF16(a, b, c) __double2bfloat16((double)__bfloat162float(a) * __bfloat162float(b) + __bfloat162float(c))
#define FMA_HALF2(a, b, c) __halves2half2(FMA_HALF((a).x, (b).x, (c).x), FMA_HALF((a).y, (b).y, (c).y))
#define FMA_BF162(a, b, c) __halves2bfloat162(FMA_BF16((a).x, (b).x, (c).x), FMA_BF16((a).y, (b).y, (c).y))
#endif

__host__ __device__ static void work(Out *o, float x, float y, float z)
{
    __half a = __float2half(x), b = __float2half(y), c = __float2half(z);
    o->h[0] = __hadd(a, b);
    o->h[1] = __hmul(a, b);
    o->h[2] = __hsub(a, b);
    o->h[3] = FMA_HALF(a, b, c);
    o->h[4] = __hmin(a, b);
    o->h[5] = __hmax(a, b);
    o->h[6] = __habs(__hneg(a));
    o->h[7] = __float2half_rz(x * y);
    __half2 p = __floats2half2_rn(x, y), q = __floats2half2_rn(z, x);
    o->hh[0] = FMA_HALF2(p, q, p);
    o->hh[1] = __hadd2(p, q);
    o->hh[2] = __hmul2(q, q);
    o->hh[3] = __hlt2(p, q);
    __nv_bfloat16 u = __float2bfloat16(x), v = __float2bfloat16(y), w = __float2bfloat16(z);
    o->b[0] = __hadd(u, v);
    o->b[1] = __hmul(u, v);
    o->b[2] = FMA_BF16(u, v, w);
    o->b[3] = __hmax(u, v);
    o->b[4] = __hneg(v);
    o->b[5] = __float2bfloat16_rz(x * y);
    __nv_bfloat162 r = __floats2bfloat162_rn(x, y), s = __floats2bfloat162_rn(z, x);
    o->bb[0] = FMA_BF162(r, s, r);
    o->bb[1] = __hadd2(r, s);
    o->bb[2] = __hmul2(s, s);
    o->e = __nv_fp8_e4m3(x);
    o->m = __nv_fp8_e5m2(y);
    o->f[0] = __half2float(a) + __bfloat162float(v);
    o->f[1] = float(o->e) + float(o->m);
    o->i[0] = (int)__half2short_rz(a);
    o->i[1] = __hisnan(b) + 2 * __hisnan(__hsub(a, a));
    o->i[2] = __hlt(a, b) + 2 * __heq(a, a) + 4 * __hge(b, c);
    o->i[3] = __hlt(u, v) + 2 * __hne(u, v);
}

struct Rounded { float f[12]; double d[12]; };

__global__ void kernel(Out *o, Rounded *r, const float *in)
{
    int t = threadIdx.x;
    float x = in[t], y = in[t + 1], z = in[t + 2];
    work(&o[t], x, y, z);
    double a = x * 1.1, b = y / 3.0;
#define ROUND(n, mode)                                                                                     \
    r[t].f[n] = __fadd_##mode(x, y), r[t].f[n + 1] = __fmul_##mode(x, y), r[t].f[n + 2] = __fdiv_##mode(x, y); \
    r[t].f[n + 3] = __fsqrt_##mode(fabsf(x));                                                              \
    r[t].d[n] = __dadd_##mode(a, b), r[t].d[n + 1] = __dmul_##mode(a, b), r[t].d[n + 2] = __ddiv_##mode(a, b); \
    r[t].d[n + 3] = __dsqrt_##mode(fabs(a))
    ROUND(0, rz);
    ROUND(4, rd);
    ROUND(8, ru);
}

// Down and up are neighbours, or equal where the result is exact; the nearest is one of them, and so is what goes
// towards zero.
#define BRACKETS(down, up, zero, nearest, next)                                                            \
    ((down) <= (up) && ((down) == (up) || next(down, INFINITY) == (up))                                    \
     && ((nearest) == (down) || (nearest) == (up)) && (zero) == ((up) <= 0 ? (up) : (down)))

static bool is_right(const Rounded *r, float x, float y)
{
    double a = x * 1.1, b = y / 3.0;
    float f[4] = { x + y, x * y, x / y, sqrtf(fabsf(x)) };
    double d[4] = { a + b, a * b, a / b, sqrt(fabs(a)) };
    for (int k = 0; k < 4; k++) {
        if (!BRACKETS(r->f[4 + k], r->f[8 + k], r->f[k], f[k], nextafterf)) return false;
        if (!BRACKETS(r->d[4 + k], r->d[8 + k], r->d[k], d[k], nextafter)) return false;
    }
    return true;
}

int main()
{
    static float in[N + 2], *din;
    static Out out[N], *dout;
    static Rounded rounded[N], *dr;
    unsigned state = 12345;
    for (int i = 0; i < N + 2; i++) {
        state = state * 1664525 + 1013904223;
        in[i] = (float)(int)state / (float)(1 << (i % 28 + 4)) * (i % 5 ? 1 : 1e-5f);
    }
    OK(cudaMalloc(&din, sizeof in));
    OK(cudaMalloc(&dout, sizeof out));
    OK(cudaMalloc(&dr, sizeof rounded));
    OK(cudaMemset(dout, 0, sizeof out));
    OK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
    kernel<<<1, N>>>(dout, dr, din);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(rounded, dr, sizeof rounded, cudaMemcpyDeviceToHost));
    for (int t = 0; t < N; t++) {
        static Out want;
        memset(&want, 0, sizeof want);
        work(&want, in[t], in[t + 1], in[t + 2]);
        const unsigned char *got = (const unsigned char *)&out[t], *due = (const unsigned char *)&want;
        for (size_t n = 0; n < sizeof want; n++)
            if (got[n] != due[n]) fprintf(stderr, "thread %d byte %zu: %02x, not %02x\n", t, n, got[n], due[n]);
        CHECK(memcmp(&out[t], &want, sizeof want) == 0);
        CHECK(is_right(&rounded[t], in[t], in[t + 1]));
    }
    OK(cudaFree(din));
    OK(cudaFree(dout));
    OK(cudaFree(dr));
    return 0;
}
