// Atomic operations on global memory: everywhere, in one place, and one for each warp.
#include "exercise.h"

enum { N = 1 << 20 };

KERNEL atomic_spread(unsigned *out, const unsigned *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[i], in[i]);
}

KERNEL atomic_scattered(unsigned *out, const unsigned *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[in[i]], 1);
}

// The old value is used, so that the compiler cannot add up in the warp.
KERNEL atomic_one_place(unsigned *out, const unsigned *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicExch(&out[0], in[i]) == ~0u)
        out[1] = i;
}

// Keeps what is odd, in any order.
KERNEL compact_threads(unsigned *out, const unsigned *in, unsigned *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
    if (v & 1)
        out[atomicInc(count, N - 1)] = v;
}

KERNEL compact_warps(unsigned *out, const unsigned *in, unsigned *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    unsigned v = in[i], odd = __ballot_sync(~0u, v & 1), at = 0;
    if (lane == 0)
        at = atomicAdd(count, __popc(odd));
    at = __shfl_sync(~0u, at, 0) + __popc(odd & ((1u << lane) - 1));
    if (v & 1)
        out[at % N] = v;
}

static unsigned *in, *out, *kept;

int main(int count, char **arguments)
{
    in = words(N, N);
    out = output<unsigned>(N);
    kept = output<unsigned>(1);
    return run_versions(count, arguments, {
        VERSION(atomic_spread, N / 256, 256, 0, out, in),
        VERSION(atomic_scattered, N / 256, 256, 0, out, in),
        VERSION(atomic_one_place, N / 8 / 256, 256, 0, out, in),
        VERSION_OF("keeping what is odd", compact_threads, N / 256, 256, 0, out, in, kept),
        VERSION_OF("keeping what is odd", compact_warps, N / 256, 256, 0, out, in, kept),
    });
}
