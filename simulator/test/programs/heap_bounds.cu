// expect: bounds 9
// says: just past the end of the 40-byte allocation made at heap_bounds.cu:8
// A write behind what a kernel allocated.
#include "check.h"

__global__ void overrun(int n)
{
    int *p = (int *)malloc(n * sizeof *p);
    for (volatile int i = 0; i <= n; i++) p[i] = i;
    free(p);
}

int main()
{
    overrun<<<1, 1>>>(10);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
