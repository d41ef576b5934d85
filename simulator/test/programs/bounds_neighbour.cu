// expect: bounds 8
// says: own number, 399, is an index
// A thread that there is an element for reaches for its neighbour, which the last does not have.
#include "check.h"

__global__ void differences(float *out, const float *in, int n)
{
    if (blockIdx.x * blockDim.x + threadIdx.x < n) out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x + 1];
}

int main()
{
    float *out, *in;
    OK(cudaMalloc(&out, 400 * sizeof *out));
    OK(cudaMalloc(&in, 400 * sizeof *in));
    OK(cudaMemset(in, 0, 400 * sizeof *in));
    differences<<<4, 128>>>(out, in, 400);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
