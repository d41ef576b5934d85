// How many blocks of a kernel a multiprocessor holds at once, by the rules in the toolkit's
// cuda_occupancy.h.
#include <cuda_occupancy.h>

#include "cluster.h"
#include "occupancy.h"
#include "profile.h"

static cudaOccDeviceProp device(void)
{
    return (cudaOccDeviceProp){
        .computeMajor = profile.major,
        .computeMinor = profile.minor,
        .maxThreadsPerBlock = 1024,
        .maxThreadsPerMultiprocessor = profile.max_threads_per_sm,
        .regsPerBlock = profile.registers_per_sm,
        .regsPerMultiprocessor = profile.registers_per_sm,
        .warpSize = LANES,
        .sharedMemPerBlock = profile.shared_per_block,
        .sharedMemPerMultiprocessor = profile.shared_per_sm,
        .numSms = profile.sm_count,
        .sharedMemPerBlockOptin = profile.shared_per_block_optin,
        .reservedSharedMemPerBlock = profile.shared_reserved_per_block,
    };
}

static const cudaOccDeviceState state = { .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT };

static cudaOccFuncAttributes attributes(const Kernel *k, u32 dynamic_limit)
{
    return (cudaOccFuncAttributes){ .maxThreadsPerBlock = k->max_threads,
                                    .numRegs = k->hardware_registers,
                                    .sharedSizeBytes = k->shared_bytes,
                                    .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                                    .maxDynamicSharedSizeBytes = dynamic_limit,
                                    .numBlockBarriers = 1 };
}

Occupancy occupancy_blocks(const Kernel *k, u32 threads, u32 dynamic_shared)
{
    cudaOccDeviceProp properties = device();
    cudaOccFuncAttributes function = attributes(k, dynamic_shared);
    cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &function, &state, threads,
                                                dynamic_shared))
        return (Occupancy){ 0 };
    Occupancy o = { .blocks = result.activeBlocksPerMultiprocessor,
                    .limits = { result.blockLimitWarps, result.blockLimitBlocks,
                                result.blockLimitRegs, result.blockLimitSharedMem } };
    for (u32 n = 1; n < OCCUPANCY_LIMITS; n++)
        if (o.limits[n] < o.limits[o.limit]) o.limit = n;
    return o;
}

bool occupancy_available(const Kernel *k, u32 threads, u32 blocks, u32 limit, int carveout,
                         u64 *bytes)
{
    cudaOccDeviceState preferred = { .carveoutConfig = carveout };
    cudaOccDeviceProp properties = device();
    cudaOccFuncAttributes function = attributes(k, limit);
    size_t available;
    if (cudaOccAvailableDynamicSMemPerBlock(&available, &properties, &function, &preferred,
                                            (int)blocks, (int)threads))
        return false;
    *bytes = available;
    return true;
}

u32 occupancy_clusters(u32 blocks_per_sm, u32 size)
{
    enum { MOST = 8 }; // blocks of clusters on a multiprocessor, as an H200 answers
    u32 clusters = 0, each = blocks_per_sm < MOST ? blocks_per_sm : MOST;
    for (int n = 0; size && n < profile.cluster_groups; n++) {
        u32 sms = (u32)profile.cluster_sms[n];
        if (sms >= size) clusters += each * sms / size;
    }
    return clusters;
}

u32 occupancy_resident(const Launch *l)
{
    u32 blocks =
            occupancy_blocks(l->kernel, l->block[0] * l->block[1] * l->block[2], l->dynamic_shared)
                .blocks,
        size = cluster_blocks(l);
    if (!blocks) blocks = 1;
    return size > 1 ? occupancy_clusters(blocks, size) * size : blocks * profile.sm_count;
}
