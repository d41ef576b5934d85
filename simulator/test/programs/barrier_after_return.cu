// expect: exit 0
// Threads that have ended are not waited for (compute capability 7.0 and later).
#include "check.h"

__global__ void early(int *out, int n)
{
    __shared__ int tile[128];
    if (threadIdx.x >= n) return;
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

int main()
{
    int *out, host[100];
    OK(cudaMalloc(&out, sizeof host));
    early<<<1, 128>>>(out, 100);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++) CHECK(host[i] == 99 - i);
    OK(cudaFree(out));
    return 0;
}
