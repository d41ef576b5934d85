// expect: bounds 9
// says: at byte 32 of the 33-byte allocation
// says: the size may be a count of elements
// As many bytes as there should be floats.
#include "check.h"

__global__ void fill(float *p, int n)
{
    if (threadIdx.x < n) p[threadIdx.x] = 1;
}

int main()
{
    float *p;
    OK(cudaMalloc(&p, 33));
    fill<<<1, 64>>>(p, 33);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
