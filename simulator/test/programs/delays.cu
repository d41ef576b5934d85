// expect: exit 0
// Kernels that do nothing but wait: by a clock, by the global timer, asleep. Predicted is the time for which they wait, once for each
// wave of blocks. Beside each stands what an H200 took between the events (driver 580, 1.98 GHz, the least of 5).
#include "check.h"

__global__ void spin(long long clocks, long long *took)
{
    long long start = clock64();
    while (clock64() - start < clocks) {}
    if (threadIdx.x == 0) took[blockIdx.x] = clock64() - start;
}

__global__ void spin_by_timer(long long ns, long long *took)
{
    long long start, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - start < ns);
    if (threadIdx.x == 0) took[blockIdx.x] = now - start;
}

__global__ void nap(long long ns, long long *took)
{
    long long start = clock64();
    __nanosleep(ns);
    if (threadIdx.x == 0) took[blockIdx.x] = clock64() - start;
}

__global__ void nap_often(long long ns, long long *took)
{
    long long start = clock64();
    for (int n = 0; n < 20; n++) __nanosleep(ns);
    if (threadIdx.x == 0) took[blockIdx.x] = clock64() - start;
}

// One block of them all.
__global__ void one_spins(long long clocks, long long *took)
{
    long long start = clock64();
    if (blockIdx.x == 77) while (clock64() - start < clocks) {}
    took[blockIdx.x] = clock64() - start;
}

// Only the first warp waits, and the others at a barrier for it.
__global__ void first_spins(long long clocks, long long *took)
{
    long long start = clock64();
    if (threadIdx.x < 32) while (clock64() - start < clocks) {}
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) took[blockIdx.x] = clock64() - start;
}

// All up to a time, which was known before.
__global__ void spin_until(long long deadline, long long *took)
{
    while (clock64() < deadline) {}
    took[blockIdx.x] = clock64() - deadline;
}

// Each lane for another time.
__global__ void lanes_spin(long long clocks, long long *took)
{
    long long start = clock64(), deadline = start + clocks * (threadIdx.x % 32 + 1) / 32;
    while (clock64() < deadline) {}
    if (threadIdx.x == 0) took[blockIdx.x] = clock64() - start;
}

__global__ void what_time_is_it(long long clocks, long long *took) { took[0] = clocks + clock64(); }

typedef void (*Waits)(long long, long long *);

enum { MOST_BLOCKS = 4224 };

static long long *device_took, took[MOST_BLOCKS];
static cudaEvent_t begin, end;

static double microseconds(Waits kernel, int blocks, int threads, long long asked)
{
    float ms;
    OK(cudaEventRecord(begin));
    kernel<<<blocks, threads>>>(asked, device_took);
    OK(cudaEventRecord(end));
    OK(cudaMemcpy(took, device_took, sizeof took, cudaMemcpyDeviceToHost));
    OK(cudaEventElapsedTime(&ms, begin, end));
    return ms * 1000;
}

int main()
{
    const struct { const char *name; Waits kernel; int blocks, threads; long long asked, least; double h200; } runs[] = {
        { "spin", spin, 1, 1, 20000, 20000, 16.64 },
        { "spin", spin, 1, 1, 1000000, 1000000, 511.6 },
        { "spin", spin, 1056, 256, 20000, 20000, 16.45 },
        { "spin", spin, 1056, 256, 1000000, 1000000, 512.0 },
        { "spin", spin, 1057, 256, 1000000, 1000000, 1017.1 },
        { "spin", spin, 4224, 256, 20000, 20000, 47.52 },
        { "spin_by_timer", spin_by_timer, 1, 256, 500000, 500000, 505.5 },
        { "spin_by_timer", spin_by_timer, 1057, 256, 500000, 500000, 1006.8 },
        { "nap", nap, 1056, 256, 500000, 989000, 516.8 },
        { "nap", nap, 1, 1, 2000000, 1979000, 943.6 },          // no more than a millisecond
        { "nap_often", nap_often, 1, 1, 500000, 19700000, 10476 },
        { "one_spins", one_spins, 264, 64, 1000000, 0, 512 },   // it is as long for one of them
        { "first_spins", first_spins, 1, 128, 1000000, 1000000, 512 },
        { "lanes_spin", lanes_spin, 1, 32, 1000000, 31250, 512 },
    };
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaMalloc(&device_took, sizeof took));
    OK(cudaMemset(device_took, 0, sizeof took));
    for (auto &run : runs) {
        double us = microseconds(run.kernel, run.blocks, run.threads, run.asked);
        bool near = us > 0.9 * run.h200 && us < 1.1 * run.h200 && took[0] >= run.least;
        if (!near) fprintf(stderr, "%s<<<%d, %d>>>(%lld): %.1f us, an H200 %.1f; block 0 says %lld\n", run.name, run.blocks, run.threads, run.asked, us, run.h200, took[0]);
        CHECK(near);
        if (run.kernel == spin || run.kernel == spin_by_timer) CHECK(took[run.blocks - 1] <= run.asked * 1.04);
    }
    // What has been waited is over when the next kernel looks.
    microseconds(what_time_is_it, 1, 1, 0);
    long long before = took[0];
    microseconds(spin, 1, 32, 1000000);
    microseconds(what_time_is_it, 1, 1, 0);
    CHECK(took[0] - before >= 1000000 && took[0] - before < 1100000);
    double us = microseconds(spin_until, 2, 32, took[0] + 1000000);
    CHECK(us > 450 && us < 563 && took[1] >= 0 && took[1] < 40000);
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
    OK(cudaFree(device_took));
    return 0;
}
