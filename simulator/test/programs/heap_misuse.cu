// expect: invalid-free 10, invalid-free 16, invalid-free 17, leak 15, exit 0
// says: free of the 40-byte allocation made at heap_misuse.cu:8 a second time; the first was at heap_misuse.cu:9
// What a kernel frees twice, in the middle, or that cudaMalloc gave, and what it never frees.
#include "check.h"

__global__ void twice()
{
    int *p = (int *)malloc(40);
    free(p);
    free(p);
}

__global__ void leaves(char *from_host)
{
    char *p = (char *)malloc(100);
    free(p + 8);
    free(from_host);
}

int main()
{
    char *p;
    OK(cudaMalloc(&p, 8));
    twice<<<1, 1>>>();
    leaves<<<1, 2>>>(p);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
    return 0;
}
