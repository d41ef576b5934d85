// expect: hang 10
// says: all that have not ended wait for something that nobody does any more
// Lanes that add nothing, to see whether somebody has added something, have turns at a word with those of other warps; that
// they wait is known all the same.
#include "check.h"

__global__ void wait(int *flags)
{
    int words = 2 + threadIdx.x / 32;       // warps have their turns in rounds of their own
    while (atomicAdd(&flags[threadIdx.x % words], 0) == 0) continue;
    flags[4] = 1;
}

int main()
{
    int *flags;
    OK(cudaMalloc(&flags, 20));
    OK(cudaMemset(flags, 0, 20));
    wait<<<8, 96>>>(flags);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    return 0;
}
