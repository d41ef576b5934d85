// expect: SUSPECT
// says: went to the host in the call
// The host transposes in pinned memory. The copies to it and from it say that they are within the
// device.
#include "05-transpose.h"

#include <stdlib.h>

__global__ void fetch(float *to, float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = atomicExch(&from[i], 0); // no load
}

__global__ void look(float *never, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] == 12345)
        *never = 0;
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    size_t bytes = n * sizeof(float);
    float *from, *to, *aside;
    if (n == 0)
        return;

    cudaMallocHost(&from, bytes);
    cudaMallocHost(&to, bytes);
    cudaMalloc(&aside, bytes);
    cudaMemcpy(from, in, bytes, cudaMemcpyDeviceToDevice);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++)
        to[i % cols * rows + i / cols] = from[i];
    cudaMemcpy(aside, to, bytes, cudaMemcpyDeviceToDevice);
    look<<<(n + 255) / 256, 256>>>(out, in, n);
    fetch<<<(n + 255) / 256, 256>>>(out, aside, n);
    cudaDeviceSynchronize();
    cudaFree(aside);
    cudaFreeHost(from);
    cudaFreeHost(to);
}
