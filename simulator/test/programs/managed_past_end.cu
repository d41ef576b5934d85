// expect: bounds 9, exit 0
// says: just past the end of the 4000-byte allocation made at managed_past_end.cu:17
// A kernel runs past the end of managed memory.
#include "check.h"

__global__ void fill(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = n;
}

int main()
{
    int *p;
    cudaFree(0);
    cudaFree(0);
    OK(cudaMallocManaged(&p, 4000));
    fill<<<4, 256>>>(p, 1000);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
