// expect: bounds 8
// says: just past the end of the 400-byte allocation made at kernel_bounds.cu:14
// A kernel that faults: the sticky error 700 for every later call that needs the device, and no word of leaks.
#include "check.h"

__global__ void fill(int *p, int n)
{
    p[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

int main()
{
    int *p, host[100];
    OK(cudaMalloc(&p, sizeof host));
    fill<<<1, 128>>>(p, 1);
    CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    fill<<<1, 1>>>(p, 1);
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaGetLastError() == cudaSuccess);                   // told once, until another call fails
    int device;
    cudaPointerAttributes of;
    OK(cudaGetDevice(&device));
    OK(cudaGetDeviceCount(&device));
    OK(cudaDeviceGetAttribute(&device, cudaDevAttrWarpSize, 0));
    OK(cudaPointerGetAttributes(&of, host));
    OK(cudaSetDevice(0));
    CHECK(cudaMalloc(&p, 4) == cudaErrorIllegalAddress);
    OK(cudaDeviceReset());
    CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
    CHECK(cudaMalloc(&p, 4) == cudaErrorDevicesUnavailable);    // a reset does not help
    return 0;
}
