// expect: deadlock 9
// says: wait here for others of their warp
// A shuffle for all lanes in a branch of half of them, the others at a barrier.
#include "check.h"

__global__ void half(int *out)
{
    if (threadIdx.x < 16) {
        out[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 0);
    }
    else __syncthreads();
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    half<<<1, 32>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}
