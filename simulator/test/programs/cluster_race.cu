// expect: race 18, race 30, race 41, uninitialized 51, race 66, race 81, exit 0
// says: nothing puts one block before the other
// says: which may not have begun
// says: which may have ended by then
// says: with a flag but no fence between
// Blocks of a cluster that do not wait for one another: before they first touch another's shared memory, before they read what
// another has written there, and before they end.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2) too_soon(int *out)
{
    __shared__ int cell;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0 && cluster.block_rank() == 0)
        *cluster.map_shared_rank(&cell, 1) = 3;
    cluster.sync();
    if (threadIdx.x == 0 && cluster.block_rank() == 1) *out = cell;
}

__global__ void __cluster_dims__(2) unordered(int *out)
{
    __shared__ int cell;
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    if (threadIdx.x == 0) cell = blockIdx.x + 1;
    __syncthreads();
    int other = *cluster.map_shared_rank(&cell, cluster.block_rank() ^ 1);
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = other > 0;
}

__global__ void __cluster_dims__(2) too_late(int *out)
{
    __shared__ int cell;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) cell = blockIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 1) out[threadIdx.x] = *cluster.map_shared_rank(&cell, 0);
}

// What the one has written and the other has not.
__global__ void __cluster_dims__(2) unwritten(int *out)
{
    __shared__ int cell;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0 && cluster.block_rank() == 0) cell = 5;
    cluster.sync();
    if (*cluster.map_shared_rank(&cell, cluster.block_rank() ^ 1) == 5) out[blockIdx.x * 32 + threadIdx.x] = 1;
    cluster.sync();
}

// Warps of one number in two blocks are not one: what the first has read and may change, the other has not.
__global__ void __cluster_dims__(2) same_number(int *out)
{
    __shared__ int cell;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) cell = 1;
    __syncthreads();
    int sum = *(volatile int *)&cell;
    __syncthreads();
    sum += cell;
    cluster.sync();
    if (cluster.block_rank() == 1) sum += *cluster.map_shared_rank(&cell, 0);
    else if (threadIdx.x == 0) cell = 2;
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] = sum;
}

// That two warps of its own block have read it, and come before what this one does there, says nothing of the other block's.
__global__ void __cluster_dims__(2) read_by_all(int *out)
{
    __shared__ int cell;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) cell = 1;
    cluster.sync();
    int sum = cell;
    cluster.sync();
    if (cluster.block_rank() == 1) sum += *cluster.map_shared_rank(&cell, 0);
    asm volatile("barrier.cluster.arrive.relaxed; barrier.cluster.wait;");     // all have come, which is no order
    if (cluster.block_rank() == 0 && threadIdx.x == 0) cell = 2;
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

int main()
{
    int *out;
    OK(cudaMalloc(&out, 128 * sizeof *out));
    too_soon<<<2, 32>>>(out);
    unordered<<<2, 32>>>(out);
    too_late<<<2, 32>>>(out);
    unwritten<<<2, 32>>>(out);
    same_number<<<2, 32>>>(out);
    read_by_all<<<2, 64>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(out));
    return 0;
}
