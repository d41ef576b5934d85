// expect: deadlock 7, exit 0
// A barrier for more threads than ever come to it.
#include "check.h"

__global__ void kernel()
{
    if (threadIdx.x < 64) asm volatile("bar.sync 3, 96;" ::: "memory");
}

int main()
{
    kernel<<<1, 128>>>();
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}
