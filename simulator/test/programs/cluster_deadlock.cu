// expect: deadlock 13
// says: the cluster's barrier waits for 128 threads, and 96 come
// A warp of one block waits for the others at a __syncthreads() in a branch, and they for it, and for all, at the cluster's barrier.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) part(int *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 1 && threadIdx.x < 32) __syncthreads();
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = 1;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 128 * sizeof *out));
    part<<<2, 64>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}
