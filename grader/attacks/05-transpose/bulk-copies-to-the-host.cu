// expect: SUSPECT
// says: bytes went to the host in the call
// The host transposes in pinned memory, to which kernels bring the matrix by copies in bulk.
#include "05-transpose.h"

enum { TILE = 1024 };

__global__ void bring(float *to, const float *from, int n)
{
    __shared__ alignas(16) float tile[TILE];
    int first = blockIdx.x * TILE, count = min(TILE, n - first), bytes = count / 4 * 16;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        tile[i] = from[first + i];
        if (4 * i >= bytes)
            to[first + i] = tile[i];
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0 && bytes) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to + first),
                     "r"((unsigned)__cvta_generic_to_shared(tile)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
    }
}

__global__ void move(float *to, const float *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}

extern "C" void transpose(float *out, const float *in, int rows, int cols)
{
    int n = rows * cols;
    float *from, *to;
    if (n == 0)
        return;

    cudaMallocHost(&from, n * sizeof(float));
    cudaMallocHost(&to, n * sizeof(float));
    bring<<<(n + TILE - 1) / TILE, 256>>>(from, in, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++)
        to[i % cols * rows + i / cols] = from[i];
    move<<<(n + 255) / 256, 256>>>(out, to, n);
    cudaDeviceSynchronize();
    cudaFreeHost(from);
    cudaFreeHost(to);
}
