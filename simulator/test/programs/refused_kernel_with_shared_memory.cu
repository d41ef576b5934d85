// expect: unsupported 11, exit 7
// build: -gencode arch=compute_90a,code=compute_90a
// A kernel with an instruction that is not known, and with more shared memory than an ordinary one has: one reason is told, and not
// also that the launch has failed, which the program has seen.
#include "check.h"

extern __shared__ int shared[];

__global__ void refused(int *p)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    p[threadIdx.x] = shared[threadIdx.x];
}

int main()
{
    int *p;
    OK(cudaMalloc(&p, 128 * sizeof *p));
    OK(cudaFuncSetAttribute(refused, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    refused<<<1, 128, 100000>>>(p);
    CHECK(cudaGetLastError() == cudaErrorNotSupported);
    OK(cudaFree(p));
    return 7;
}
