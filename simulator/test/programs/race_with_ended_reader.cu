// expect: race 11, race 23, race 32
// A write conflicts with what a warp read that has ended, or met nobody, though two that it has met read the same.
#include "check.h"

__global__ void ends(int *out)
{
    __shared__ int x[32];
    int t = threadIdx.x;
    if (t < 32) x[t] = t;
    __syncthreads();
    out[t] = x[t % 32];                                         // 11
    if (t >= 64) return;
    __syncthreads();
    if (t < 32) x[t] = 2;
    __syncthreads();
    out[t] += x[t % 32];
}

// The same in global memory.
__global__ void ends_in_global(int *out, int *a)
{
    int t = threadIdx.x;
    out[t] = *a;                                                // 23
    if (t >= 64) return;
    __syncthreads();
    if (t == 0) *a = 2;
}

__global__ void meets_nobody(int *out, int *a)
{
    int t = threadIdx.x;
    out[t] = *a;                                                // 32
    if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
    if (t == 0) *a = 2;
}

// All have met behind what the warp that ends reads: no race.
__global__ void ends_behind_it(int *out, int *a)
{
    __shared__ int x;
    int t = threadIdx.x;
    if (t == 0) x = 1;
    __syncthreads();
    out[t] = x + *a;
    __syncthreads();
    if (t >= 64) return;
    if (t == 0) x = *a = 2;
    __syncthreads();
    out[t] += x;
}

int main()
{
    int *out, *a;
    OK(cudaMalloc(&out, 96 * sizeof *out));
    OK(cudaMalloc(&a, sizeof *a));
    OK(cudaMemset(a, 0, sizeof *a));
    ends<<<1, 96>>>(out);
    OK(cudaDeviceSynchronize());
    ends_in_global<<<1, 96>>>(out, a);
    OK(cudaDeviceSynchronize());
    meets_nobody<<<1, 96>>>(out, a);
    OK(cudaDeviceSynchronize());
    ends_behind_it<<<1, 96>>>(out, a);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    OK(cudaFree(a));
    return 0;
}
