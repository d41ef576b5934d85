// expect: timeout 9
// run: --limit 100000
// says: It may never end
// A launch over the limit fails with 702, and so does everything after it.
#include "check.h"

__global__ void forever(volatile int *p)
{
    for (int n = 0; *p == 0; n++) p[1] = n;
}

int main()
{
    int *p;
    OK(cudaMalloc(&p, 8));
    OK(cudaMemset(p, 0, 8));
    forever<<<1, 1>>>(p);
    OK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    CHECK(cudaMalloc(&p, 4) == cudaErrorLaunchTimeout);
    CHECK(cudaGetLastError() == cudaErrorLaunchTimeout && cudaGetLastError() == cudaSuccess);
    return 0;
}
