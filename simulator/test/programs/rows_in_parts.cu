// expect: race 14
// run: --spread 1 --threads 3
// Blocks beside each other whose warps follow one another, row by row: what those load says whether the blocks depend on each other.
#include "check.h"

enum { BLOCKS = 1024, THREADS = 256, SLOT = 2 * THREADS };

// Each reads what the one before wrote; a block's first warp reads what nobody writes.
__global__ void chain(int *slots)
{
    int t = threadIdx.x;
    if (blockIdx.x == 0) return;
    int *own = slots + blockIdx.x * SLOT;
    int before = own[t - SLOT];                                 // 14
    asm volatile("" ::: "memory");
    own[t + 32] = before + 1;
}

int main()
{
    static int host[BLOCKS * SLOT];
    int *x;
    OK(cudaMalloc(&x, sizeof host));
    OK(cudaMemset(x, 0, sizeof host));
    chain<<<BLOCKS, THREADS>>>(x);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int b = 1; b < BLOCKS; b++)
        for (int row = 1; row <= 8; row++) CHECK(host[b * SLOT + row * 32] == (b < row ? b : row));
    OK(cudaFree(x));
    return 0;
}
