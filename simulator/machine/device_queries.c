// What kernels ask CUDA's runtime about their device and about kernels, as libraries do before they
// launch.
#include <driver_types.h>
#include <stdio.h>

#include "dynamic_launch.h"
#include "grid_state.h"
#include "occupancy.h"
#include "profile.h"
#include "source_fill.h"

void run_get_device(Warp *w, const Insn *i, u32 mask)
{
    const u64 *to = row_of(w, i->a);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        bool good =
            dynamic_launch_store(w, i, lane, to[lane], w->block->grid->launch->device, sizeof(u32));
        dynamic_launch_return(w, i, lane, good ? 0 : cudaErrorInvalidValue);
    }
}

// False: this device has no such attribute.
static bool attribute(u32 which, u32 *value)
{
    switch (which) {
#define X(name, expression)                                                                        \
    case cudaDevAttr##name: *value = (u32)(expression); return true;
        X(MaxThreadsPerBlock, 1024)
        X(MaxBlockDimX, grid_most_threads[0])
        X(MaxBlockDimY, grid_most_threads[1])
        X(MaxBlockDimZ, grid_most_threads[2])
        X(MaxGridDimX, grid_most_blocks[0])
        X(MaxGridDimY, grid_most_blocks[1])
        X(MaxGridDimZ, grid_most_blocks[2])
        X(WarpSize, LANES)
        X(MaxSharedMemoryPerBlock, profile.shared_per_block)
        X(MaxSharedMemoryPerBlockOptin, profile.shared_per_block_optin)
        X(MaxSharedMemoryPerMultiprocessor, profile.shared_per_sm)
        X(ReservedSharedMemoryPerBlock, profile.shared_reserved_per_block)
        X(MaxRegistersPerBlock, profile.registers_per_sm)
        X(MaxRegistersPerMultiprocessor, profile.registers_per_sm)
        X(MultiProcessorCount, profile.sm_count)
        X(MaxThreadsPerMultiProcessor, profile.max_threads_per_sm)
        X(MaxBlocksPerMultiprocessor, profile.max_blocks_per_sm)
        X(L2CacheSize, profile.l2_bytes)
        X(ComputeCapabilityMajor, profile.major)
        X(ComputeCapabilityMinor, profile.minor)
#undef X
    default: return false;
    }
}

static void refuse(Warp *w, const Insn *i, u32 lane, u32 which)
{
    Report r = { .cause = CAUSE_attribute_unknown_to_kernels,
                 .number = { { "attribute", which } } };
    source_fill(&r, w, i, lane);
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorNotSupported);
}

// __cudaCDP2DeviceGetAttribute(value, attribute, device); all devices are alike.
void run_device_attribute(Warp *w, const Insn *i, u32 mask)
{
    const u64 *to = row_of(w, i->a);
    const u32 *which = row_of(w, i->b);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask), value;
        if (!attribute(which[lane], &value)) {
            refuse(w, i, lane, which[lane]);
            return;
        }
        bool good = dynamic_launch_store(w, i, lane, to[lane], value, sizeof value);
        dynamic_launch_return(w, i, lane, good ? 0 : cudaErrorInvalidValue);
    }
}

// __cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, threads, shared,
// flags)
void run_occupancy(Warp *w, const Insn *i, u32 mask)
{
    const u64 *to = row_of(w, i->a), *kernel = row_of(w, i->b), *shared = row_of(w, i->vector[0]);
    const u32 *threads = row_of(w, i->c);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask);
        const Kernel *k = module_kernel_at(w->block->grid->kernel->module, kernel[lane]);
        bool asked = k && threads[lane] && shared[lane] <= UINT32_MAX;
        u32 blocks = asked && threads[lane] <= k->max_threads
                       ? occupancy_blocks(k, threads[lane], (u32)shared[lane]).blocks
                       : 0;
        bool good = asked && dynamic_launch_store(w, i, lane, to[lane], blocks, sizeof blocks);
        dynamic_launch_return(w, i, lane,
                              good ? 0
                              : k  ? cudaErrorInvalidValue
                                   : cudaErrorInvalidDeviceFunction);
    }
}
