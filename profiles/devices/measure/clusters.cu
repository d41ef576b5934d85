// Clusters: where their blocks may be, and what the way to another block's shared memory takes.
#include "measure.h"
#include <cooperative_groups.h>

enum { CLUSTER = 8, STEPS = 1024, ACCESSES = 256 };

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
namespace cg = cooperative_groups;

__global__ void follow(unsigned rank, long long *clocks, unsigned *out)
{
    __shared__ unsigned next[1024];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        next[i] = (i + 32) % 1024;
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        volatile unsigned *other = cluster.map_shared_rank(next, rank);
        unsigned at = 0;
        long long from = clock64();
#pragma unroll 1
        for (int i = 0; i < STEPS; i++)
            at = other[at];
        *clocks = clock64() - from;
        *out = at;
    }
    cluster.sync();
}

// Every thread of every block reads from the next block.
__global__ void read_next(long long *clocks, unsigned *out)
{
    __shared__ unsigned own[8192];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 8192; i += blockDim.x)
        own[i] = i;
    cluster.sync();
    volatile unsigned *other = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % cluster.num_blocks());
    unsigned sum = 0;
    long long from = clock64();
#pragma unroll 8
    for (int i = 0; i < ACCESSES; i++)
        sum += other[(threadIdx.x + i * LANES) % 8192];
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *clocks = clock64() - from;
    cluster.sync();
    out[threadIdx.x] = sum;
}

__global__ void meet_all(long long *clocks, unsigned *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    long long from = clock64();
#pragma unroll 1
    for (int i = 0; i < STEPS; i++)
        cluster.sync();
    if (threadIdx.x == 0 && blockIdx.x == 0)
        *clocks = clock64() - from;
    *out = 0;
}
#else
__global__ void follow(unsigned, long long *, unsigned *) {}
__global__ void read_next(long long *, unsigned *) {}
__global__ void meet_all(long long *, unsigned *) {}
#endif

static cudaLaunchAttribute cluster_of(unsigned size)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = size, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    return attribute;
}

// The median clocks that a kernel writes, whose first parameters are these.
template <typename... Parameters, typename... Arguments>
static double clocks_in_cluster(void (*kernel)(Parameters...), int threads, Arguments... arguments)
{
    long long *clocks = allocate<long long>(sizeof *clocks), got;
    unsigned *out = allocate<unsigned>(THREADS * sizeof *out);
    cudaLaunchAttribute attribute = cluster_of(CLUSTER);
    cudaLaunchConfig_t config = {};
    config.gridDim = CLUSTER, config.blockDim = threads, config.attrs = &attribute, config.numAttrs = 1;
    std::vector<double> all;
    for (int i = 0; i < ROUNDS; i++) {
        OK(cudaLaunchKernelEx(&config, kernel, arguments..., clocks, out));
        OK(cudaMemcpy(&got, clocks, sizeof got, cudaMemcpyDeviceToHost));
        all.push_back(double(got));
    }
    OK(cudaFree(clocks));
    OK(cudaFree(out));
    return median(all);
}

// Of groups of multiprocessors each holds as many clusters of blocks that fill a multiprocessor as go into it: from the largest
// clusters down, what is more than the larger groups hold are further groups.
static std::vector<int> find_groups()
{
    enum { LARGEST = 64 };
    std::vector<int> groups;
    OK(cudaFuncSetAttribute(follow, cudaFuncAttributeMaxDynamicSharedMemorySize, int(device.sharedMemPerBlockOptin - 4096)));
    OK(cudaFuncSetAttribute(follow, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    for (int size = LARGEST; size; size--) {
        int clusters = 0;
        cudaLaunchAttribute attribute = cluster_of(size);
        cudaLaunchConfig_t config = {};
        config.gridDim = size, config.blockDim = LANES, config.dynamicSmemBytes = device.sharedMemPerBlockOptin - 4096;
        config.attrs = &attribute, config.numAttrs = 1;
        if (cudaOccupancyMaxActiveClusters(&clusters, follow, &config) != cudaSuccess) {
            cudaGetLastError();
            continue;
        }
        for (int group : groups)
            clusters -= group / size;
        for (int i = 0; i < clusters; i++)
            groups.push_back(size);
    }
    return groups;
}

void measure_clusters()
{
    heading("Clusters");
    if (device.major < 9) {
        printf("cluster_sms = [];\ncluster_latency_clocks = 0.0;\ncluster_clocks_per_request = 0.0;\ncluster_barrier_clocks = 0.0;\n");
        return;
    }
    printf("cluster_sms = [");
    const char *between = "";
    for (int group : find_groups())
        printf("%s%d", between, group), between = ", ";
    printf("]; // groups of multiprocessors, of which the blocks of a cluster share one: as cudaOccupancyMaxActiveClusters() has them\n");
    double latency = 0;
    for (unsigned rank = 1; rank < CLUSTER; rank++)
        latency += clocks_in_cluster(follow, LANES, rank) / STEPS / (CLUSTER - 1);
    figure("cluster_latency_clocks", latency, "one lane follows pointers through another block's shared memory, in a cluster of eight");
    figure("cluster_clocks_per_request", clocks_in_cluster(read_next, THREADS) / (ACCESSES * (THREADS / LANES)),
           "loads of 4 bytes a lane, side by side, of each of eight blocks from the next");
    figure("cluster_barrier_clocks", clocks_in_cluster(meet_all, LANES) / STEPS, "cluster.sync() of eight blocks of 32 threads");
}
