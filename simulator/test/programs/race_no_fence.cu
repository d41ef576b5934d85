// expect: race 23, race 33, race 37
// says: thread (32,0,0) reads what thread (0,0,0) writes, at byte 0 of the 256-byte allocation made at race_no_fence.cu:43, with a flag but no fence between
// says: thread (32,0,0) of block (1,0,0) reads what thread (0,0,0) of block (0,0,0) writes, at byte 0 of the 256-byte allocation made at race_no_fence.cu:43, with a flag but no fence
// says: thread (0,0,0) of block (2,0,0) reads what thread (0,0,0) of block (0,0,0) writes, at byte 128 of the 256-byte allocation made at race_no_fence.cu:43, with a flag but no fence
// Flags with no fence: between warps, between blocks that meet at barriers behind them, and handed on from there.
#include "check.h"

__device__ int flag[2];

static __device__ void set(int n) { asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" :: "l"(&flag[n]) : "memory"); }

static __device__ void wait(int n)
{
    int seen;
    do asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(&flag[n]) : "memory");
    while (!seen);
}

__global__ void warps(int *x, int *out)
{
    int t = threadIdx.x;
    if (t == 0) *x = 1, set(0);
    if (t == 32) wait(0), *out = *x;
}

__global__ void blocks(int *x, int *out)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0 && t == 0) x[0] = x[32] = 1, set(0);
    if (blockIdx.x == 1) {
        if (t == 0) wait(0);
        if (t < 64) asm volatile("bar.sync 1, 64;" ::: "memory");
        if (t == 32) out[0] = *x;
        __syncthreads();
        if (t == 64) set(1);
    }
    if (blockIdx.x == 2 && t == 0) wait(1), out[1] = x[32];
}

int main()
{
    int *x, *out, none[2] = { };
    OK(cudaMalloc(&x, 64 * sizeof *x));
    OK(cudaMalloc(&out, 2 * sizeof *out));
    warps<<<1, 64>>>(x, out);
    OK(cudaMemcpyToSymbol(flag, none, sizeof none));
    blocks<<<3, 96>>>(x, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
