// expect: hang 11
// says: none of the 264 blocks that are on the device can go on; 36 more have not begun
// A barrier of all blocks, of which more are launched than fit on the device at once. A block of 1024 threads leaves room
// for one more of them on its multiprocessor.
#include "check.h"

__global__ void meet(volatile int *arrived)
{
    if (threadIdx.x == 0) {
        atomicAdd((int *)arrived, 1);
        while (*arrived < (int)gridDim.x) continue;
    }
    __syncthreads();
}

int main()
{
    int *arrived;
    OK(cudaMalloc(&arrived, 4));
    OK(cudaMemset(arrived, 0, 4));
    meet<<<264, 1024>>>(arrived);
    OK(cudaDeviceSynchronize());
    OK(cudaMemset(arrived, 0, 4));
    meet<<<300, 1024>>>(arrived);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    return 0;
}
