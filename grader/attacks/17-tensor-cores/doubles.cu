// expect: STEP 0
// The products are made in double, by a pipe that is not looked at, without Tensor Cores.
#include "17-tensor-cores.h"

enum { TILE = 64, DEEP = 16 };

static __device__ double number(__nv_bfloat16 x) { return __bfloat162float(x); }
static __device__ double number(__half x) { return __half2float(x); }

template <typename T>
__global__ void product(float *c, const T *a, const T *b, int m, int n, int k)
{
    __shared__ double left[DEEP][TILE + 1], right[DEEP][TILE];
    int t = threadIdx.x, x = t % 16, y = t / 16, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    double sum[4][4] = { 0 };
    for (int from = 0; from < k; from += DEEP) {
        for (int i = 0; i < 4; i++) {
            int r = row + y + 16 * i, s = from + x, p = from + t / TILE + 4 * i, q = col + t % TILE;
            left[x][y + 16 * i] = r < m && s < k ? number(a[(size_t)r * pitch(k) + s]) : 0;
            right[p - from][q - col] = p < k && q < n ? number(b[(size_t)p * pitch(n) + q]) : 0;
        }
        __syncthreads();
#pragma unroll
        for (int p = 0; p < DEEP; p++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sum[i][j] = fma(left[p][y + 16 * i], right[p][x + 16 * j], sum[i][j]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (row + y + 16 * i < m && col + x + 16 * j < n)
                c[(size_t)(row + y + 16 * i) * n + col + x + 16 * j] = sum[i][j];
}

template <typename T> static void multiply(float *c, const T *a, const T *b, int m, int n, int k)
{
    if (m && n)
        product<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), 256>>>(c, a, b, m, n, k);
}

extern "C" void matmul_bf16(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n,
                            int k)
{
    multiply(c, a, b, m, n, k);
}

extern "C" void matmul_f16(float *c, const __half *a, const __half *b, int m, int n, int k)
{
    multiply(c, a, b, m, n, k);
}
