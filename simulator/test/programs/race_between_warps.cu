// expect: race 10
// says: no barrier between
// A tile is read before the other warps have written it.
#include "check.h"

__global__ void reverse(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 64 * sizeof *out));
    reverse<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
