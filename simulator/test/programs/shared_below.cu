// expect: bounds 12
// says: read of 4 bytes 8 bytes before the block's 128 bytes of shared memory
// says: The index is below 0.
// A window that begins two places before the array.
#include "check.h"

__global__ void shift(int *out)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[(int)threadIdx.x - 2];
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    shift<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    return 0;
}
