// expect: invalid-free 9
// says: a second time; the first was at double_free.c:8
#include "check.h"
int main(void)
{
    void *p;
    OK(cudaMalloc(&p, 100));
    OK(cudaFree(p));
    CHECK(cudaFree(p) == cudaErrorInvalidValue);
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
    return 0;
}
