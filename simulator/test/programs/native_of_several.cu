// expect: unsupported 11
// build: -gencode arch=compute_80,code=sm_80 -gencode arch=compute_86,code=sm_86 -gencode arch=compute_90,code=sm_90
// says: it was built for sm_80, sm_86 and sm_90, without PTX
// Each architecture that the program was built for is named.
#include "check.h"

__global__ void nothing() {}

int main()
{
    nothing<<<1, 1>>>();
    CHECK(cudaGetLastError() == cudaErrorNoKernelImageForDevice);
}
