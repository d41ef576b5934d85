// expect: exit 0
// Thread block clusters that are right: a histogram whose bins lie in several blocks, a sum over a cluster, neighbours that exchange
// their edges, in clusters of 2 to 16 blocks, of one dimension and two, which the kernel or the launch asks for.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;
enum { BINS = 1024, THREADS = 128, N = 20000 };

// Each block of the cluster has its share of the bins; every thread adds to the bin wherever it is.
__global__ void histogram(unsigned *bins, const unsigned *values, unsigned n)
{
    extern __shared__ unsigned own[];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned share = BINS / cluster.num_blocks();
    for (unsigned i = threadIdx.x; i < share; i += blockDim.x) own[i] = 0;
    cluster.sync();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bin = values[i] % BINS;
        atomicAdd(cluster.map_shared_rank(own, bin / share) + bin % share, 1u);
    }
    cluster.sync();
    for (unsigned i = threadIdx.x; i < share; i += blockDim.x)
        if (own[i]) atomicAdd(&bins[cluster.block_rank() * share + i], own[i]);
}

// Rank 0 reads what the other blocks of its cluster have summed up.
__global__ void __cluster_dims__(4) sum(unsigned long long *sums, const unsigned *values, unsigned n)
{
    __shared__ unsigned long long own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = 0;
    __syncthreads();
    unsigned long long mine = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += values[i];
    atomicAdd(&own, mine);
    cluster.sync();
    if (cluster.thread_rank() == 0) {
        unsigned long long all = 0;
        for (unsigned rank = 0; rank < cluster.num_blocks(); rank++) all += *cluster.map_shared_rank(&own, rank);
        sums[blockIdx.x / cluster.num_blocks()] = all;
    }
    cluster.sync();
}

// Each thread has a cell of a torus, which is as wide and as high as the cluster: its edges come from the other blocks. What is
// written for the next round is not what others still read of this one.
__global__ void spread(unsigned *cells, unsigned rounds)
{
    __shared__ unsigned tile[2][8][8];
    cg::cluster_group cluster = cg::this_cluster();
    dim3 me = cluster.block_index(), size = cluster.dim_blocks();
    unsigned x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y, width = gridDim.x * 8;
    tile[0][y][x] = cells[row * width + column];
    cluster.sync();
    for (unsigned round = 0; round < rounds; round++) {
        unsigned (*now)[8] = tile[round % 2], left = x ? now[y][x - 1] : 0, up = y ? now[y - 1][x] : 0;
        if (x == 0) left = cluster.map_shared_rank(&now[y][7], me.y * size.x + (me.x + size.x - 1) % size.x)[0];
        if (y == 0) up = cluster.map_shared_rank(&now[7][x], (me.y + size.y - 1) % size.y * size.x + me.x)[0];
        tile[(round + 1) % 2][y][x] = 3 * now[y][x] + left + 7 * up;
        auto token = cluster.barrier_arrive();
        cluster.barrier_wait((decltype(token) &&)token);
    }
    cells[row * width + column] = tile[rounds % 2][y][x];
}

// A block hands its neighbour a number when a flag there says that it has taken the last one.
__global__ void __cluster_dims__(2) hand_over(unsigned *out)
{
    __shared__ unsigned number, full;
    cg::cluster_group cluster = cg::this_cluster();
    number = full = 0;
    cluster.sync();
    unsigned *to = cluster.map_shared_rank(&number, 1), *flag = cluster.map_shared_rank(&full, 1), got = 0;
    for (unsigned i = 1; i <= 5; i++) {
        unsigned is = i % 2;
        if (cluster.block_rank() == 0) {
            asm volatile("st.weak.shared::cluster.u32 [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(to)), "r"(i * i) : "memory");
            asm volatile("st.release.cluster.u32 [%0], %1;" :: "l"(flag), "r"(is) : "memory");
            do asm volatile("ld.acquire.cluster.u32 %0, [%1];" : "=r"(is) : "l"(flag) : "memory");
            while (is != 2);
        } else {
            unsigned now;
            do asm volatile("ld.acquire.cluster.u32 %0, [%1];" : "=r"(now) : "l"(&full) : "memory");
            while (now != is);
            got = 100 * got + number;
            asm volatile("st.release.cluster.u32 [%0], %1;" :: "l"(&full), "r"(2) : "memory");
        }
    }
    if (cluster.block_rank() == 1) out[blockIdx.x / 2] = got;
    cluster.sync();
}

// A launch without clusters has one in each block.
__global__ void alone(unsigned *out)
{
    __shared__ unsigned cell[64];
    cg::cluster_group cluster = cg::this_cluster();
    cell[threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = *cluster.map_shared_rank(&cell[63 - threadIdx.x], 0) + 100 * cluster.num_blocks() + 1000 * cluster.block_rank();
}

// Its grid counts clusters.
__global__ void __block_size__((32, 1, 1), (2, 1, 1)) counted(unsigned *out)
{
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) out[blockIdx.x] = gridDim.x * 100 + cluster.num_blocks() * 10 + cluster.block_rank();
}

__global__ void __cluster_dims__(8) on_which(unsigned *out)
{
    unsigned sm;
    asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
    if (threadIdx.x == 0) out[blockIdx.x] = sm;
}

template <typename... Arguments>
static cudaError_t launch(void (*kernel)(Arguments...), dim3 grid, dim3 block, size_t shared, dim3 cluster, Arguments... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x, attribute.val.clusterDim.y = cluster.y, attribute.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid, config.blockDim = block, config.dynamicSmemBytes = shared, config.attrs = &attribute, config.numAttrs = 1;
    cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
    cudaGetLastError();
    return error;
}

static void try_histogram(unsigned blocks, unsigned size, const unsigned *values, const unsigned *on_device)
{
    unsigned *bins, got[BINS], want[BINS] = { 0 };
    for (unsigned i = 0; i < N; i++) want[values[i] % BINS]++;
    OK(cudaMalloc(&bins, sizeof got));
    OK(cudaMemset(bins, 0, sizeof got));
    OK(launch(histogram, blocks, THREADS, BINS / size * sizeof(unsigned), size, bins, on_device, (unsigned)N));
    OK(cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < BINS; i++) CHECK(got[i] == want[i]);
    OK(cudaFree(bins));
}

static void try_sum(const unsigned *values, const unsigned *on_device)
{
    enum { BLOCKS = 12 };
    unsigned long long *sums, got[BLOCKS / 4], want[BLOCKS / 4] = { 0 };
    for (unsigned i = 0; i < N; i++) want[i / THREADS % BLOCKS / 4] += values[i];
    OK(cudaMalloc(&sums, sizeof got));
    sum<<<BLOCKS, THREADS>>>(sums, on_device, N);
    OK(cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < BLOCKS / 4; i++) CHECK(got[i] == want[i]);
    OK(cudaFree(sums));
}

// Clusters lie side by side in the grid; each is a torus of its own.
static void try_spread(dim3 clusters, dim3 size)
{
    enum { ROUNDS = 11, MOST = 64 * 64 };
    static unsigned now[MOST], next[MOST], got[MOST];
    unsigned width = clusters.x * size.x * 8, height = clusters.y * size.y * 8, wide = size.x * 8, high = size.y * 8, *cells;
    for (unsigned i = 0; i < width * height; i++) now[i] = i * 2654435761u;
    OK(cudaMalloc(&cells, sizeof now));
    OK(cudaMemcpy(cells, now, sizeof now, cudaMemcpyHostToDevice));
    OK(launch(spread, dim3(clusters.x * size.x, clusters.y * size.y), dim3(8, 8), 0, size, cells, (unsigned)ROUNDS));
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned y = 0; y < height; y++)
            for (unsigned x = 0; x < width; x++) {
                unsigned left = x / wide * wide + (x + wide - 1) % wide, up = y / high * high + (y + high - 1) % high;
                next[y * width + x] = 3 * now[y * width + x] + now[y * width + left] + 7 * now[up * width + x];
            }
        for (unsigned i = 0; i < width * height; i++) now[i] = next[i];
    }
    OK(cudaMemcpy(got, cells, sizeof got, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < width * height; i++) CHECK(got[i] == now[i]);
    OK(cudaFree(cells));
}

// What a node of a graph was told, its launches do.
static void try_graph(const unsigned *values, const unsigned *on_device)
{
    unsigned *bins, n = N, got[BINS], want[BINS] = { 0 };
    for (unsigned i = 0; i < N; i++) want[values[i] % BINS] += 2;
    OK(cudaMalloc(&bins, sizeof got));
    OK(cudaMemset(bins, 0, sizeof got));
    void *arguments[] = { &bins, &on_device, &n };
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    cudaKernelNodeParams parameters = {};
    parameters.func = (void *)histogram, parameters.gridDim = 8, parameters.blockDim = THREADS, parameters.kernelParams = arguments;
    parameters.sharedMemBytes = BINS / 4 * sizeof(unsigned);
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &parameters));
    cudaLaunchAttributeValue value = {}, told = {};
    value.clusterDim.x = 4, value.clusterDim.y = value.clusterDim.z = 1;
    OK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value));
    OK(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &told));
    CHECK(told.clusterDim.x == 4 && told.clusterDim.y == 1);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(got, bins, sizeof got, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < BINS; i++) CHECK(got[i] == want[i]);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFree(bins));
}

int main()
{
    static unsigned values[N];
    unsigned *on_device, *out, got[128];
    for (unsigned i = 0; i < N; i++) values[i] = i * i * 2654435761u >> 7;
    OK(cudaMalloc(&on_device, sizeof values));
    OK(cudaMemcpy(on_device, values, sizeof values, cudaMemcpyHostToDevice));
    try_histogram(6, 2, values, on_device);
    try_histogram(16, 8, values, on_device);
    CHECK(launch(histogram, 16, THREADS, 4096, 16, (unsigned *)NULL, (const unsigned *)NULL, 0u) == cudaErrorInvalidClusterSize);
    OK(cudaFuncSetAttribute(histogram, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    try_histogram(16, 16, values, on_device);
    try_sum(values, on_device);
    try_spread(dim3(2, 2), dim3(2, 2));
    try_spread(dim3(1, 3), dim3(4, 2));
    try_spread(dim3(3, 1), dim3(1, 2));
    try_graph(values, on_device);

    OK(cudaMalloc(&out, sizeof got));
    hand_over<<<6, 1>>>(out);
    OK(cudaMemcpy(got, out, 3 * sizeof *got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 3; i++) CHECK(got[i] == 104091625);
    alone<<<2, 64>>>(out);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 128; i++) CHECK(got[i] == 100 + 63 - i % 64);

    counted<<<3, 32>>>(out);
    OK(cudaMemcpy(got, out, 6 * sizeof *got, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 6; i++) CHECK(got[i] == 620 + i % 2);

    on_which<<<64, 32>>>(out);
    OK(cudaMemcpy(got, out, 64 * sizeof *got, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 64; i++)
        for (unsigned k = i / 8 * 8; k < i; k++) CHECK(got[k] != got[i]);

    struct cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, sum));
    CHECK(attributes.clusterDimMustBeSet && attributes.requiredClusterWidth == 4 && attributes.requiredClusterHeight == 1);
    sum<<<6, THREADS>>>(NULL, NULL, 0);
    CHECK(cudaGetLastError() == cudaErrorInvalidClusterSize);
    OK(cudaFree(out));
    OK(cudaFree(on_device));
    OK(cudaDeviceSynchronize());
    return 0;
}
