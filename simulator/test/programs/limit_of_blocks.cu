// expect: timeout 6
// run: --limit 100000
// says: Block 1218 of 65537 was under way, and none before it is endless
// A launch of far more blocks than there is work for goes over the limit, though no thread loops.
#include "check.h"
__global__ void add(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }

int main()
{
    enum { N = 65537 };
    float *x;
    OK(cudaMalloc(&x, N * sizeof *x));
    OK(cudaMemset(x, 0, N * sizeof *x));
    add<<<N, 256>>>(x, N);
    OK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    return 0;
}
