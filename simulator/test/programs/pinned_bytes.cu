// expect: exit 0
// counts: from_host pinned_memory__bytes_read.sum 8192
// counts: from_host launch__parameter_bytes.sum 16
// counts: to_host pinned_memory__bytes_write.sum 8192
// counts: far_apart pinned_memory__bytes_read.sum 1024
// counts: added pinned_memory__bytes_write.sum 128
// counts: added pinned_memory__bytes_read.sum 128
// counts: added launch__parameter_bytes.sum 8
// counts: in_bulk pinned_memory__bytes_write.sum 1024
// counts: in_bulk pinned_memory__bytes_read.sum 0
// counts: from_both managed_memory__bytes_read.sum 8192
// counts: to_both managed_memory__bytes_write.sum 8192
// counts: to_both pinned_memory__bytes_write.sum 0
//
// Pinned memory of the host, which kernels read and write themselves, and managed memory.
#include <cuda_runtime.h>

enum { COUNT = 2048 };

__global__ void from_host(int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void to_host(int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void from_both(int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void to_both(int *to, const int *from)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void far_apart(int *to, const int *from) { to[threadIdx.x] = from[16 * threadIdx.x]; }

__global__ void added(int *to) { atomicAdd(to + threadIdx.x, 1); }

__global__ void in_bulk(int *to)
{
    __shared__ alignas(16) int tile[256];
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"((unsigned)__cvta_generic_to_shared(tile)), "r"((unsigned)sizeof tile) : "memory");
    asm volatile("cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;" ::: "memory");
}

int main()
{
    int *host, *there, *both;
    cudaMallocHost((void **)&host, COUNT * sizeof *host);
    cudaMalloc((void **)&there, COUNT * sizeof *there);
    cudaMallocManaged((void **)&both, COUNT * sizeof *both);
    for (int i = 0; i < COUNT; i++) host[i] = i;
    from_host<<<COUNT / 256, 256>>>(there, host);
    to_host<<<COUNT / 256, 256>>>(host, there);
    to_both<<<COUNT / 256, 256>>>(both, there);
    from_both<<<COUNT / 256, 256>>>(there, both);
    far_apart<<<1, 32>>>(there, host);
    in_bulk<<<1, 256>>>(host);
    added<<<1, 32>>>(host);
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 32; i < COUNT; i++) wrong += host[i] != i;
    cudaFreeHost(host);
    cudaFree(there);
    cudaFree(both);
    return wrong != 0;
}
