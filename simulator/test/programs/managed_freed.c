// expect: use-after-free 13, signal 11
// says: host code reads managed memory at byte 40 of the 400-byte allocation made at managed_freed.c:10, freed at managed_freed.c:12
// After cudaFree the host has it no more.
#include "check.h"

int main(void)
{
    int *p;
    OK(cudaFree(NULL));
    OK(cudaMallocManaged((void **)&p, 400, cudaMemAttachGlobal));
    p[10] = 7;
    OK(cudaFree(p));
    return p[10];
}
