// expect: bounds 9
// says: before the 128-byte allocation
// The second turn goes one element lower than the first, and its last lane before the beginning.
#include "check.h"

__global__ void sum(const int *x, int *out, int turns)
{
#pragma unroll 1
    for (int n = 0; n < turns; n++) out[threadIdx.x] += x[31 - (int)threadIdx.x - n];
}

int main()
{
    int *x, *out;
    OK(cudaMalloc(&x, 32 * sizeof *x));
    OK(cudaMalloc(&out, 32 * sizeof *out));
    OK(cudaMemset(x, 0, 32 * sizeof *x));
    OK(cudaMemset(out, 0, 32 * sizeof *out));
    sum<<<1, 32>>>(x, out, 2);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
