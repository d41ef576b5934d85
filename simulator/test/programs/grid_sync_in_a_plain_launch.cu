// expect: trap 16
// says: grid.sync() stopped the kernel, whose launch is not a cooperative one
// says: cudaLaunchCooperativeKernel, with at most 2112 blocks
// Blocks that meet in grid.sync() though an ordinary launch does not see to it that all are on the device.
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void meet(int *p)
{
    cg::grid_group grid = cg::this_grid();
    p[grid.thread_rank()] = 1;

    grid.sync();
    p[grid.thread_rank()] += p[grid.size() - 1 - grid.thread_rank()];
}

int main()
{
    int *p;
    OK(cudaMalloc(&p, 8 * 128 * sizeof *p));
    meet<<<8, 128>>>(p);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
}
