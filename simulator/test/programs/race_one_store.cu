// expect: race 9
// says: thread (1,0,0) also writes what thread (0,0,0) writes
// All lanes of one store write one place, each another value.
#include "check.h"

__global__ void last_one(int *out)
{
    __shared__ int chosen;
    chosen = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = chosen;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 32 * sizeof *out));
    last_one<<<1, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
