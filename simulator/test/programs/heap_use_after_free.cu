// expect: use-after-free 13
// says: at byte 4 of the 8-byte allocation made at heap_use_after_free.cu:6, freed at heap_use_after_free.cu:12
// A kernel reads what an earlier one allocated and another has freed.
#include "check.h"

__global__ void make(volatile int **p) { *p = (volatile int *)malloc(8); (*p)[1] = 5; }

__global__ void use(volatile int **p, int *out)
{
    volatile int *mine = *p;
    *out = mine[1];
    if (threadIdx.x == 0) free((void *)mine);
    *out = mine[1];
}

int main()
{
    volatile int **p;
    int *out;
    OK(cudaMalloc(&p, 8));
    OK(cudaMalloc(&out, 4));
    make<<<1, 1>>>(p);
    use<<<1, 1>>>(p, out);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
