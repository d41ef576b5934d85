// link: -lcublas
// Lesson 17's peer: cuBLAS's product of bf16, added in float.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <stdio.h>
#include <stdlib.h>

static int pitch(int columns) { return (columns + 7) / 8 * 8; }

// cuBLAS's matrices lie column by column. To it, our rows are columns, so it is asked for C's transpose, which is B's
// times A's.
extern "C" void matmul_cublas(float *c, const __nv_bfloat16 *a, const __nv_bfloat16 *b, int m, int n, int k)
{
    static cublasHandle_t handle;
    float one = 1, none = 0;

    if (!handle && cublasCreate(&handle)) {
        fprintf(stderr, "cuBLAS does not start\n");
        exit(EXIT_FAILURE);
    }
    if (cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, CUDA_R_16BF, pitch(n), a, CUDA_R_16BF, pitch(k), &none,
                     c, CUDA_R_32F, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT)) {
        fprintf(stderr, "cublasGemmEx failed, m = %d, n = %d, k = %d\n", m, n, k);
        exit(EXIT_FAILURE);
    }
}
