// expect: misaligned 8
// says: which is not a multiple of 16
// Four floats at a time, from the second float on.
#include "check.h"

__global__ void copy(float4 *out, const float *in)
{
    *out = *(const float4 *)(in + 1);
}

int main()
{
    float4 *out;
    float *in;
    OK(cudaMalloc(&out, sizeof *out));
    OK(cudaMalloc(&in, 8 * sizeof *in));
    OK(cudaMemset(in, 0, 8 * sizeof *in));
    copy<<<1, 1>>>(out, in);
    CHECK(cudaDeviceSynchronize() == cudaErrorMisalignedAddress);
    return 0;
}
