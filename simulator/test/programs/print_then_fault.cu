// expect: bounds 10, exit 0
// prints: thread 0 of the kernel that ends|thread 31 of the kernel that ends|then cudaErrorIllegalAddress
// What a kernel printed before it failed is shown, as on an H100.
#include "check.h"

__global__ void prints_and_fails(int *p)
{
    printf("thread %d of the kernel that ends\n", threadIdx.x);
    __syncwarp();
    p[threadIdx.x] = 1;
}

int main()
{
    prints_and_fails<<<1, 32>>>((int *)16);
    cudaError_t error = cudaDeviceSynchronize();
    printf("then %s\n", cudaGetErrorName(error));
    CHECK(error == cudaErrorIllegalAddress);
}
