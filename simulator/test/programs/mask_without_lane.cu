// expect: barrier 8
// says: lane 16 is not in the mask
// Lanes that run a shuffle whose mask does not name them.
#include "check.h"

__global__ void all(int *out)
{
    out[threadIdx.x] = __shfl_sync(threadIdx.x < 16 ? 0xffff : 0xff, threadIdx.x, 0);
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    all<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}
