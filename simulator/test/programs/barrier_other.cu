// expect: deadlock 9
// says: barrier 0 waits for all threads of the block, and 32 come
// Two warps that wait at barriers of different numbers: neither counts for the other's.
#include "check.h"

__global__ void kernel()
{
    if (threadIdx.x < 32)
        __syncthreads();
    else
        asm volatile("bar.sync 1, 64;");
}

int main()
{
    kernel<<<1, 64>>>();
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}
