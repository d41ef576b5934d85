// expect: bounds 9
// says: not the thread's own number
// Far more threads than bins, so the thread's number says nothing of the bin that it works out.
#include "check.h"

__global__ void count(int *bins, const int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[values[i]], 1);
}

int main()
{
    int *bins, *values;
    OK(cudaMalloc(&bins, 256 * sizeof *bins));
    OK(cudaMemset(bins, 0, 256 * sizeof *bins));
    OK(cudaMalloc(&values, 1000 * sizeof *values));
    OK(cudaMemset(values, 0, 1000 * sizeof *values));
    int large = 256, at = 900;
    OK(cudaMemcpy(values + at, &large, sizeof large, cudaMemcpyHostToDevice));
    count<<<8, 128>>>(bins, values, 1000);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
