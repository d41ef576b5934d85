// Attributes of kernels, and occupancy.

#include "symbol.h"
#include <cuda_runtime_api.h>

EXPORT cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *key)
{
    Symbol *symbol = symbol_find(key, false);
    cudaError_t error = client_open();
    if (error || !out) return client_done(error ? error : cudaErrorInvalidValue);
    if (!symbol) return client_done(symbol_no_kernel(key));
    error = symbol_resolve(symbol);
    if (error) return client_done(error);
    *out = (struct cudaFuncAttributes){
        .sharedSizeBytes = symbol_here(symbol)->found.kernel.shared_bytes,
        .constSizeBytes = symbol_here(symbol)->found.kernel.constant_bytes,
        .localSizeBytes = symbol_here(symbol)->found.kernel.local_bytes,
        .maxThreadsPerBlock = (int)symbol_here(symbol)->found.kernel.max_threads,
        .numRegs = (int)symbol_here(symbol)->found.kernel.registers, // 0 without native code
        .ptxVersion = (int)symbol_here(symbol)->found.kernel.ptx_version,
        .binaryVersion = client_facts()->major * 10 + client_facts()->minor,
        .maxDynamicSharedSizeBytes = (int)symbol_here(symbol)->dynamic_limit,
        .preferredShmemCarveout = symbol_here(symbol)->carveout - 1,
        .clusterDimMustBeSet = symbol_here(symbol)->found.kernel.clustered,
        .requiredClusterWidth = (int)symbol_here(symbol)->cluster[0],
        .requiredClusterHeight = (int)symbol_here(symbol)->cluster[1],
        .requiredClusterDepth = (int)symbol_here(symbol)->cluster[2],
        .clusterSchedulingPolicyPreference = symbol_here(symbol)->policy,
        .nonPortableClusterSizeAllowed = symbol_here(symbol)->not_portable,
    };
    return cudaSuccess;
}

static cudaError_t set_cluster(Resolved *kernel, enum cudaFuncAttribute attribute, int value)
{
    switch (attribute) {
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        if (value < 0 || kernel->found.kernel.cluster[0]) return cudaErrorInvalidValue;
        kernel->cluster[attribute - cudaFuncAttributeRequiredClusterWidth] = (uint32_t)value;
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        kernel->not_portable = value != 0;
        return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        if (value < 0 || value > cudaClusterSchedulingPolicyLoadBalancing)
            return cudaErrorInvalidValue;
        kernel->policy = value;
        return cudaSuccess;
    default: return cudaErrorInvalidValue;
    }
}

EXPORT cudaError_t cudaFuncSetAttribute(const void *key, enum cudaFuncAttribute attribute,
                                        int value)
{
    Symbol *symbol = symbol_find(key, false);
    cudaError_t error = client_open();
    if (error || !symbol) return client_done(error ? error : symbol_no_kernel(key));
    error = symbol_resolve(symbol);
    if (error) return client_done(error);
    if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
        if (value < -1 || value > 100) return client_done(cudaErrorInvalidValue);
        symbol_here(symbol)->carveout = value + 1;
        return cudaSuccess;
    }
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
        return client_done(set_cluster(symbol_here(symbol), attribute, value));
    int most = client_facts()->shared_per_block_optin
             - (int)symbol_here(symbol)->found.kernel.shared_bytes;
    if (value < 0 || value > most)
        return client_done(client_refuse(
            "cudaFuncSetAttribute", cudaErrorInvalidValue,
            "A block's shared memory is limited; the kernel's own __shared__ arrays count as well.",
            "Launch with less dynamic shared memory, or make the kernel's own arrays smaller.",
            "asks for %d bytes of dynamic shared memory, and this kernel may have %d", value,
            most));
    symbol_here(symbol)->dynamic_limit = (size_t)value;
    return cudaSuccess;
}

EXPORT cudaError_t cudaFuncSetCacheConfig(const void *key, enum cudaFuncCache config)
{
    if ((unsigned)config > cudaFuncCachePreferEqual) // a valid value is only a preference
        return client_done(cudaErrorInvalidValue);
    return client_done(symbol_find(key, false) ? client_sticky() : symbol_no_kernel(key));
}

EXPORT cudaError_t cudaFuncSetSharedMemConfig(const void *key, enum cudaSharedMemConfig config)
{
    // A valid value changes nothing: banks are four bytes wide.
    if ((unsigned)config > cudaSharedMemBankSizeEightByte)
        return client_done(cudaErrorInvalidValue);
    return client_done(symbol_find(key, false) ? client_sticky() : symbol_no_kernel(key));
}

// A cudaFunction_t is the same pointer as the kernel's cudaKernel_t.
EXPORT cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *key)
{
    Symbol *symbol = symbol_find(key, false);
    if (!function || !symbol)
        return client_done(function ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
    *function = (cudaFunction_t)symbol;
    return cudaSuccess;
}

EXPORT cudaError_t cudaFuncGetParamInfo(const void *key, size_t index, size_t *offset, size_t *size)
{
    Symbol *symbol = symbol_find(key, false);
    cudaError_t error = client_open();
    if (!error) error = symbol ? symbol_resolve(symbol) : symbol_no_kernel(key);
    if (!error && (!offset || index >= symbol_here(symbol)->found.kernel.count))
        error = cudaErrorInvalidValue;
    if (error) return client_done(error);
    *offset = symbol->parameters[index].offset;
    if (size) *size = symbol->parameters[index].size;
    return cudaSuccess;
}

EXPORT cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                   enum cudaFuncAttribute attribute, int value,
                                                   int device)
{
    cudaError_t error = client_open();
    if (error || device < 0 || device >= client_facts()->device_count)
        return client_done(error ? error : cudaErrorInvalidDevice);
    uint32_t current = client_use_device((uint32_t)device);
    error = cudaFuncSetAttribute(kernel, attribute, value);
    client_use_device(current);
    return error;
}

EXPORT cudaError_t cudaFuncGetName(const char **name, const void *key)
{
    Symbol *symbol = symbol_find(key, false);
    if (!name || !symbol) return client_done(name ? symbol_no_kernel(key) : cudaErrorInvalidValue);
    *name = symbol->name;
    return cudaSuccess;
}

// ---- Occupancy ----

// *blocks: how many blocks of `threads` threads an SM holds at once.
static cudaError_t blocks_of(const char *call, Symbol *symbol, int threads, size_t shared,
                             int *blocks)
{
    if (threads <= 0)
        return client_refuse(call, cudaErrorInvalidValue, "A block has at least one thread.",
                             "Pass the number of threads of a block.",
                             "was given blocks of %d threads", threads);
    WireRequest request = client_request(WIRE_OCCUPANCY, call);
    request.launch.kernel = symbol_here(symbol)->found.kernel.id;
    request.launch.block[0] = (uint32_t)threads;
    request.launch.dynamic_shared = shared;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error)
        *blocks = shared > symbol_here(symbol)->dynamic_limit ? 0 : (int)reply.occupancy.blocks;
    return error;
}

static cudaError_t kernel_of(const void *key, Symbol **symbol)
{
    cudaError_t error = client_open();
    if (error) return error;
    *symbol = symbol_find(key, false);
    return *symbol ? symbol_resolve(*symbol) : symbol_no_kernel(key);
}

EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *kernel, int threads, size_t shared, unsigned flags)
{
    // cudaOccupancyDisableCachingOverride concerns caching in older devices and changes nothing
    // here.
    if (!blocks || (flags & ~(unsigned)cudaOccupancyDisableCachingOverride))
        return client_done(cudaErrorInvalidValue);
    Symbol *symbol;
    cudaError_t error = kernel_of(kernel, &symbol);
    if (!error)
        error = blocks_of("cudaOccupancyMaxActiveBlocksPerMultiprocessor", symbol, threads, shared,
                          blocks);
    return client_done(error);
}

EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                                 int threads, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared,
                                                                  cudaOccupancyDefault);
}

EXPORT cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *kernel,
                                                             int blocks, int threads)
{
    Symbol *symbol;
    cudaError_t error = kernel_of(kernel, &symbol);
    if (!error && (!bytes || blocks <= 0 || threads <= 0)) error = cudaErrorInvalidValue;
    if (error) return client_done(error);
    WireRequest request =
        client_request(WIRE_OCCUPANCY, "cudaOccupancyAvailableDynamicSMemPerBlock");
    request.launch.kernel = symbol_here(symbol)->found.kernel.id;
    request.launch.grid[0] = (uint32_t)blocks;
    request.launch.block[0] = (uint32_t)threads;
    request.launch.dynamic_limit = symbol_here(symbol)->dynamic_limit;
    request.launch.carveout = (uint32_t)symbol_here(symbol)->carveout;
    WireReply reply;
    error = client_simple(&request, &reply);
    if (!error) *bytes = reply.occupancy.bytes;
    return client_done(error);
}

// ---- Clusters ----

// Does the launch configuration give a cluster size? *cluster receives it.
static bool says_cluster(const cudaLaunchConfig_t *config, dim3 *cluster)
{
    bool says = false;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttributeValue *value = &config->attrs[i].val;
        if (config->attrs[i].id != cudaLaunchAttributeClusterDimension) continue;
        *cluster = (dim3){ value->clusterDim.x, value->clusterDim.y, value->clusterDim.z };
        says = true;
    }
    return says;
}

bool client_divides(dim3 cluster, dim3 grid)
{
    return cluster.x && cluster.y && cluster.z && grid.x % cluster.x == 0 && grid.y % cluster.y == 0
        && grid.z % cluster.z == 0;
}

static cudaError_t clusters_of(const char *call, Symbol *symbol, const cudaLaunchConfig_t *config,
                               uint32_t size, int *clusters)
{
    WireRequest request = client_request(WIRE_OCCUPANCY, call);
    request.launch.kernel = symbol_here(symbol)->found.kernel.id;
    request.launch.block[0] = config->blockDim.x * config->blockDim.y * config->blockDim.z;
    request.launch.dynamic_shared = config->dynamicSmemBytes;
    request.launch.cluster[0] = size;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error)
        *clusters = config->dynamicSmemBytes > symbol_here(symbol)->dynamic_limit
                      ? 0
                      : (int)reply.occupancy.clusters;
    return error;
}

EXPORT cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *kernel,
                                                  const cudaLaunchConfig_t *config)
{
    Symbol *symbol;
    cudaError_t error = kernel_of(kernel, &symbol);
    if (!error && (!clusters || !config)) error = cudaErrorInvalidValue;
    if (error) return client_done(error);
    const Resolved *here = symbol_here(symbol);
    const dim3 needs = { here->cluster[0], here->cluster[1], here->cluster[2] };
    dim3 cluster = needs;
    if (!says_cluster(config, &cluster) && !needs.x) {
        *clusters = 0;
        return cudaSuccess;
    }
    bool differs =
        needs.x && (needs.x != cluster.x || needs.y != cluster.y || needs.z != cluster.z);
    uint32_t size = cluster.x * cluster.y * cluster.z;
    if (differs || !client_divides(cluster, config->gridDim)
        || (size > CLIENT_PORTABLE_CLUSTER_BLOCKS && !here->not_portable))
        return client_done(cudaErrorInvalidClusterSize);
    return client_done(
        clusters_of("cudaOccupancyMaxActiveClusters", symbol, config, size, clusters));
}

EXPORT cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *kernel,
                                                        const cudaLaunchConfig_t *config)
{
    Symbol *symbol;
    cudaError_t error = kernel_of(kernel, &symbol);
    if (!error && (!size || !config)) error = cudaErrorInvalidValue;
    uint32_t most = error                             ? 0
                  : symbol_here(symbol)->not_portable ? CLIENT_CLUSTER_BLOCKS
                                                      : CLIENT_PORTABLE_CLUSTER_BLOCKS;
    int clusters = 0;
    while (most && !error && !clusters) {
        error =
            clusters_of("cudaOccupancyMaxPotentialClusterSize", symbol, config, most, &clusters);
        if (!clusters) most /= 2;
    }
    if (!error) *size = (int)most;
    return client_done(error);
}
