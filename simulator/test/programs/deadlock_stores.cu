// expect: hang 23
// run: --limit 5000000
// says: all that have not ended wait for something that nobody does any more
// A flag that nobody sets, awaited by warps that store while they wait, each in its own way, but never anything new: that changes as
// little as if they only looked.
#include "check.h"

struct Board { volatile int flag, place; volatile int __align__(16) wide[4]; };

__device__ void store(Board *b, volatile int *shared, int way, int waited)
{
    if (way == 0) b->place = 7;
    else if (way == 1) *(threadIdx.x & 1 ? shared : b->wide) = 0;       // generic
    else if (way == 2) *shared = threadIdx.x;                           // the last lane's stays
    else if (way == 3) *(int4 *)b->wide = make_int4(0, 0, 0, 0);
    else if (way == 4) atomicExch((int *)&b->place, 7);
    else if (way == 5) { volatile int local[4] = { waited & 3 }; b->wide[1] = local[1]; }
}

__global__ void wait(Board *b)
{
    __shared__ int shared[64];
    for (int n = 0; b->flag == 0; n = (n + 1) % 3) store(b, &shared[threadIdx.x / 32], threadIdx.x / 32, n);
    b->place = 8;
}

int main()
{
    Board *b;
    OK(cudaMalloc(&b, sizeof *b));
    OK(cudaMemset(b, 0, sizeof *b));
    wait<<<2, 32 * 7>>>(b);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    return 0;
}
