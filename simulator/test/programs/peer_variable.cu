// expect: bounds 10
// says: in the memory of device 1, by a kernel on device 0
// run: --devices 2
// Peer access reaches what was allocated, not another device's __device__ variables (tried on two H200s).
#include "check.h"

__device__ int there[32];
__global__ void put(int *to)
{
    to[threadIdx.x] = 7;
}

int main()
{
    int *variable, *memory;
    OK(cudaSetDevice(1));
    OK(cudaGetSymbolAddress((void **)&variable, there));
    OK(cudaMalloc(&memory, sizeof there));
    OK(cudaSetDevice(0));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    put<<<1, 32>>>(memory);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(memory));
    put<<<1, 32>>>(variable);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    return 0;
}
