// expect: api 10, api 11
// says: the destination
#include "check.h"
int main(void)
{
    char host[64] = { 0 };
    void *p;
    OK(cudaMalloc(&p, 64));
    OK(cudaMemcpy(p, host, 64, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(host, p, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(NULL, host, 64, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    OK(cudaMemcpy(host, p, 64, cudaMemcpyDefault));
    OK(cudaFree(p));
    return 0;
}
