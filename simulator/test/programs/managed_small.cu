// expect: exit 0
// migrations: DtoH cpu-fault 0 1, HtoD gpu-fault 4096 1, DtoH cpu-fault 4096 1, HtoD gpu-fault 4096 1
// Where an allocation is smaller than a group of 64 KiB, only its own pages move.
#include "check.h"

__global__ void add_one(int *p)
{
    ++*p;
}

int main()
{
    int *p;
    OK(cudaMallocManaged(&p, sizeof *p));
    *p = 1;
    add_one<<<1, 1>>>(p);
    OK(cudaDeviceSynchronize());
    CHECK(*p == 2);
    add_one<<<1, 1>>>(p);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
    return 0;
}
