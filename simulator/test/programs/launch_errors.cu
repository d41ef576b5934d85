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
    CHECK(last() == cudaErrorInvalidConfiguration);
    nothing<<<1, 0>>>();
    CHECK(last() == cudaErrorInvalidConfiguration);
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
