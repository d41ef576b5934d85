// own.cu, written in other words: the compiler makes the same kernel of it.
#include "01-first-kernel.h"
#define COUNT 4
__device__ inline void one(float *sum, const float *p, const float *q, int where, int limit)
{
    if (!(where < limit)) return;
    sum[where] = p[where] + q[where];
}
__global__ void kernel(float *sum, const float *p, const float *q, int limit)
{
    int from = blockDim.x * COUNT * (gridDim.x - blockIdx.x - 1) + threadIdx.x, step = COUNT;
    do {
        step = step - 1;
        one(sum, p, q, from + blockDim.x * step, limit);
    } while (step != 0);
}
extern "C" void vector_add(float *c, const float *a, const float *b, int n)
{
    float *buffers[3];
    int grid = n / 1024 + (n % 1024 != 0);
    for (float **p = buffers; p != buffers + 3; ++p)
        if (cudaMalloc(p, n ? sizeof(float) * n : 4) != cudaSuccess) __builtin_trap();
    cudaMemcpy(buffers[0], a, sizeof(float) * n, cudaMemcpyDefault);
    cudaMemcpy(buffers[1], b, sizeof(float) * n, cudaMemcpyDefault);
    if (grid != 0) kernel<<<grid, 256>>>(buffers[2], buffers[0], buffers[1], n);
    cudaMemcpy(c, buffers[2], sizeof(float) * n, cudaMemcpyDefault);
    for (float *p : buffers) cudaFree(p);
}
