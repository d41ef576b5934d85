// expect: race 11, race 16, race 19
// says: thread (1,0,0) also writes what thread (0,0,0) writes in shared memory, by the same line
// says: thread (1,0,0) also writes what thread (0,0,0) writes, at byte 0 of the 32768-byte allocation
// All lanes of one store write one place, each another value: in shared memory, and in global memory, by blocks that need not
// run in order.
#include "check.h"

__global__ void last_one(int *out)
{
    __shared__ int chosen;
    chosen = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = chosen;
}

__global__ void last_ones(int *out) { out[blockIdx.x] = threadIdx.x; }

// Lanes that are no neighbours.
__global__ void by_turns(int *out) { out[4096 * (threadIdx.x % 2) + blockIdx.x] = threadIdx.x; }

int main()
{
    int *out;
    OK(cudaMalloc(&out, 8192 * sizeof *out));
    last_one<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    last_ones<<<4096, 32>>>(out);
    OK(cudaDeviceSynchronize());
    by_turns<<<4096, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
