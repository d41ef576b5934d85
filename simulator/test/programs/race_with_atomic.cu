// expect: race 9, race 15
// An atomic and a plain store race, though what the atomic adds is there already, and though it would compare before it swaps.
#include "check.h"

__device__ int x, y;

__global__ void add()
{
    if (blockIdx.x == 0) x = 5;                                 // 9
    else atomicAdd(&x, 5);
}

__global__ void swap()
{
    if (blockIdx.x == 0) y = 5;                                 // 15
    else atomicCAS(&y, 7, 8);
}

int main()
{
    add<<<2, 1>>>();
    OK(cudaDeviceSynchronize());
    swap<<<2, 1>>>();
    OK(cudaDeviceSynchronize());
    return 0;
}
