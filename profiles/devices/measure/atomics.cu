// Atomic operations on global memory, with all multiprocessors at work.
#include "measure.h"

enum { BLOCK = 256, EACH = 16 };

__global__ void add_spread(unsigned *to, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < EACH; r++)
        atomicAdd(&to[(i + r * gridDim.x * blockDim.x) & (n - 1)], r + 1);
}

__global__ void add_random(unsigned *to, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < EACH; r++) {
        i = i * 1664525 + 1013904223;
        atomicAdd(&to[(i >> 8) & (n - 1)], r + 1);
    }
}

// The old value is used, so that nothing can be added up in the warp.
__global__ void exchange_one(unsigned *to)
{
    unsigned seen = 0;
    for (int r = 0; r < EACH; r++)
        seen += atomicExch(to, threadIdx.x);
    if (seen == 1)
        to[1] = seen;
}

__global__ void add_float_one(float *to)
{
    for (int r = 0; r < EACH; r++)
        atomicAdd(to, threadIdx.x);
}

// One lane of each warp.
__global__ void add_one_a_warp(unsigned *to)
{
    unsigned seen = 0;
    if (threadIdx.x % LANES == 0)
        for (int r = 0; r < EACH; r++)
            seen += atomicAdd(to, 1);
    if (seen == 1)
        to[1] = seen;
}

// A word of its own for each warp, all in other sectors.
__global__ void latency(unsigned *to, int steps, long long *clocks)
{
    unsigned at = 0;
    long long start = clock64();
    for (int i = 0; i < steps; i++)
        at = atomicAdd(&to[at], 0);
    *clocks = clock64() - start;
    to[1] = at;
}

void measure_atomics()
{
    enum { N = 1 << 22, STEPS = 1024 };
    unsigned *to = allocate<unsigned>(N * sizeof *to);
    long long *clocks = allocate<long long>(sizeof *clocks), taken;
    unsigned blocks = device.multiProcessorCount * 8;
    double lanes = (double)blocks * BLOCK * EACH;
    heading("Atomics on global memory");
    figure("atomic_spread_lanes_per_clock",
           lanes / seconds([&] { add_spread<<<blocks, BLOCK>>>(to, N); }) / clock_hz,
           "atomicAdd, side by side in 16 MB");
    figure("atomic_random_lanes_per_clock",
           lanes / seconds([&] { add_random<<<blocks, BLOCK>>>(to, N); }) / clock_hz,
           "atomicAdd, at random in 16 MB");
    figure("atomic_one_place_per_clock",
           lanes / seconds([&] { exchange_one<<<blocks, BLOCK>>>(to); }) / clock_hz,
           "atomicExch of one word by all lanes");
    figure("atomic_float_one_place_per_clock",
           lanes / seconds([&] { add_float_one<<<blocks, BLOCK>>>((float *)to); }) / clock_hz,
           "atomicAdd of floats to one word by all lanes");
    figure("atomic_one_place_warps_per_clock",
           lanes / LANES / seconds([&] { add_one_a_warp<<<blocks, BLOCK>>>(to); }) / clock_hz,
           "atomicAdd to one word by one lane of each warp");
    figure("atomic_1_kb_lanes_per_clock",
           lanes / seconds([&] { add_random<<<blocks, BLOCK>>>(to, 256); }) / clock_hz, "atomicAdd, at random in 1 KB");
    latency<<<1, 1>>>(to + N / 2, STEPS, clocks);
    OK(cudaMemset(to, 0, N * sizeof *to));
    latency<<<1, 1>>>(to + N / 2, STEPS, clocks);
    OK(cudaMemcpy(&taken, clocks, sizeof taken, cudaMemcpyDeviceToHost));
    figure("atomic_latency_clocks", (double)taken / STEPS, "one lane waits for each");
    OK(cudaFree(to));
    OK(cudaFree(clocks));
}
