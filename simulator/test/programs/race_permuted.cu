// expect: race 15, race 18, race 31, race 46, race 45
// Each lane reads each word of a line, one after the other, so that no two reads of a warp are alike. A store between these reads is a race
// with those before it and those behind it, however many reads there were.
#include "check.h"

enum { WARPS = 4, LANES = 32, THREADS = WARPS * LANES };

// Warp after warp reads all that the block has; warp 1 stores a word when it has.
__global__ void by_warps(int *out)
{
    __shared__ int all[THREADS];
    int t = threadIdx.x, sum = 0;
    all[t] = t;
    __syncthreads();
    for (int n = 0; n < THREADS && t < 2 * LANES; n++) sum += all[t ^ n];
    if (t == LANES + 7) all[2 * LANES + 5] = 0;
    asm volatile("" ::: "memory");
    for (int n = 0; n < THREADS && t >= 2 * LANES; n++) sum += all[t ^ n];
    out[t] = sum;
}

// Two warps read half of a line, one of them another word of it, which a third stores.
__global__ void one_alone(int *out)
{
    __shared__ int all[LANES];
    int t = threadIdx.x, lane = t % LANES, sum = 0;
    if (t < LANES) all[t] = t;
    __syncthreads();
    for (int n = 0; n < 16 && t < 2 * LANES && lane < 16; n++) sum += all[lane ^ n];
    asm volatile("" ::: "memory");
    if (t < 2 * LANES) sum += all[t == LANES ? 20 : lane % 16];
    asm volatile("" ::: "memory");
    if (t == 2 * LANES) all[20] = 0;
    out[t] = sum;
}

// One warp, of which a lane stores a word that it has read as the others have: one of the first, or a later one.
__global__ void by_lanes(int *out, bool late)
{
    __shared__ int all[LANES];
    int t = threadIdx.x, sum = 0;
    all[t] = t;
    __syncwarp();
    asm volatile("" ::: "memory");
    for (int n = 0; n < LANES && late; n++) sum += all[t ^ n];
    for (int n = 0; n < LANES && !late; n++) sum += all[t ^ n];
    asm volatile("" ::: "memory");
    if (t == (late ? 20 : 3)) all[3] = 0;
    out[t] = sum;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, THREADS * sizeof *out));
    by_warps<<<1, THREADS>>>(out);
    one_alone<<<1, THREADS>>>(out);
    by_lanes<<<1, LANES>>>(out, false);
    by_lanes<<<1, LANES>>>(out, true);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
