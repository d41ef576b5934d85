// expect: race 16, race 33, race 42, race 55
// Who writes has heard of two that read the same, and of the third nothing.
#include <cooperative_groups.h>
#include "check.h"

enum { WARPS = 4 };

__device__ void wait_for(int *flag, int count)
{
    while (atomicAdd(flag, 0) < count) continue;
    __threadfence();
}

__global__ void between_blocks(int *a, int *flag, int *out)
{
    if (blockIdx.x < 3) out[blockIdx.x] = *a;                                   // 16
    __threadfence();
    if (blockIdx.x < 2) atomicAdd(flag, 1);
    if (blockIdx.x < 3) return;
    wait_for(flag, 2);
    *a = 5;
}

// The barrier is for three of the four.
__global__ void between_warps(int *out)
{
    __shared__ int x;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, sum = 0;
    if (threadIdx.x == 0) x = 1;
    __syncthreads();
    if (warp == WARPS - 1) __nanosleep(100);
    else asm volatile("barrier.sync 1, 96;");
    if (warp) sum = x;                                                          // 33
    if (warp < WARPS - 1) asm volatile("barrier.sync 2, 96;");
    if (warp == 0 && lane == 0) x = 2;
    __syncthreads();
    out[threadIdx.x] = sum;
}

__global__ void beside_each_other(int *a, int *out)
{
    out[blockIdx.x] = blockIdx.x < 3 ? a[blockIdx.x] : 0;                       // 42
    if (blockIdx.x == 3) a[2] = 2;
}

// What all of them read before they met is over, and so it does not stand for what they read behind that.
__global__ void twice(int *a, int *out)
{
    int sum = 0;
#pragma unroll 1
    for (int round = 0; round < 2; round++) {
        sum += a[round];
        cooperative_groups::this_grid().sync();
    }
    if (blockIdx.x != 2) sum += a[1];                                           // 55
    else a[1] = 3;
    out[blockIdx.x] = sum;
}

int main()
{
    int *a, *flag, *out;
    OK(cudaMalloc(&a, 32 * sizeof *a));
    OK(cudaMalloc(&flag, sizeof *flag));
    OK(cudaMalloc(&out, 32 * WARPS * sizeof *out));
    OK(cudaMemset(a, 0, 32 * sizeof *a));
    OK(cudaMemset(flag, 0, sizeof *flag));
    between_blocks<<<4, 1>>>(a, flag, out);
    OK(cudaDeviceSynchronize());
    between_warps<<<1, 32 * WARPS>>>(out);
    OK(cudaDeviceSynchronize());
    beside_each_other<<<4, 1>>>(a, out);
    OK(cudaDeviceSynchronize());
    void *arguments[] = { &a, &out };
    OK(cudaLaunchCooperativeKernel((void *)twice, dim3(4), dim3(1), arguments));
    OK(cudaDeviceSynchronize());
    OK(cudaFree(a));
    OK(cudaFree(flag));
    OK(cudaFree(out));
    return 0;
}
