// expect: race 11, race 20, race 29
// says: what thread (1,0,0) writes
// Threads of one warp that count on running in step.
#include "check.h"

__global__ void shift(int *out)
{
    __shared__ int tile[33];
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) tile[32] = 32;
    out[threadIdx.x] = tile[threadIdx.x + 1];
}

// The second row of lanes reads what the first one wrote, and has read.
__global__ void rows(int *out)
{
    __shared__ int tile[16];
    int t = threadIdx.x;
    if (t < 16) tile[t] = t;
    out[t] = tile[t % 16];
}

// So do lanes that have others between them.
__global__ void every_second(int *out)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = t;
    if (t % 2 == 0) out[t] = tile[0];
}

__global__ void none(int *out)
{
    __shared__ int tile[16];
    int t = threadIdx.x;
    if (t < 16) tile[t] = t;
    __syncwarp();
    out[t] = tile[t % 16];
    if (t % 2 == 0) out[t] += tile[0];
    __syncwarp();
    if (t < 16) tile[t] = 0;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    shift<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    rows<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    every_second<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    none<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
