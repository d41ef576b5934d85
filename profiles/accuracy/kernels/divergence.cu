// Branches: taken by every other lane, or by every other warp; and a loop of another length in each lane.
#include "exercise.h"

enum { N = 1 << 19, ROUNDS = 32 };

static __device__ float work(float v, int which)
{
    if (which) {
#pragma unroll 1
        for (int i = 0; i < ROUNDS; i++)
            v = v * 1.5f + 0.25f;
    } else {
#pragma unroll 1
        for (int i = 0; i < ROUNDS; i++)
            v = v * 0.5f - 0.25f;
    }
    return v;
}

KERNEL branch_by_lane(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = work(in[i], threadIdx.x % 2);
}

KERNEL branch_by_warp(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = work(in[i], threadIdx.x / 32 % 2);
}

KERNEL collatz(unsigned *out, unsigned first)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = first + i, steps = 0;
    while (v != 1 && steps < 64) {
        v = v % 2 ? 3 * v + 1 : v / 2;
        steps++;
    }
    out[i] = steps;
}

static float *in, *out;

int main(int count, char **arguments)
{
    in = numbers(N);
    out = output<float>(N);
    return run_versions(count, arguments, {
        VERSION_OF("branches", branch_by_lane, N / 256, 256, 0, out, in),
        VERSION_OF("branches", branch_by_warp, N / 256, 256, 0, out, in),
        VERSION(collatz, N / 256, 256, 0, (unsigned *)out, 1),
    });
}
