// expect: SUSPECT
// says: went to the host in the call
// Kernels write what the devices have into the host's pinned memory, the host adds, and kernels
// fetch the sum: no copy is made, and no link is used.
#include "29-all-reduce.h"

#include <string.h>

__global__ void move(float *to, const float *from, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}

static void wait_for(int devices)
{
    for (int d = 0; d < devices; d++) {
        cudaSetDevice(d);
        cudaDeviceSynchronize();
    }
    cudaSetDevice(0);
}

extern "C" void all_reduce(float *const *out, const float *const *in, int n, int devices)
{
    float *host;
    if (n == 0)
        return;
    cudaMallocHost(&host, (size_t)n * devices * sizeof *host);
    for (int d = 0; d < devices; d++) {
        cudaSetDevice(d);
        move<<<264, 256>>>(host + (size_t)n * d, in[d], n);
    }
    wait_for(devices);
    for (int d = 1; d < devices; d++)
        for (int i = 0; i < n; i++)
            host[i] += host[(size_t)n * d + i];
    for (int d = 0; d < devices; d++) {
        cudaSetDevice(d);
        move<<<264, 256>>>(out[d], host, n);
    }
    wait_for(devices);
    cudaFreeHost(host);
}
