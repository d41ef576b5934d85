// expect: race 15
// says: reads what thread (0,0,0) of block (0,0,0) of hears(int*) writes
// A kernel that waits for nobody tells one that waits: what its blocks read before that is in order, and what one of them reads
// behind it is not, though the others have read the same.
#include "check.h"

__device__ int told;

__global__ void tells(const int *x, int *out, int again)
{
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    out[i] = x[t];
    __threadfence();
    atomicAdd(&told, 1);
    if (blockIdx.x == again) out[i] += x[t];                    // 15
}

__global__ void hears(int *x)
{
    int seen;
    do asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&told) : "memory");
    while (seen < 3 * 32);
    x[threadIdx.x] = seen;
}

int main()
{
    int *x, *out, none = 0;
    cudaStream_t a, b;
    OK(cudaMalloc(&x, 32 * sizeof *x));
    OK(cudaMalloc(&out, 96 * sizeof *out));
    OK(cudaMemset(x, 0, 32 * sizeof *x));
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    for (int again = 3; again >= 2; again--) {
        OK(cudaMemcpyToSymbol(told, &none, sizeof none));
        OK(cudaDeviceSynchronize());
        tells<<<3, 32, 0, a>>>(x, out, again);
        hears<<<1, 32, 0, b>>>(x);
        OK(cudaDeviceSynchronize());
    }
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
