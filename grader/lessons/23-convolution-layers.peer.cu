// link: -lcublas
// Lesson 23's peer: the matrix of columns in the workspace, and cuBLAS's product of it.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <stdio.h>
#include <stdlib.h>

// A thread stores eight neighbouring numbers: columns are r * s * c long.
static __global__ void columns_of(uint4 *columns, const uint4 *x, int height, int width, int chunks, int s, int stride, int pad,
                                  int dilation, int p, int q, int depth, size_t count)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int m = i / depth, d = i % depth, tap = d / chunks;
    int row = m / q % p * stride - pad + tap / s * dilation, col = m % q * stride - pad + tap % s * dilation;
    bool inside = row >= 0 && row < height && col >= 0 && col < width;
    size_t at = (((size_t)(m / q / p) * height + row) * width + col) * chunks + d % chunks;
    columns[i] = inside ? x[at] : make_uint4(0, 0, 0, 0);
}

// cuBLAS's matrices lie column by column. To it, y has k rows, and is the product of w, turned, and the matrix of columns.
extern "C" void convolve_cublas(__nv_bfloat16 *y, const __nv_bfloat16 *x, const __nv_bfloat16 *w, __nv_bfloat16 *workspace, int n,
                                int height, int width, int c, int k, int r, int s, int stride, int pad, int dilation)
{
    static cublasHandle_t handle;
    int p = (height + 2 * pad - dilation * (r - 1) - 1) / stride + 1, q = (width + 2 * pad - dilation * (s - 1) - 1) / stride + 1;
    int pixels = n * p * q, depth = r * s * c;
    size_t count = (size_t)pixels * (depth / 8);
    float one = 1, none = 0;

    if (!handle && cublasCreate(&handle)) {
        fprintf(stderr, "cuBLAS does not start\n");
        exit(EXIT_FAILURE);
    }
    if (n == 0)
        return;
    columns_of<<<(unsigned)((count + 255) / 256), 256>>>((uint4 *)workspace, (const uint4 *)x, height, width, c / 8, s, stride, pad,
                                                         dilation, p, q, depth / 8, count);
    if (cudaGetLastError() != cudaSuccess
        || cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, k, pixels, depth, &one, w, CUDA_R_16BF, depth, workspace, CUDA_R_16BF,
                        depth, &none, y, CUDA_R_16BF, k, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT)) {
        fprintf(stderr, "the product failed: %d pixels, %d filters of %d numbers\n", pixels, k, depth);
        exit(EXIT_FAILURE);
    }
}
