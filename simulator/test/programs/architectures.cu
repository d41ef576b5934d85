// expect: exit 0
// build: -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90 -gencode arch=compute_100,code=compute_100
// Of several PTX texts the newest that the device can run is taken.
#include "check.h"

__global__ void which(int *p)
{
#ifdef __CUDA_ARCH__
    *p = __CUDA_ARCH__;
#endif
}

int main()
{
    int *p, arch = 0;
    OK(cudaMalloc(&p, sizeof arch));
    which<<<1, 1>>>(p);
    OK(cudaMemcpy(&arch, p, sizeof arch, cudaMemcpyDeviceToHost));
    CHECK(arch == 900);
    OK(cudaFree(p));
    return 0;
}
