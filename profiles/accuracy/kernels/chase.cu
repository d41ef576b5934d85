// One lane follows pointers: the latency of DRAM, of the L2 cache, of the L1 cache and of shared memory.
#include "exercise.h"

enum { LARGE = 1 << 22, MIDDLE = 1 << 18, SMALL = 1 << 12, STEPS = 4096 };

static __device__ unsigned follow(const unsigned *next, int steps)
{
    unsigned at = 0;
#pragma unroll 1
    for (int i = 0; i < steps; i++)
        at = next[at];
    return at;
}

KERNEL chase_dram(unsigned *out, const unsigned *next) { *out = follow(next, STEPS); }

// Blocks on every multiprocessor have brought all of it to the L2 cache; one goes on.
KERNEL chase_l2(unsigned *out, const unsigned *next, unsigned *arrived)
{
    unsigned sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < MIDDLE; i += gridDim.x * blockDim.x)
        sum += __ldcg(next + i);
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (threadIdx.x == 0 && last)
        *out = follow(next, STEPS);
    else if (sum == 1)
        *out = sum;
}

KERNEL chase_l1(unsigned *out, const unsigned *next) { *out = follow(next, 8 * STEPS); }

KERNEL chase_shared(unsigned *out, const unsigned *next)
{
    __shared__ unsigned own[SMALL];
    for (int i = threadIdx.x; i < SMALL; i += blockDim.x)
        own[i] = next[i];
    __syncthreads();
    if (threadIdx.x == 0)
        *out = follow(own, 8 * STEPS);
}

// One circle through all words that lie 128 bytes apart, in random order.
static unsigned *circle(unsigned n)
{
    std::vector<unsigned> order(n / 32), next(n);
    for (unsigned i = 0; i < order.size(); i++)
        order[i] = 32 * i;
    for (unsigned i = order.size() - 1; i > 1; i--)
        std::swap(order[i], order[1 + random_word() % i]);
    for (unsigned i = 0; i < order.size(); i++)
        next[order[i]] = order[(i + 1) % order.size()];
    return input<unsigned>(n, [&](size_t i) { return next[i]; });
}

static unsigned *large, *middle, *small, *out, *arrived;

int main(int count, char **arguments)
{
    large = circle(LARGE);
    middle = circle(MIDDLE);
    small = circle(SMALL);
    out = output<unsigned>(1);
    arrived = output<unsigned>(1);
    return run_versions(count, arguments, {
        VERSION(chase_dram, 1, 1, 0, out, large),
        VERSION(chase_l2, 132, 256, 0, out, middle, arrived),
        VERSION(chase_l1, 1, 1, 0, out, small),
        VERSION(chase_shared, 1, 128, 0, out, small),
    });
}
