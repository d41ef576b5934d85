// Arithmetic of each kind, on 512 K numbers that are read and written once.
#include <cuda_fp16.h>
#include "exercise.h"

enum { N = 1 << 19, ROUNDS = 64 };

KERNEL fused_multiply_add(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[i], b = a + 1, c = a + 2, d = a + 3;
#pragma unroll 4
    for (int r = 0; r < ROUNDS; r++) {
        a = a * 0.5f + 1;
        b = b * 0.5f + 1;
        c = c * 0.5f + 1;
        d = d * 0.5f + 1;
    }
    out[i] = a + b + c + d;
}

// Each product needs the one before.
KERNEL dependent_chain(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[i];
#pragma unroll 4
    for (int r = 0; r < 4 * ROUNDS; r++)
        a = a * 0.5f + 1;
    out[i] = a;
}

KERNEL special_functions(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[i];
#pragma unroll 4
    for (int r = 0; r < ROUNDS / 2; r++)
        a = __sinf(a) + __expf(a);
    out[i] = a;
}

KERNEL double_precision(double *out, const double *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    double a = in[i], b = a + 1;
#pragma unroll 4
    for (int r = 0; r < ROUNDS; r++) {
        a = a * 0.5 + 1;
        b = b * 0.5 + 1;
    }
    out[i] = a + b;
}

KERNEL half_pairs(__half2 *out, const __half2 *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 a = in[i], b = __hadd2(a, a), half = __float2half2_rn(0.5f), one = __float2half2_rn(1);
#pragma unroll 4
    for (int r = 0; r < ROUNDS; r++) {
        a = __hfma2(a, half, one);
        b = __hfma2(b, half, one);
    }
    out[i] = __hadd2(a, b);
}

KERNEL integer_hash(unsigned *out, const unsigned *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i];
#pragma unroll 4
    for (int r = 0; r < ROUNDS / 2; r++) {
        a ^= a >> 16;
        a *= 0x7feb352d;
        a ^= a >> 15;
        a *= 0x846ca68b;
    }
    out[i] = a;
}

KERNEL integer_division(unsigned *out, const unsigned *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = in[i], b = a % 1021 + 7;
#pragma unroll 4
    for (int r = 0; r < ROUNDS / 8; r++)
        a = a / b + in[i] % (b + r);
    out[i] = a;
}

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers(2 * N);
    out = output<float>(2 * N);
    return run_versions(count, arguments, {
        VERSION(fused_multiply_add, N / 256, 256, 0, out, in),
        VERSION(dependent_chain, N / 256, 256, 0, out, in),
        VERSION(special_functions, N / 256, 256, 0, out, in),
        VERSION(double_precision, N / 256, 256, 0, (double *)out, (const double *)in),
        VERSION(half_pairs, N / 256, 256, 0, (__half2 *)out, (const __half2 *)in),
        VERSION(integer_hash, N / 256, 256, 0, (unsigned *)out, (const unsigned *)in),
        VERSION(integer_division, N / 256, 256, 0, (unsigned *)out, (const unsigned *)in),
    });
}
