// expect: uninitialized 10, uninitialized 13
// says: copies 60 bytes that nothing wrote, from byte 40 of the 100-byte allocation made at copy_unwritten.c:8
#include "check.h"
int main(void)
{
    static char host[100];
    char *p, *q;
    OK(cudaMalloc((void **)&p, 100));
    OK(cudaMemcpy(p, host, 40, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(host, p, 100, cudaMemcpyDeviceToHost));
    OK(cudaMalloc((void **)&q, 100));
    OK(cudaMemcpy(q, p, 100, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(host, q + 39, 2, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(host, q, 40, cudaMemcpyDeviceToHost));
    OK(cudaFree(p));
    OK(cudaFree(q));
    return 0;
}
