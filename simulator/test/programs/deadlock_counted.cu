// expect: hang 12
// run: --limit 20000000
// says: all that have not ended wait for something
// A flag that nobody sets, awaited by a thread that counts its tries, while the others of its block
// wait at a barrier.
#include "check.h"

__global__ void wait(volatile int *flag, unsigned *tries)
{
    if (threadIdx.x == 0) {
        unsigned n = 0;
        while (*flag == 0) n++;
        *tries = n;
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
