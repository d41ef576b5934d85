// expect: invalid-free 14, invalid-free 15, api 16, invalid-free 19, use-after-free 21, signal 11
// says: cudaFree was given the 400-byte allocation made at pinned_freed_wrong.c:11, which is pinned host memory
// Each kind of memory has its own call that frees it.
#include "check.h"
#include <string.h>

int main(void)
{
    void *p, *d, *h = malloc(4);
    OK(cudaFree(NULL));
    OK(cudaMallocHost(&p, 400));
    OK(cudaMalloc(&d, 400));
    memset(p, 1, 400);
    CHECK(cudaFree(p) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(d) == cudaErrorInvalidValue);
    CHECK(cudaFreeHost(h) == cudaErrorInvalidValue);
    OK(cudaFree(d));
    OK(cudaFreeHost(p));
    CHECK(cudaFreeHost(p) == cudaErrorInvalidValue);
    free(h);
    return ((volatile char *)p)[7];
}
