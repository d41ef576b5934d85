// expect: exit 0
// At a barrier for some of a block they learn what one of them has heard, with no fence behind it, and what another block has read. So
// they do at the block's own, and may tell others.
#include "check.h"

__device__ int flag[2];

static __device__ void tell(int n) { asm volatile("red.relaxed.gpu.global.add.s32 [%0], 1;" :: "l"(&flag[n]) : "memory"); }

static __device__ void wait(int n)
{
    int seen;
    do asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&flag[n]) : "memory");
    while (!seen);
}

// The first warp waits; the second one goes on where they have met; the third one comes to the block's barrier alone.
__global__ void what_it_wrote(int *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        if (t == 0) {
            *x = 1;
            __threadfence();
            tell(0);
        }
    } else if (t < 64) {
        if (t == 0) wait(0);
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (t == 32) *out = *x;
    }
    __syncthreads();
}

__global__ void what_it_read(int *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0 && t < 64) {
        out[t] = *x;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (t == 0) tell(0);
    } else if (blockIdx.x == 1) {
        if (t == 0) wait(0);
        __syncthreads();
        if (t == 32) tell(1);
    } else if (t < 64) {
        if (t == 0) wait(1);
        asm volatile("bar.sync 1, 64;" ::: "memory");
        if (t == 32) *x = 2;
    }
    __syncthreads();
}

int main()
{
    int *x, *out, none[2] = { };
    OK(cudaMalloc(&x, sizeof *x));
    OK(cudaMalloc(&out, 96 * sizeof *out));
    what_it_wrote<<<2, 96>>>(x, out);
    OK(cudaMemcpyToSymbol(flag, none, sizeof none));
    what_it_read<<<3, 96>>>(x, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
