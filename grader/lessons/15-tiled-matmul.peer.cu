// link: -lcublas
// Lesson 15's peer: cuBLAS's product in float.
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>

// cuBLAS's matrices lie column by column. To it, our rows are columns, so it is asked for C's transpose, which is B's
// times A's. Pedantic: float all the way, no TF32, no sums of shorter parts.
extern "C" void matmul_cublas(float *c, const float *a, const float *b, int m, int n, int k)
{
    static cublasHandle_t handle;
    float one = 1, none = 0;

    if (!handle && (cublasCreate(&handle) || cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH))) {
        fprintf(stderr, "cuBLAS does not start\n");
        exit(EXIT_FAILURE);
    }
    if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &none, c, n)) {
        fprintf(stderr, "cublasSgemm failed, m = %d, n = %d, k = %d\n", m, n, k);
        exit(EXIT_FAILURE);
    }
}
