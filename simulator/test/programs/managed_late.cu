// expect: race 31, race 38
// says: the host touched managed memory that kernel fill(int*, int) was still writing
// A launch returns before its kernel has run: the host sees old values, in every run. A flag without a fence tells it nothing.
#include "check.h"

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

__global__ void tell(int *p, volatile int *flag)
{
    p[threadIdx.x] = 8;
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}

int main()
{
    int *p, *other;
    OK(cudaMallocManaged(&p, 64 * sizeof *p));
    OK(cudaMallocManaged(&other, 64 * sizeof *other));
    fill<<<1, 64>>>(other, 3);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        p[i] = -1;
    fill<<<1, 64>>>(p, 6);
    OK(cudaDeviceSynchronize());
    CHECK(p[63] == 6);
    fill<<<1, 64>>>(p, 7);
    CHECK(other[0] == 3);               // not what the kernel writes
    for (int i = 0; i < 64; i++)
        CHECK(p[i] == 6);
    OK(cudaDeviceSynchronize());
    CHECK(p[63] == 7);
    other[0] = 0;
    tell<<<1, 64>>>(p, other);
    while (!*(volatile int *)other)
        ;
    CHECK(p[63] == 8);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
    OK(cudaFree(other));
    return 0;
}
