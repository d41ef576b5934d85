// Attention of one head, tile by tile with running sums, as FlashAttention has it: a query of 32 numbers a thread; and a
// query for four lanes together.
#include "exercise.h"

enum { THREADS = 128, HEAD = 32, KEYS = 64, TILE = 32, MOST = 1 << 24 };

static __device__ __forceinline__ void of_thread(float *out, const float *q, const float *k, const float *v)
{
    __shared__ float keys[TILE][HEAD], values[TILE][HEAD];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float mine[HEAD], sum[HEAD] = {}, most = -1e30f, all = 0;
    for (int d = 0; d < HEAD; d++)
        mine[d] = q[i % 1024 * HEAD + d];
#pragma unroll 1
    for (int from = 0; from < KEYS; from += TILE) {
        __syncthreads();
        for (int n = threadIdx.x; n < TILE * HEAD; n += THREADS)
            (&keys[0][0])[n] = k[from * HEAD + n], (&values[0][0])[n] = v[from * HEAD + n];
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < TILE; j++) {
            float s = 0;
#pragma unroll
            for (int d = 0; d < HEAD; d++)
                s += mine[d] * keys[j][d];
            float now = fmaxf(most, s), old = __expf(most - now), e = __expf(s - now);
            most = now;
            all = all * old + e;
#pragma unroll
            for (int d = 0; d < HEAD; d++)
                sum[d] = sum[d] * old + e * values[j][d];
        }
    }
    for (int d = 0; d < HEAD; d++)
        out[(blockIdx.x * HEAD + d) % (MOST / THREADS) * THREADS + threadIdx.x] = sum[d] / all;
}

static __device__ __forceinline__ void of_four_lanes(float *out, const float *q, const float *k, const float *v)
{
    enum { EACH = HEAD / 4 };
    __shared__ float4 keys[TILE][HEAD / 4], values[TILE][HEAD / 4];
    int i = blockIdx.x * (THREADS / 4) + threadIdx.x / 4, part = threadIdx.x % 4;
    float mine[EACH], sum[EACH] = {}, most = -1e30f, all = 0;
    for (int d = 0; d < EACH; d++)
        mine[d] = q[i % 1024 * HEAD + part * EACH + d];
#pragma unroll 1
    for (int from = 0; from < KEYS; from += TILE) {
        __syncthreads();
        for (int n = threadIdx.x; n < TILE * HEAD / 4; n += THREADS)
            (&keys[0][0])[n] = ((const float4 *)k)[from * HEAD / 4 + n], (&values[0][0])[n] = ((const float4 *)v)[from * HEAD / 4 + n];
        __syncthreads();
#pragma unroll 2
        for (int j = 0; j < TILE; j++) {
            float4 a = keys[j][part * 2], b = keys[j][part * 2 + 1];
            float s = mine[0] * a.x + mine[1] * a.y + mine[2] * a.z + mine[3] * a.w + mine[4] * b.x + mine[5] * b.y
                    + mine[6] * b.z + mine[7] * b.w;
            s += __shfl_xor_sync(~0u, s, 1);
            s += __shfl_xor_sync(~0u, s, 2);
            float now = fmaxf(most, s), old = __expf(most - now), e = __expf(s - now);
            most = now;
            all = all * old + e;
            float4 c = values[j][part * 2], g = values[j][part * 2 + 1];
            sum[0] = sum[0] * old + e * c.x, sum[1] = sum[1] * old + e * c.y, sum[2] = sum[2] * old + e * c.z, sum[3] = sum[3] * old + e * c.w;
            sum[4] = sum[4] * old + e * g.x, sum[5] = sum[5] * old + e * g.y, sum[6] = sum[6] * old + e * g.z, sum[7] = sum[7] * old + e * g.w;
        }
    }
    for (int d = 0; d < EACH; d++)
        out[(blockIdx.x * EACH + d) % (MOST / THREADS) * THREADS + threadIdx.x] = sum[d] / all;
}

#define HEADS (float *out, const float *q, const float *k, const float *v)
IN_GRIDS(attention_thread, THREADS, HEADS, of_thread(out, q, k, v))
IN_GRIDS(attention_lanes, THREADS, HEADS, of_four_lanes(out, q, k, v))

static float *q, *k, *v, *out;

int main(int count, char **arguments)
{
    q = numbers(1024 * HEAD);
    k = numbers(KEYS * HEAD);
    v = numbers(KEYS * HEAD);
    out = output<float>(MOST);
    return run_versions(count, arguments, {
        GRIDS_OF("", attention_thread, THREADS, 0, out, q, k, v),
        GRIDS_OF("", attention_lanes, THREADS, 0, out, q, k, v),
    });
}
