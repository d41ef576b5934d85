// expect: exit 0
// A kernel that was told of another hands that on when it ends, fence or none: who comes behind it in its stream may read what the
// other wrote.
#include "check.h"

__device__ int flag;

__global__ void tell(int *x)
{
    x[threadIdx.x] = threadIdx.x;
    __threadfence();
    atomicAdd(&flag, 1);
}

enum how { ACQUIRE, RELAXED, BEFORE_BARRIER, KINDS };

// The second warp hears nothing itself.
__global__ void hear(int how)
{
    int seen = threadIdx.x;
    while (how == RELAXED && seen < 32) asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
    while (how != RELAXED && seen < 32) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&flag) : "memory");
    if (how == BEFORE_BARRIER) __syncthreads();
}

__global__ void read(const int *x, int *out) { out[threadIdx.x] = x[threadIdx.x]; }

int main()
{
    int *x, *out;
    cudaStream_t a, b;
    OK(cudaMalloc(&x, 128));
    OK(cudaMalloc(&out, 128));
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    for (int how = 0, none = 0; how < KINDS; how++) {
        OK(cudaMemcpyToSymbol(flag, &none, sizeof none));
        tell<<<1, 32, 0, a>>>(x);
        hear<<<1, 64, 0, b>>>(how);
        read<<<1, 32, 0, b>>>(x, out);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
