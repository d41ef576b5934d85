// expect: race 19, race 19
// says: of block (0,0,0) writes, at byte 124 of the 128-byte allocation made at race_many_flags.cu:26, with a flag but no fence between
// says: thread (32,0,0) reads what thread (31,0,0) writes, at byte 124 of the 128-byte allocation made at race_many_flags.cu:26, with a flag
// Each thread has a flag of its own, with a fence before it and none behind it: between blocks, and between warps.
#include "check.h"

enum where { BLOCKS, WARPS };

template <where where> __global__ void hand(int *data, volatile int *flag, int *out)
{
    int lane = threadIdx.x % 32;
    if (where == BLOCKS ? !blockIdx.x : threadIdx.x < 32) {
        data[lane] = lane;
        __threadfence();
        flag[lane] = 1;
    } else {
        while (!flag[lane]);
        asm volatile("" ::: "memory");
        out[lane] = data[31 - lane];                            // 19
    }
}

int main()
{
    int *data, *flag, *out;
    OK(cudaMalloc(&data, 32 * sizeof *data));
    OK(cudaMalloc(&flag, 64 * sizeof *flag));
    OK(cudaMalloc(&out, 32 * sizeof *out));
    OK(cudaMemset(flag, 0, 64 * sizeof *flag));
    hand<BLOCKS><<<2, 32>>>(data, flag, out);
    hand<WARPS><<<1, 64>>>(data, flag + 32, out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(data));
    OK(cudaFree(flag));
    OK(cudaFree(out));
    return 0;
}
