// expect: exit 0
// build: -gencode arch=compute_90,code=[compute_90,sm_90]
// A block whose threads want more registers than a multiprocessor has is refused when it is launched, as on a GPU; a
// smaller one of the same kernel runs.
#include "check.h"

// Ninety numbers are alive at once, and a multiprocessor has 64 registers for each of 1,024 threads.
__global__ void many(float *p)
{
    float v[90];
#pragma unroll
    for (int i = 0; i < 90; i++)
        v[i] = p[i * 1024 + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 90; i++)
        p[i * 1024 + threadIdx.x] = v[89 - i] + 1;
}

int main()
{
    float *p;
    OK(cudaMalloc(&p, 90 * 1024 * sizeof *p));
    OK(cudaMemset(p, 0, 90 * 1024 * sizeof *p));
    cudaFuncAttributes a;
    int fit;
    OK(cudaFuncGetAttributes(&a, many));
    CHECK(a.numRegs > 64 && a.numRegs <= 128);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, many, 1024, 0));
    CHECK(fit == 0);
    many<<<1, 1024>>>(p);
    CHECK(cudaGetLastError() == cudaErrorLaunchOutOfResources);
    OK(cudaDeviceSynchronize());                        // and nothing else is amiss
    many<<<1, 512>>>(p);
    OK(cudaGetLastError());
    float last;
    OK(cudaMemcpy(&last, p + 511, sizeof last, cudaMemcpyDeviceToHost));
    CHECK(last == 1);
    OK(cudaFree(p));
}
