// expect: exit 0
// Bad configurations give what an H200 gives, once each, and nothing is said when the program asks.
#include "check.h"

__global__ void nothing() {}
__global__ void dynamic(int *p)
{
    extern __shared__ int s[];
    s[threadIdx.x] = 1;
    *p = s[threadIdx.x];
}

static int last()
{
    int error = cudaPeekAtLastError();
    CHECK(cudaGetLastError() == error && cudaGetLastError() == cudaSuccess);
    return error;
}

int main()
{
    int *p;
    nothing<<<1, 2048>>>();
    CHECK(last() == cudaErrorInvalidValue);
    nothing<<<0, 32>>>();
    CHECK(last() == cudaErrorInvalidValue);
    nothing<<<1, 0>>>();
    CHECK(last() == cudaErrorInvalidValue);
    nothing<<<dim3(1, 65536), 1>>>();
    CHECK(last() == cudaErrorInvalidValue);
    CHECK(cudaLaunchKernel(NULL, 1, 1, NULL, 0, 0) == cudaErrorInvalidDeviceFunction);
    CHECK(cudaLaunchKernel(&p, 1, 1, NULL, 0, 0) == cudaErrorInvalidResourceHandle);
    CHECK(last() == cudaErrorInvalidResourceHandle);
    OK(cudaMalloc(&p, 4));
    dynamic<<<1, 1, 50000>>>(p);
    CHECK(last() == cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
    dynamic<<<1, 1, 200000>>>(p);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
    return 0;
}
