// expect: bounds 9
// varies: the message has an address of the host's stack
// says: which is not device memory
// A kernel that is given host memory.
#include "check.h"

__global__ void fill(int *p)
{
    p[threadIdx.x] = 1;
}

int main()
{
    int host[32];
    fill<<<1, 32>>>(host);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
