// expect: uninitialized 10, uninitialized 29
// says: shuffled from a lane that took no part
// Half a warp shuffles from the half that has gone. What it gets is undefined, and 0 on an H200, so that sums which others add nothing
// to are right there, too.
#include "check.h"

__global__ void half(int *out, int v)
{
    if (threadIdx.x < 16) {
        if (__shfl_down_sync(0xffffffff, v + threadIdx.x, 8) > 20) out[threadIdx.x] = 1;
    }
}

__global__ void first(int *out, int v)
{
    int sum = v + threadIdx.x;
    if (threadIdx.x < 1)
        for (int n = 16; n; n /= 2) sum += __shfl_down_sync(1, sum, n);
    out[threadIdx.x] = sum;
}

int main()
{
    int *out, host[32];
    OK(cudaMalloc(&out, sizeof host));
    half<<<1, 32>>>(out, 3);
    OK(cudaDeviceSynchronize());
    first<<<1, 32>>>(out, 3);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 3 && host[31] == 34);
    OK(cudaFree(out));
    return 0;
}
