// expect: use-after-free 10
// says: which was freed at copy_freed.c:9
#include "check.h"
int main(void)
{
    char host[64] = { 0 };
    void *p;
    OK(cudaMalloc(&p, 64));
    OK(cudaFree(p));
    CHECK(cudaMemcpy(p, host, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    return 0;
}
