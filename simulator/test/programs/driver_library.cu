// expect: unsupported 0
// says: the CUDA driver API, which libcublas.so.13 calls, is not supported
// prints: not initialized|42
// build: -lcublas
// A library that brings code for a GPU alone: it is told, by name, and the program goes on.
#include <cstdio>
#include <cublas_v2.h>

__global__ void answer(int *out) { *out = 42; }

int main()
{
    cublasHandle_t handle;
    int *out, value = 0;
    if (cublasCreate(&handle) == CUBLAS_STATUS_NOT_INITIALIZED) puts("not initialized");
    cudaMalloc(&out, sizeof *out);
    answer<<<1, 1>>>(out);
    cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost);
    cudaFree(out);
    printf("%d\n", value);
}
