// expect: bounds 17
// says: at byte 128 of the 128 bytes of shared memory of block (0,0,0)
// A step past the array in the shared memory of the neighbour.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) shift(int *out)
{
    __shared__ int tile[32];
    cg::cluster_group cluster = cg::this_cluster();
    tile[threadIdx.x] = threadIdx.x;
    cluster.sync();
    const int *other = cluster.map_shared_rank(tile, cluster.block_rank() ^ 1);
    __syncthreads();
    int next = other[threadIdx.x + 1];
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = next;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 64 * sizeof *out));
    shift<<<2, 32>>>(out);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    return 0;
}
