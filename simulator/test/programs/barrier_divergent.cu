// expect: barrier 9
// says: 16 of 32 threads
// A barrier in a branch that half of a warp takes.
#include "check.h"

__global__ void half(int *out)
{
    if (threadIdx.x % 2) {
        out[threadIdx.x] = 1; __syncthreads();
    }
    out[threadIdx.x] = 2;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    half<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}
