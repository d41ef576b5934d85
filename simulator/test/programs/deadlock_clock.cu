// expect: hang 10
// says: all that have not ended wait for something
// A flag that nobody sets, awaited by a thread that looks at the clock, while the others of its block wait at a barrier.
#include "check.h"

__global__ void wait(volatile int *flag, unsigned *tries)
{
    if (threadIdx.x == 0) {
        long long begin = clock64();
        while (*flag == 0 && clock64() >= begin) continue;
        *tries = clock64() - begin;
    }
    __syncthreads();
}

int main()
{
    int *both;
    OK(cudaMalloc(&both, 8));
    OK(cudaMemset(both, 0, 8));
    wait<<<1, 128>>>(both, (unsigned *)both + 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    return 0;
}
