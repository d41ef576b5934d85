// expect: exit 0
// Who counts up to the last of several additions has heard of all who added: warps of its block, blocks of its cluster, and others.
#include "check.h"

__device__ int flag;

static __device__ void add()
{
    __threadfence();
    if (threadIdx.x % 32 == 0) atomicAdd(&flag, 1);
}

static __device__ void wait_for(int wanted)
{
    int seen;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
    while (seen < wanted);
}

// All but the last warp of `all` store and add; the last one reads what they stored.
static __device__ void count(int *x, int warp, int all)
{
    int lane = threadIdx.x % 32, sum = 0;
    if (warp < all - 1) {
        x[32 * warp + lane] = lane;
        __syncwarp();
        add();
    } else {
        wait_for(all - 1);
        for (int w = 0; w < all - 1; w++) sum += x[32 * w + 31 - lane];
        x[32 * warp + lane] = sum;
    }
}

__global__ void warps(int *x) { count(x, threadIdx.x / 32, blockDim.x / 32); }
__global__ void blocks(int *x) { count(x, blockIdx.x, gridDim.x); }
__global__ void __cluster_dims__(4) cluster(int *x) { count(x, blockIdx.x, gridDim.x); }

int main()
{
    int *x, none = 0;
    OK(cudaMalloc(&x, 4 * 128));
    warps<<<1, 128>>>(x);
    OK(cudaMemcpyToSymbol(flag, &none, sizeof none));
    blocks<<<4, 32>>>(x);
    OK(cudaMemcpyToSymbol(flag, &none, sizeof none));
    cluster<<<4, 32>>>(x);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    return 0;
}
