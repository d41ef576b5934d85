// expect: race 18, race 28, race 38, race 49, race 60, exit 0
// says: thread (32,0,0) reads what thread (31,0,0) writes in shared memory
// says: Put a __syncthreads() that all threads reach between the two lines.
// says: of block (1,0,0) reads what thread (31,0,0) of block (0,0,0) writes
// says: do the second part in another launch.
// says: do the second part in another launch, or after a grid.sync().
// says: Put a cluster.sync() that all threads of the cluster reach between the two lines
// Lines race within a warp, between warps, and between blocks: told is the widest race, because its remedy mends the others, too.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// The warp that stores also reads, and looks first.
__global__ void of_one(int *out)
{
    __shared__ int row[65];
    row[threadIdx.x + 1] = threadIdx.x;
    out[threadIdx.x] = row[threadIdx.x];                        // 18
}

// A store meets readers of its own warp, and of another.
__global__ void of_reader(int *out)
{
    __shared__ int total;
    if (threadIdx.x == 0) total = 1;
    __syncthreads();
    if (threadIdx.x < 64)
        out[threadIdx.x] = total;                               // 28
    if (threadIdx.x == 63) total = 2;
}

__global__ void of_blocks(int *all, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    all[i + 1] = i;
    asm volatile("" ::: "memory");
    int left =
        all[i];                                                 // 38
    out[i] = left;
}

// The same in a launch that may wait for all of its blocks.
__global__ void cooperative(int *all, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    all[i + 1] = i;
    asm volatile("" ::: "memory");
    int left =
        all[i];                                                 // 49
    out[i] = left;
}

__global__ void __cluster_dims__(2, 1, 1) of_cluster(int *out)
{
    __shared__ int row[33];
    auto cluster = cg::this_cluster();
    cluster.sync();
    *cluster.map_shared_rank(&row[threadIdx.x + 1], cluster.block_rank()) = 1;
    *cluster.map_shared_rank(&row[threadIdx.x + 1], 1 - cluster.block_rank()) = 1;
    out[cluster.block_rank() * 32 + threadIdx.x] = row[threadIdx.x];    // 60
    cluster.sync();
}

int main()
{
    int *x, *out;
    OK(cudaMalloc(&x, 1024));
    OK(cudaMalloc(&out, 1024));
    OK(cudaMemset(x, 0, 1024));
    of_one<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    of_reader<<<1, 64>>>(out);
    OK(cudaDeviceSynchronize());
    of_blocks<<<2, 32>>>(x, out);
    OK(cudaDeviceSynchronize());
    void *arguments[] = { &x, &out };
    OK(cudaLaunchCooperativeKernel(cooperative, 2, 64, arguments));
    OK(cudaDeviceSynchronize());
    of_cluster<<<2, 32>>>(out);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
