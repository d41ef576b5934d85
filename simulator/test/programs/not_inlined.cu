// expect: uninitialized 11, bounds 16
// says: an atomic operation depends on
// build: -G
// Without optimisation what the toolkit's headers have is called, and not inlined: a report still names the program's line.
#include "check.h"

__device__ void count(int *sum) { atomicAdd(sum, 1); }

__global__ void counts(int *sums)
{
    atomicAdd(&sums[1], 1);             // 11
}

__global__ void beyond(int *sums)
{
    atomicMax(&sums[threadIdx.x], 1);   // 16
}

__global__ void fine(int *sums) { count(sums); }

int main()
{
    int *sums;
    OK(cudaMalloc(&sums, 2 * sizeof *sums));
    OK(cudaMemset(sums, 0, sizeof *sums));
    fine<<<1, 32>>>(sums);
    counts<<<1, 32>>>(sums);
    beyond<<<1, 3>>>(sums);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
