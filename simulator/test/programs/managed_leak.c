// expect: leak 10, leak 11, leak 12, exit 0
// says: 400 bytes allocated here and never freed
// Managed and pinned memory is freed as any other.
#include "check.h"

int main(void)
{
    void *p, *q, *r;
    OK(cudaFree(NULL));
    OK(cudaMalloc(&p, 100));
    OK(cudaMallocManaged(&q, 400, cudaMemAttachGlobal));
    OK(cudaMallocHost(&r, 100));
    OK(cudaMalloc(&p, 100));
    return cudaFree(p);
}
