// expect: bounds 11
// says: at byte 128 of the block's 128 bytes of shared memory
// One step past a shared array.
#include "check.h"

__global__ void shift(int *out)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 1];
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    shift<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
