// expect: bounds 8
// says: takes several elements at once
// Four floats at a time, for every thread that has at least one of them: 401 floats are a hundred times four and one more.
#include "check.h"

__global__ void twice(float4 *out, const float4 *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x; float4 x = 4 * i < n ? in[i] : float4{};
    if (4 * i < n) out[i] = make_float4(2 * x.x, 2 * x.y, 2 * x.z, 2 * x.w);
}

int main()
{
    float *out, *in;
    OK(cudaMalloc(&out, 404 * sizeof *out));
    OK(cudaMalloc(&in, 401 * sizeof *in));
    OK(cudaMemset(in, 0, 401 * sizeof *in));
    twice<<<1, 128>>>((float4 *)out, (const float4 *)in, 401);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
