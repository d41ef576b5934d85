// expect: exit 0
// run: --limit 40000000
// Threads that wait for a while only: a flag that nobody sets until the clock or a count says so, a warp that works long while others
// wait for it, and sleepers with a time limit.
#include "check.h"

__global__ void give_up(volatile int *flag, int *out)
{
    long long begin = clock64();
    while (*flag == 0 && clock64() - begin < 20000000000ll) continue;
    out[threadIdx.x] = *flag == 0;
}

// It counts its tries.
__global__ void try_often(volatile int *flag, int *out)
{
    int tries = 0;
    while (*flag == 0 && tries < 50000) tries++;
    out[threadIdx.x] = tries;
}

// Warp 1 computes for longer than what counts as waiting for ever, and changes no memory meanwhile.
__global__ void work(volatile int *flag, unsigned *out, unsigned n)
{
    unsigned x = threadIdx.x;
    if (threadIdx.x < 32) {
        unsigned tries = 0;
        while (*flag == 0) tries++;
        out[threadIdx.x] = tries > 0;
    } else {
        for (unsigned i = 0; i < n; i++) x = x * 1664525u + 1013904223u;
        out[threadIdx.x] = x;
        __syncwarp();
        if (threadIdx.x == 32) *flag = 1;
    }
}

__global__ void sleep(volatile int *flag, int *out)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        __nanosleep(1000);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (*flag == 0 && now - begin < 1000000000ull);
    out[threadIdx.x] = *flag == 0;
}

int main()
{
    enum { N = 12000000 };
    int *flag, *dout, out[64];
    OK(cudaMalloc(&flag, 4));
    OK(cudaMalloc(&dout, sizeof out));
    OK(cudaMemset(flag, 0, 4));
    give_up<<<1, 64>>>(flag, dout);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 64; t++) CHECK(out[t] == 1);
    try_often<<<1, 64>>>(flag, dout);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 64; t++) CHECK(out[t] == 50000);
    sleep<<<2, 32>>>(flag, dout);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    for (int t = 0; t < 32; t++) CHECK(out[t] == 1);
    work<<<1, 64>>>(flag, (unsigned *)dout, N);
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(out[0] == 1);
    unsigned x = 32;
    for (int i = 0; i < N; i++) x = x * 1664525u + 1013904223u;
    CHECK((unsigned)out[32] == x);
    OK(cudaFree(flag));
    OK(cudaFree(dout));
    return 0;
}
