// expect: race 26
// says: with a flag but no fence between
// Every block adds to one total and draws a ticket; the one that draws the last reads the total. It has added to it
// itself, after all others, and yet nothing says that it sees what they added: no fence stands before the ticket.
#include "check.h"

enum { BLOCKS = 16 };

__device__ int total;
__device__ unsigned tickets;

__global__ void add(int *out)
{
    __shared__ bool last;

    atomicAdd(&total, threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&tickets, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    if (threadIdx.x == 0) {
        tickets = 0;
        *out = total;
    }
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, sizeof *out));
    add<<<BLOCKS, 64>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
