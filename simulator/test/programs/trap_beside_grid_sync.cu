// expect: trap 15
// says: Look at the condition in front of it.
// A kernel that could call grid.sync() stops itself for a reason of its own.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void stop(int *p, int n)
{
    if (n > 100)
        cg::this_grid().sync();
    if (p[threadIdx.x] == 0)
        __trap();
}

int main()
{
    int *p;
    OK(cudaMalloc(&p, 32 * sizeof *p));
    OK(cudaMemset(p, 0, 32 * sizeof *p));
    stop<<<1, 32>>>(p, 1);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
}
