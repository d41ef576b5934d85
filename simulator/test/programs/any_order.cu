// expect: hang 21
// says: none of the 6 blocks that are on the device can go on; 1 more has not begun
// says: Blocks may begin in any order
// says: If all wait for all, launch them with cudaLaunchCooperativeKernel
// run: --shuffle 1
// prints: every block once|in whatever order
// Nothing says in which order blocks begin. Who waits for the block with the number before its own waits for ever when
// that one has no place; who draws numbers, the lowest first, does not. Nor is there a promise that a few are there at once.
#include "check.h"

enum { BLOCKS = 699 };

// Each block hands on one more than it was handed.
__global__ void chain(volatile int *handed, unsigned *tickets)
{
    __shared__ unsigned number;
    if (threadIdx.x == 0) {
        number = tickets ? atomicAdd(tickets, 1) : blockIdx.x;
        int before = 0;
        if (number > 0)
            do before = handed[number - 1];
            while (before == 0);
        handed[number] = before + 1;
    }
    __syncthreads();
}

__global__ void count(int *times)
{
    atomicAdd(&times[blockIdx.x + gridDim.x * blockIdx.y], 1);
}

int main()
{
    int *p, host[BLOCKS];
    unsigned *tickets;
    OK(cudaMalloc(&p, sizeof host));
    OK(cudaMalloc(&tickets, sizeof *tickets));
    const dim3 grids[] = { 1, 2, 3, 4, 6, 31, dim3(32, 3), dim3(233, 3) };
    for (dim3 grid : grids) {
        OK(cudaMemset(p, 0, sizeof host));
        count<<<grid, 1>>>(p);
        OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
        for (unsigned i = 0; i < BLOCKS; i++)
            CHECK(host[i] == (i < grid.x * grid.y));
    }
    puts("every block once");
    OK(cudaMemset(p, 0, sizeof host));
    OK(cudaMemset(tickets, 0, sizeof *tickets));
    chain<<<BLOCKS, 1024>>>(p, tickets);
    OK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[BLOCKS - 1] == BLOCKS);
    puts("in whatever order");
    OK(cudaMemset(p, 0, sizeof host));
    chain<<<7, 32>>>(p, nullptr);
    count<<<1, 1>>>(p);                 // waits behind it
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    return 0;
}
