// expect: exit 0
// build: -gencode arch=compute_90,code=[compute_90,sm_90]
// What is known of a kernel: registers from its native code, the rest from its PTX.
#include "check.h"

__global__ void __launch_bounds__(256) small(int *p)
{
    __shared__ int s[100];
    s[threadIdx.x % 100] = *p;
    __syncthreads();
    *p = s[(threadIdx.x + 1) % 100];
}

int main()
{
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, small));
    CHECK(a.numRegs >= 4 && a.numRegs <= 64);
    CHECK(a.sharedSizeBytes == 400 && a.maxThreadsPerBlock == 256);
    CHECK(a.ptxVersion == 90 && a.binaryVersion == 90);
    return 0;
}
