// expect: unsupported 12
// build: -gencode arch=compute_90,code=sm_90
// says: it was built for sm_90, without PTX
#include "check.h"

__global__ void nothing() {}

int main()
{

    OK(cudaFree(0));
    nothing<<<1, 1>>>();
    CHECK(cudaGetLastError() == cudaErrorNoKernelImageForDevice);
    OK(cudaDeviceSynchronize());
    return 0;
}
