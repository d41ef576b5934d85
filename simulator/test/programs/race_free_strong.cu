// expect: exit 0
// Lanes that store strongly to one place, each another value, elect one of them: no race, as long as all that touch it are strong.
#include "check.h"

__global__ void elect(int *winner, int *won)
{
    __shared__ volatile int chosen;
    int lane = threadIdx.x % 32;
    chosen = threadIdx.x;
    *(volatile int *)winner = lane;
    __syncthreads();
    if (chosen == threadIdx.x) atomicAdd(&won[0], 1);
    if (*(volatile int *)winner == lane) atomicAdd(&won[1], 1);
}

int main()
{
    int *winner, *won, host[2];
    OK(cudaMalloc(&winner, sizeof *winner));
    OK(cudaMalloc(&won, sizeof host));
    OK(cudaMemset(won, 0, sizeof host));
    elect<<<1, 128>>>(winner, won);
    OK(cudaMemcpy(host, won, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[0] == 1 && host[1] == 4);    // of the block; and a lane of each warp
    OK(cudaFree(won));
    OK(cudaFree(winner));
    return 0;
}
