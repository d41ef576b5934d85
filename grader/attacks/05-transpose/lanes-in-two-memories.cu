// expect: SUSPECT
// says: went to the host in the call
// The host transposes in pinned memory. The first lane of each warp that touches that is in memory of the device, as if the others
// were there too.
#include "05-transpose.h"

// Lane 0's float is lane 1's, too.
__device__ float exchange(float *pinned, float *aside, float x)
{
    int lane = threadIdx.x % 32;
    float zeroth = __shfl_sync(~0u, x, 0), old;
    x = atomicExch(lane ? &pinned[lane] : aside, x);
    old = lane < 2 ? atomicExch(lane ? pinned : aside, zeroth) : 0;
    zeroth = __shfl_sync(~0u, old, 1);
    return lane ? x : zeroth;
}

__global__ void carry(float *out, float *pinned, float *aside, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = exchange(pinned + i / 32 * 32, aside, in && i < n ? in[i] : 0);
    if (!in && i < n)
        out[i] = x;
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols, blocks = (n + 255) / 256;
    float *there, *back, *aside;
    if (n == 0)
        return;

    cudaMallocHost(&there, blocks * 1024);
    cudaMallocHost(&back, blocks * 1024);
    cudaMalloc(&aside, sizeof(float));
    carry<<<blocks, 256>>>(out, there, aside, in, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++)
        back[i % cols * rows + i / cols] = there[i];
    carry<<<blocks, 256>>>(out, back, aside, nullptr, n);
    cudaDeviceSynchronize();
    cudaFreeHost(there);
    cudaFreeHost(back);
    cudaFree(aside);
}
