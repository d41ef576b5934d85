// expect: hang 8
// says: all that have not ended wait for something that nobody does any more
// A lock that its first owner never gives back: nobody can go on, which is known without a limit.
#include "check.h"

__global__ void add_one(int *lock, volatile int *count)
{
    while (atomicCAS(lock, 0, 1) != 0) continue;
    *count += 1;
}

int main()
{
    int *both;
    OK(cudaMalloc(&both, 8));
    OK(cudaMemset(both, 0, 8));
    add_one<<<3, 96>>>(both, both + 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    return 0;
}
