// expect: bounds 8
// says: made at inlined.cu:25, element -1 of 32, inlined at 13 18
// An index goes astray in a function that was inlined in another: both places are told.
#include "check.h"

__device__ float at(const float *row, int x)
{
    return row[x];                  // 8
}

__device__ float blurred(const float *row, int x)
{
    return (row[x] + at(row, x - 1)) / 2;
}

__global__ void blur(float *to, const float *from)
{
    to[threadIdx.x] = blurred(from, threadIdx.x);
}

int main()
{
    float *a, *b;
    OK(cudaMalloc(&a, 128));
    OK(cudaMalloc(&b, 128));
    OK(cudaMemset(b, 0, 128));
    blur<<<1, 32>>>(a, b);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
