// expect: unsupported 10
// build: -gencode arch=compute_100,code=compute_100 -gencode arch=compute_120,code=compute_120
// says: its PTX is for compute_100 and compute_120, and this device is a compute_90
#include "check.h"

__global__ void nothing() {}

int main()
{
    nothing<<<1, 1>>>();
    CHECK(cudaGetLastError() == cudaErrorNoKernelImageForDevice);
    nothing<<<1, 1>>>();
    CHECK(cudaGetLastError() == cudaErrorNoKernelImageForDevice);
    return 0;
}
