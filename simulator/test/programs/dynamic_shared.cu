// expect: exit 0
// Dynamic shared memory lies behind the static, at the size that the launch gives.
#include "check.h"

__global__ void reverse(int *out, int n)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[3];
    if (threadIdx.x < 3) fixed[threadIdx.x] = 1000 * threadIdx.x;
    dynamic[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = dynamic[n - 1 - threadIdx.x] + fixed[threadIdx.x % 3];
}

int main()
{
    int *out, host[96];
    OK(cudaMalloc(&out, sizeof host));
    reverse<<<1, 96, 96 * sizeof(int)>>>(out, 96);
    OK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 96; i++) CHECK(host[i] == 95 - i + 1000 * (i % 3));
    OK(cudaFree(out));
    return 0;
}
