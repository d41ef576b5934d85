// expect: uninitialized 8
// says: an atomic operation depends on
// A sum that is added up onto nothing.
#include "check.h"

__global__ void count(int *sum)
{
    atomicAdd(sum, 1);
}

int main()
{
    int *sum;
    OK(cudaMalloc(&sum, sizeof *sum));
    count<<<1, 32>>>(sum);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(sum));
    return 0;
}
