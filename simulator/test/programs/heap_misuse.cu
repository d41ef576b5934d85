// expect: invalid-free 9, invalid-free 10, leak 8, exit 0
// says: free of an address at byte 8 of the 100-byte allocation made at heap_misuse.cu:8
// What a kernel frees in the middle, or that cudaMalloc gave, and what it never frees.
#include "check.h"

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
    leaves<<<1, 2>>>(p);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(p));
    return 0;
}
