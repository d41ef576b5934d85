// expect: exit 0
// run: --limit 4800000
// Blocks that wait for one another, and store while they do, are known to wait: a round of the token takes no more than if they only
// looked, and not 30 times as much.
#include "check.h"

enum { ROUNDS = 8, BLOCKS = 8 };

__global__ void pass_on(volatile int *token, volatile int *busy)
{
    int place = BLOCKS - 1 - blockIdx.x;
    for (int r = 0; r < ROUNDS; r++) {
        while (*token != r * BLOCKS + place) busy[blockIdx.x] = 1;
        __syncthreads();
        if (threadIdx.x == 0) *token = r * BLOCKS + place + 1;
        __syncthreads();
    }
}

int main()
{
    int *memory, last;
    OK(cudaMalloc(&memory, (1 + BLOCKS) * sizeof *memory));
    OK(cudaMemset(memory, 0, (1 + BLOCKS) * sizeof *memory));
    pass_on<<<BLOCKS, 64>>>(memory, memory + 1);
    OK(cudaMemcpy(&last, memory, sizeof last, cudaMemcpyDeviceToHost));
    CHECK(last == ROUNDS * BLOCKS);
    OK(cudaFree(memory));
    return 0;
}
