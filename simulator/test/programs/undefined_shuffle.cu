// expect: uninitialized 9
// says: shuffled from a lane that took no part
// Half a warp shuffles from the half that has gone.
#include "check.h"

__global__ void half(int *out, int v)
{
    if (threadIdx.x < 16) {
        if (__shfl_down_sync(0xffffffff, v + threadIdx.x, 8) > 20) out[threadIdx.x] = 1;
    }
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    half<<<1, 32>>>(out, 3);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
