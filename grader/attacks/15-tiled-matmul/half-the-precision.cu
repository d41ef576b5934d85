// expect: WRONG
// The products are made of numbers of 16 bits, which a device does faster.
#include "15-tiled-matmul.h"

#include <cuda_fp16.h>

__global__ void multiply(float *c, const float *a, const float *b, int m, int n, int k)
{
    int col = blockIdx.y * 256 + threadIdx.x, row = blockIdx.x;
    float sum = 0;
    for (int p = 0; p < k && col < n; p++)
        sum += __half2float(__float2half(a[row * k + p])) * __half2float(__float2half(b[p * n + col]));
    if (col < n)
        c[row * n + col] = sum;
}

extern "C" void matmul(float *c, const float *a, const float *b, int m, int n, int k)
{
    if (m && n)
        multiply<<<dim3(m, n / 256 + 1), 256>>>(c, a, b, m, n, k);
}
