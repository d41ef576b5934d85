// expect: bounds 16
// says: the shared memory of block (1,0,0), which has ended
// Blocks that read what is in the other one's shared memory, and end while it may still be reading theirs: the first to end takes it away.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) exchange(int *out)
{
    __shared__ int own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = blockIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 0) __nanosleep(100);
    int other = *cluster.map_shared_rank(&own, cluster.block_rank() ^ 1);
    out[blockIdx.x * 32 + threadIdx.x] = other;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 64 * sizeof *out));
    exchange<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}
