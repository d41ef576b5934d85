// expect: uninitialized 28
// says: copies 96 bytes that a kernel computed from memory that nothing wrote, from byte 32
// Through shared memory, registers and arithmetic into the answer: the copy to the host brings it to light.
#include "check.h"

__global__ void partly(float *out)
{
    __shared__ float tile[32];
    if (threadIdx.x < 8) tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x] * 2 + 1;
}

__global__ void copy(float *out, const float *in)
{
    out[threadIdx.x] = in[threadIdx.x];
}

int main()
{
    float *first, *second, host[32] = { 0 };
    OK(cudaMalloc(&first, sizeof host));
    OK(cudaMalloc(&second, sizeof host));
    OK(cudaMemset(first, 0, sizeof host));
    OK(cudaMemset(second, 0, sizeof host));
    partly<<<1, 32>>>(first);
    copy<<<1, 32>>>(second, first);
    OK(cudaMemcpy(host, second, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaFree(first));
    OK(cudaFree(second));
    return 0;
}
