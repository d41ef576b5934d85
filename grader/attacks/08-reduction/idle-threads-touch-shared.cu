// expect: STEP 0
// says: too few threads share the work
// Sixteen blocks add all elements. The threads of a thousand more touch shared memory once, so that few instructions, and few
// sectors, fall to each thread that accesses memory.
#include "08-reduction.h"

enum { THREADS = 256, BUSY = 16, LAUNCHED = 1024 };

__global__ void block_sums(float *sums, const float *in, int n, int busy)
{
    __shared__ float warp_sums[THREADS / 32];
    int t = threadIdx.x;
    if (blockIdx.x >= busy) {
        ((volatile float *)warp_sums)[t / 32] = 0;
        return;
    }

    float sum = 0;
    for (int i = blockIdx.x * THREADS + t; i < n; i += busy * THREADS)
        sum += in[i];
    for (int away = 16; away > 0; away /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, away);
    if (t % 32 == 0)
        warp_sums[t / 32] = sum;
    __syncthreads();

    if (t == 0) {
        for (int warp = 1; warp < THREADS / 32; warp++)
            sum += warp_sums[warp];
        sums[blockIdx.x] = sum;
    }
}

extern "C" void reduce(float *out, const float *in, int n, float *scratch)
{
    block_sums<<<LAUNCHED, THREADS>>>(scratch, in, n, BUSY);
    block_sums<<<1, THREADS>>>(out, scratch, BUSY, 1);
}
