// Prefix sums within blocks of 512, over 2 M numbers.
#include "exercise.h"

enum { N = 1 << 21, THREADS = 512 };

KERNEL scan_shared(unsigned *out, const unsigned *in)
{
    __shared__ unsigned sums[2][THREADS];
    int t = threadIdx.x, from = 0;
    sums[0][t] = in[blockIdx.x * THREADS + t];
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        sums[1 - from][t] = t < step ? sums[from][t] : sums[from][t] + sums[from][t - step];
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * THREADS + t] = sums[from][t];
}

static __device__ unsigned scan_warp(unsigned sum)
{
    for (int step = 1; step < 32; step *= 2) {
        unsigned before = __shfl_up_sync(~0u, sum, step);
        if (threadIdx.x % 32 >= step)
            sum += before;
    }
    return sum;
}

KERNEL scan_shuffle(unsigned *out, const unsigned *in)
{
    __shared__ unsigned totals[32];
    int t = threadIdx.x, warp = t / 32;
    unsigned sum = scan_warp(in[blockIdx.x * THREADS + t]);
    if (t % 32 == 31)
        totals[warp] = sum;
    __syncthreads();
    if (warp == 0)
        totals[t] = scan_warp(t < THREADS / 32 ? totals[t] : 0);
    __syncthreads();
    out[blockIdx.x * THREADS + t] = warp ? sum + totals[warp - 1] : sum;
}

static unsigned *in, *out;

int main(int count, char **arguments)
{
    in = words(N, 1 << 10);
    out = output<unsigned>(N);
    return run_versions(count, arguments, {
        VERSION_OF("scan", scan_shared, N / THREADS, THREADS, 0, out, in),
        VERSION_OF("scan", scan_shuffle, N / THREADS, THREADS, 0, out, in),
    });
}
