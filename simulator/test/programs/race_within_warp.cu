// expect: race 11
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

int main()
{
    int *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    shift<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
