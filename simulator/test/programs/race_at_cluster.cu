// expect: race 15, race 23
// says: with a flag but no fence between
// says: with no barrier between
// What a cluster's barrier says of the threads of one block: nothing where they arrive relaxed with no fence before it, and nothing of
// the blocks that have their places next.
#include "check.h"

__global__ void __cluster_dims__(2) relaxed(int *out)
{
    __shared__ int data[64];
    int t = threadIdx.x;
    data[t] = t;
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    out[blockIdx.x * 64 + t] = data[63 - t];                    // 15
}

__global__ void __cluster_dims__(2) next(int *out)
{
    __shared__ int data[64];
    int t = threadIdx.x;
    data[t] = t;
    if (blockIdx.x >= 2) out[blockIdx.x * 64 + t] = data[63 - t];   // 23
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    if (blockIdx.x < 2) out[blockIdx.x * 64 + t] = data[63 - t];
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 4 * 64 * sizeof *out));
    relaxed<<<2, 64>>>(out);
    next<<<4, 64>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
