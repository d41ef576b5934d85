// expect: race 12, race 12, race 12, race 12
// says: with a flag but no fence between
// says: with no barrier between
// Lanes of one warp draw places by one atomic, without a fence before it, or behind it; or each its own; or they add, and nobody asks
// what was there.
#include "check.h"

static __device__ __noinline__ int sum_of(const int *x)
{
    int sum = 0;
#pragma unroll 1
    for (int i = 0; i < 32; i++) sum += x[i];                   // 12
    return sum;
}

template <bool before, bool behind, bool together> __global__ void draw(int *x, unsigned *drawn, int *out)
{
    x[threadIdx.x] = 1;
    if (before) __threadfence();
    unsigned turn = atomicInc(drawn + (together ? 0 : threadIdx.x), 1000);
    if (behind) __threadfence();
    if (turn + threadIdx.x == (together ? 62 : 31)) *out = sum_of(x);
}

__global__ void add(int *x, unsigned *added, int *out)
{
    x[threadIdx.x] = 1;
    __threadfence();
    atomicAdd(added, 1);
    __threadfence();
    if (threadIdx.x == 31) *out = sum_of(x);
}

int main()
{
    int *x, *out;
    unsigned *drawn;
    OK(cudaMalloc(&x, 32 * sizeof *x));
    OK(cudaMalloc(&out, sizeof *out));
    OK(cudaMalloc(&drawn, 4 * 32 * sizeof *drawn));
    OK(cudaMemset(drawn, 0, 4 * 32 * sizeof *drawn));
    draw<false, true, true><<<1, 32>>>(x, drawn, out);
    draw<true, false, true><<<1, 32>>>(x, drawn + 32, out);
    draw<true, true, false><<<1, 32>>>(x, drawn + 64, out);
    add<<<1, 32>>>(x, drawn + 96, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    OK(cudaFree(out));
    OK(cudaFree(drawn));
    return 0;
}
