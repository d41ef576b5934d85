// expect: unsupported 19, unsupported 20, unsupported 21, unsupported 24
// says: cuInit is not supported
// says: cuMemAlloc is not supported
// says: cuStreamWaitValue32 is not supported
// says: the driver's cuMemAlloc is not supported
// prints: 801 CUDA_ERROR_NOT_SUPPORTED operation not supported|42
// build: -Lbuild/simulator/lib -l:libcuda.so.1
// A program that is linked with the driver's library: each call is refused by its name, and the rest runs. What the driver
// refuses is no error of the runtime.
#include "check.h"
#include <cuda.h>

__global__ void answer(int *out) { *out = 42; }

int main()
{
    CUdeviceptr p;
    const char *name, *words;
    CHECK(cuInit(0) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(cuMemAlloc(&p, 4) == CUDA_ERROR_NOT_SUPPORTED);
    CUresult error = cuStreamWaitValue32(0, 0, 1, 0);
    void *function;
    CUdriverProcAddressQueryResult found;
    CHECK(cuGetProcAddress("cuMemAlloc", &function, 13000, 0, &found) && !function && found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK(cuGetErrorName(error, &name) == CUDA_SUCCESS && cuGetErrorString(error, &words) == CUDA_SUCCESS);
    printf("%d %s %s\n", error, name, words);
    CHECK(cuGetErrorName((CUresult)12345, &name) == CUDA_ERROR_INVALID_VALUE && !name);
    CHECK(cuGetErrorName(error, nullptr) == CUDA_ERROR_INVALID_VALUE && cuGetErrorString(error, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuGetErrorString((CUresult)12345, &words) == CUDA_ERROR_INVALID_VALUE && !words);
    OK(cudaGetLastError());

    int *out, value = 0;
    OK(cudaMalloc(&out, sizeof *out));
    answer<<<1, 1>>>(out);
    OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    OK(cudaFree(out));
    printf("%d\n", value);
}
