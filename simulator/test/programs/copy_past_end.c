// expect: bounds 10, bounds 11, bounds 12
// says: 4 of them past the end of the 400-byte allocation made at copy_past_end.c:9
#include "check.h"
int main(void)
{
    static char host[408];
    char *p;

    OK(cudaMalloc((void **)&p, 400));
    CHECK(cudaMemcpy(p, host, 404, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemset(p + 400, 0, 4) == cudaErrorInvalidValue);
    CHECK(cudaMemcpy(p, host, (size_t)1 << 37, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);    // nor has the host so much
    OK(cudaMemcpy(p, host, 400, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(host, p + 396, 4, cudaMemcpyDeviceToHost));
    OK(cudaFree(p));
    return 0;
}
