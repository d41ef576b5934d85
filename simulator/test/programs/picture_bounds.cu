// expect: bounds 10
// says: 16 bytes before the 64-byte allocation
// says: A row or a column that is worked out here is below 0.
// A picture's first row has none above it: the thread is inside of the picture, its neighbour is not.
#include "check.h"

__global__ void above(int *out, const int *in, int width)
{
    int x = threadIdx.x, y = threadIdx.y;
    out[y * width + x] = in[(y - 1) * width + x];
}

int main()
{
    int *in, *out;
    OK(cudaMalloc(&in, 64));
    OK(cudaMalloc(&out, 64));
    OK(cudaMemset(in, 0, 64));
    above<<<1, dim3(4, 4)>>>(out, in, 4);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
