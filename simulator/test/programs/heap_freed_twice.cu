// expect: invalid-free 9, exit 0
// says: free of the 40-byte allocation made at heap_freed_twice.cu:8 a second time; the first was at heap_freed_twice.cu:8
// What a kernel frees twice is the end of it, as on an H200.
#include "check.h"

__global__ void twice(int *after)
{
    int *p = (int *)malloc(40); free(p);
    free(p);
    *after = 1;
}

int main()
{
    int *p;
    OK(cudaMalloc(&p, 4));
    twice<<<1, 1>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK(cudaFree(p) == cudaErrorLaunchFailure);
    return 0;
}
