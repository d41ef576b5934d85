// expect: bounds 9, exit 0
// says: write of 4 bytes
// says: just past the end
// Only the last warp's row, behind those of the others, lies past the end. (The first block and the last are traced: there nobody follows.)
#include "check.h"

__global__ void fill(int *x)
{
    if (blockIdx.x == 1) x[threadIdx.x] = 1;
}

int main()
{
    int *x;
    OK(cudaMalloc(&x, 96 * sizeof *x));
    OK(cudaMemset(x, 0, 96 * sizeof *x));
    fill<<<3, 96>>>(x);
    OK(cudaDeviceSynchronize());
    fill<<<3, 128>>>(x);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
