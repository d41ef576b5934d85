// expect: bounds 10
// says: in the memory of device 1, by a kernel on device 0
// run: --devices 2
// A kernel that is given another device's memory, with access allowed in the other direction only.
#include "check.h"

__global__ void copy(int *to, const int *from)
{
    int i = threadIdx.x;
    to[i] = from[i];
}

int main()
{
    int *here, *there;
    OK(cudaMalloc(&here, 128));
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&there, 128));
    OK(cudaMemset(there, 0, 128));
    OK(cudaDeviceEnablePeerAccess(0, 0));
    OK(cudaSetDevice(0));
    copy<<<1, 32>>>(here, there);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    return 0;
}
