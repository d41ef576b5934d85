// expect: use-after-free 8
// says: freed
// A kernel that is given what was freed.
#include "check.h"

__global__ void fill(int *p)
{
    p[threadIdx.x] = 1;
}

int main()
{
    int *p;
    OK(cudaMalloc(&p, 32 * sizeof *p));
    OK(cudaFree(p));
    fill<<<1, 32>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
