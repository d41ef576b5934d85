// expect: leak 9, use-after-free 11
// says: which was freed at copy_after_reset.c:10
// A reset frees, and is named as what freed.
#include "check.h"
int main(void)
{
    char host[64] = { 0 };
    void *p;
    OK(cudaMalloc(&p, 64));
    OK(cudaDeviceReset());
    CHECK(cudaMemcpy(p, host, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    return 0;
}
