// expect: trap 10
// says: assertion failed: p[threadIdx.x] < 31
// stderr: assert.cu:10: void small(const int *): block: [0,0,0], thread: [31,0,0] Assertion `p[threadIdx.x] < 31` failed.
// A false assertion ends the grid, and says what was asserted: in our report, and as CUDA's own runtime does.
#include "check.h"
#include <assert.h>

__global__ void small(const int *p)
{
    assert(p[threadIdx.x] < 31);
}

int main()
{
    int *p, host[32];
    for (int i = 0; i < 32; i++) host[i] = i;
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
    small<<<1, 32>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
    return 0;
}
