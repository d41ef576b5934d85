// The devices as the program sees them: their properties and attributes, and which one is current.

#include "client.h"
#include "host.h"
#include <stdio.h>
#include <string.h>
#include <cuda_runtime_api.h>

enum {
    WARP_SIZE = 32,
    BLOCK_THREADS = 1024,
    CONSTANT_BYTES = 65536,
    TEXTURE_ALIGN = 512,
    FIRST_BUS = 0x10 // PCI bus of the machine's device 0; each device has a bus of its own
};

// For calls that need a context: after a kernel has failed they return its error. Calls that only
// ask about the devices still succeed.
static cudaError_t opened(void)
{
    cudaError_t error = client_open();
    return error ? error : client_sticky();
}

static bool is_device(int ordinal)
{
    return ordinal >= 0 && ordinal < client_facts()->device_count;
}

EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count) return client_done(cudaErrorInvalidValue);
    // This call is allowed in host functions.
    cudaError_t error = host_is_inside() ? cudaSuccess : client_open();
    if (!error) *count = client_facts()->device_count;
    return client_done(error);
}

EXPORT cudaError_t cudaGetDevice(int *ordinal)
{
    if (!ordinal) return client_done(cudaErrorInvalidValue);
    *ordinal = (int)client_device();
    return client_done(client_open());
}

EXPORT cudaError_t cudaSetDevice(int ordinal)
{
    cudaError_t error = client_open();
    if (!error)
        error = is_device(ordinal) ? client_context() : client_no_device("cudaSetDevice", ordinal);
    if (error) return client_done(error);
    client_use_device((uint32_t)ordinal);
    return cudaSuccess;
}

// The devices for threads that choose none, in the order of preference; count 0: any device. All
// devices can be used, so only the first matters.
EXPORT cudaError_t cudaSetValidDevices(int *ordinals, int count)
{
    cudaError_t error = client_open();
    if (error) return client_done(error);
    if (count < 0 || count > client_facts()->device_count || (count && !ordinals))
        return client_done(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++)
        if (!is_device(ordinals[i]))
            return client_done(client_no_device("cudaSetValidDevices", ordinals[i]));
    client_prefer_device(count ? (uint32_t)ordinals[0] : 0);
    return cudaSuccess;
}

// All devices are equal, so the first is as good as any.
EXPORT cudaError_t cudaChooseDevice(int *ordinal, const struct cudaDeviceProp *wanted)
{
    cudaError_t error = client_open();
    if (error || !ordinal || !wanted) return client_done(error ? error : cudaErrorInvalidValue);
    *ordinal = 0;
    return cudaSuccess;
}

static unsigned device_flags =
    cudaDeviceMapHost; // of all devices: how the host waits makes no difference in the simulator

EXPORT cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    static const unsigned not_kept = 0x60; // bits without a name, which an H200 accepts and ignores
    unsigned wait = flags & cudaDeviceScheduleMask;
    bool good =
        !(flags & ~(unsigned)cudaDeviceMask) && !(wait & (wait - 1)); // at most one scheduling flag
    cudaError_t error = good ? client_context() : cudaErrorInvalidValue;
    if (!error) device_flags = (flags & ~not_kept) | cudaDeviceMapHost;
    return client_done(error);
}

EXPORT cudaError_t cudaInitDevice(int ordinal, unsigned wanted, unsigned flags)
{
    cudaError_t error = cudaSetDevice(ordinal);
    return error || !(flags & cudaInitDeviceFlagsAreValid) ? error : cudaSetDeviceFlags(wanted);
}

EXPORT cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    if (!flags) return client_done(cudaErrorInvalidValue);
    *flags = device_flags;
    return client_done(client_open());
}

EXPORT cudaError_t cudaDeviceReset(void)
{
    client_unregister_all();
    WireRequest request = client_request(WIRE_RESET, "cudaDeviceReset");
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error && !client_sticky()) {
        client_streams_reset(client_device());
        client_streams_forget(client_device());
        client_unmap_all();
        client_limits_reset();
    }
    return client_done(error);
}

EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
    if (!version) return client_done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

EXPORT cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }

// A feature that the simulated device lacks is 0 here, even if the imitated GPU has it.
static void fill_properties(struct cudaDeviceProp *out, const WireFacts *facts, int ordinal)
{
    *out = (struct cudaDeviceProp){
        .totalGlobalMem = facts->memory_bytes,
        .sharedMemPerBlock = (size_t)facts->shared_per_block,
        .regsPerBlock = facts->registers_per_sm,
        .warpSize = WARP_SIZE,
        .memPitch = INT32_MAX,
        .maxThreadsPerBlock = BLOCK_THREADS,
        .maxThreadsDim = { 1024, 1024, 64 },
        .maxGridSize = { INT32_MAX, 65535, 65535 },
        .totalConstMem = CONSTANT_BYTES,
        .major = facts->major,
        .minor = facts->minor,
        .textureAlignment = TEXTURE_ALIGN,
        .texturePitchAlignment = WARP_SIZE,
        .multiProcessorCount = facts->sm_count,
        .concurrentKernels = 1,
        .streamPrioritiesSupported = 1,
        .memoryPoolsSupported = 1,
        .asyncEngineCount = 3,
        .unifiedAddressing = 1,
        .canMapHostMemory = 1,
        .managedMemory = 1,
        .concurrentManagedAccess = 1,
        .cooperativeLaunch = 1,
        .clusterLaunch = facts->major >= 9,
        .unifiedFunctionPointers = facts->major >= 9,
        .hostRegisterSupported = 1,
        .ipcEventSupported = 1,
        .memoryBusWidth = facts->memory_bus_bits,
        .l2CacheSize = facts->l2_bytes,
        .persistingL2CacheMaxSize = CLIENT_PERSISTING_STEP * 10,
        .accessPolicyMaxWindowSize = CLIENT_LARGEST_WINDOW,
        .maxThreadsPerMultiProcessor = facts->threads_per_sm,
        .globalL1CacheSupported = 1,
        .localL1CacheSupported = 1,
        .sharedMemPerMultiprocessor = (size_t)facts->shared_per_sm,
        .regsPerMultiprocessor = facts->registers_per_sm,
        .sharedMemPerBlockOptin = (size_t)facts->shared_per_block_optin,
        .maxBlocksPerMultiProcessor = facts->blocks_per_sm,
        .reservedSharedMemPerBlock = (size_t)facts->shared_reserved,
        .deviceNumaId = -1, // its memory is no NUMA node of the host
        .pciBusID = FIRST_BUS + facts->number[ordinal],
    };
    memcpy(out->name, facts->name, sizeof out->name);
    char uuid[sizeof out->uuid.bytes + 1];
    snprintf(uuid, sizeof uuid, "warpwise device%c", 'A' + facts->number[ordinal]);
    memcpy(out->uuid.bytes, uuid, sizeof out->uuid.bytes);
}

EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int ordinal)
{
    cudaError_t error = client_open();
    if (error) return client_done(error);
    if (!is_device(ordinal))
        return client_done(client_no_device("cudaGetDeviceProperties", ordinal));
    if (!out) return client_done(cudaErrorInvalidValue);
    fill_properties(out, client_facts(), ordinal);
    return cudaSuccess;
}

// The ratio of single precision to double precision throughput, by compute capability (CUDA C++
// Programming Guide, the table of arithmetic instructions).
static int single_to_double(const struct cudaDeviceProp *p)
{
    bool for_science = p->minor == 0 && p->major != 12;
    return for_science ? 2 : p->major < 8 ? 32 : 64;
}

// A table: the attributes, most of which are properties under another name. False: there is no such
// attribute.
static bool attribute_value(enum cudaDeviceAttr which, const struct cudaDeviceProp *p, int *value)
{
    switch (which) {
#define X(name, expression)                                                                        \
    case cudaDevAttr##name: *value = (int)(expression); return true;
        X(MaxThreadsPerBlock, p->maxThreadsPerBlock)
        X(MaxBlockDimX, p->maxThreadsDim[0])
        X(MaxBlockDimY, p->maxThreadsDim[1])
        X(MaxBlockDimZ, p->maxThreadsDim[2])
        X(MaxGridDimX, p->maxGridSize[0])
        X(MaxGridDimY, p->maxGridSize[1])
        X(MaxGridDimZ, p->maxGridSize[2])
        X(MaxSharedMemoryPerBlock, p->sharedMemPerBlock)
        X(TotalConstantMemory, p->totalConstMem)
        X(WarpSize, p->warpSize)
        X(MaxPitch, p->memPitch)
        X(MaxRegistersPerBlock, p->regsPerBlock)
        X(ClockRate, client_facts()->clock_khz)
        X(TextureAlignment, p->textureAlignment)
        X(GpuOverlap, p->asyncEngineCount > 0)
        X(MultiProcessorCount, p->multiProcessorCount)
        X(KernelExecTimeout, 0)
        X(Integrated, p->integrated)
        X(CanMapHostMemory, p->canMapHostMemory)
        X(ComputeMode, cudaComputeModeDefault)
        X(MaxTexture1DWidth, p->maxTexture1D)
        X(MaxTexture2DWidth, p->maxTexture2D[0])
        X(MaxTexture2DHeight, p->maxTexture2D[1])
        X(MaxTexture3DWidth, p->maxTexture3D[0])
        X(MaxTexture3DHeight, p->maxTexture3D[1])
        X(MaxTexture3DDepth, p->maxTexture3D[2])
        X(MaxTexture2DLayeredWidth, p->maxTexture2DLayered[0])
        X(MaxTexture2DLayeredHeight, p->maxTexture2DLayered[1])
        X(MaxTexture2DLayeredLayers, p->maxTexture2DLayered[2])
        X(SurfaceAlignment, p->surfaceAlignment)
        X(ConcurrentKernels, p->concurrentKernels)
        X(EccEnabled, p->ECCEnabled)
        X(PciBusId, p->pciBusID)
        X(PciDeviceId, p->pciDeviceID)
        X(TccDriver, p->tccDriver)
        X(MemoryClockRate, client_facts()->memory_clock_khz)
        X(GlobalMemoryBusWidth, p->memoryBusWidth)
        X(L2CacheSize, p->l2CacheSize)
        X(MaxThreadsPerMultiProcessor, p->maxThreadsPerMultiProcessor)
        X(AsyncEngineCount, p->asyncEngineCount)
        X(UnifiedAddressing, p->unifiedAddressing)
        X(MaxTexture1DLayeredWidth, p->maxTexture1DLayered[0])
        X(MaxTexture1DLayeredLayers, p->maxTexture1DLayered[1])
        X(MaxTexture2DGatherWidth, p->maxTexture2DGather[0])
        X(MaxTexture2DGatherHeight, p->maxTexture2DGather[1])
        X(MaxTexture3DWidthAlt, p->maxTexture3DAlt[0])
        X(MaxTexture3DHeightAlt, p->maxTexture3DAlt[1])
        X(MaxTexture3DDepthAlt, p->maxTexture3DAlt[2])
        X(PciDomainId, p->pciDomainID)
        X(TexturePitchAlignment, p->texturePitchAlignment)
        X(MaxTextureCubemapWidth, p->maxTextureCubemap)
        X(MaxTextureCubemapLayeredWidth, p->maxTextureCubemapLayered[0])
        X(MaxTextureCubemapLayeredLayers, p->maxTextureCubemapLayered[1])
        X(MaxSurface1DWidth, p->maxSurface1D)
        X(MaxSurface2DWidth, p->maxSurface2D[0])
        X(MaxSurface2DHeight, p->maxSurface2D[1])
        X(MaxSurface3DWidth, p->maxSurface3D[0])
        X(MaxSurface3DHeight, p->maxSurface3D[1])
        X(MaxSurface3DDepth, p->maxSurface3D[2])
        X(MaxSurface1DLayeredWidth, p->maxSurface1DLayered[0])
        X(MaxSurface1DLayeredLayers, p->maxSurface1DLayered[1])
        X(MaxSurface2DLayeredWidth, p->maxSurface2DLayered[0])
        X(MaxSurface2DLayeredHeight, p->maxSurface2DLayered[1])
        X(MaxSurface2DLayeredLayers, p->maxSurface2DLayered[2])
        X(MaxSurfaceCubemapWidth, p->maxSurfaceCubemap)
        X(MaxSurfaceCubemapLayeredWidth, p->maxSurfaceCubemapLayered[0])
        X(MaxSurfaceCubemapLayeredLayers, p->maxSurfaceCubemapLayered[1])
        X(MaxTexture1DLinearWidth, 0)
        X(MaxTexture2DLinearWidth, p->maxTexture2DLinear[0])
        X(MaxTexture2DLinearHeight, p->maxTexture2DLinear[1])
        X(MaxTexture2DLinearPitch, p->maxTexture2DLinear[2])
        X(MaxTexture2DMipmappedWidth, p->maxTexture2DMipmap[0])
        X(MaxTexture2DMipmappedHeight, p->maxTexture2DMipmap[1])
        X(ComputeCapabilityMajor, p->major)
        X(ComputeCapabilityMinor, p->minor)
        X(MaxTexture1DMipmappedWidth, p->maxTexture1DMipmap)
        X(StreamPrioritiesSupported, p->streamPrioritiesSupported)
        X(GlobalL1CacheSupported, p->globalL1CacheSupported)
        X(LocalL1CacheSupported, p->localL1CacheSupported)
        X(MaxSharedMemoryPerMultiprocessor, p->sharedMemPerMultiprocessor)
        X(MaxRegistersPerMultiprocessor, p->regsPerMultiprocessor)
        X(ManagedMemory, p->managedMemory)
        X(IsMultiGpuBoard, p->isMultiGpuBoard)
        X(MultiGpuBoardGroupID, p->multiGpuBoardGroupID)
        X(HostNativeAtomicSupported, p->hostNativeAtomicSupported)
        X(SingleToDoublePrecisionPerfRatio, single_to_double(p))
        X(PageableMemoryAccess, p->pageableMemoryAccess)
        X(ConcurrentManagedAccess, p->concurrentManagedAccess)
        X(ComputePreemptionSupported, p->computePreemptionSupported)
        X(CanUseHostPointerForRegisteredMem, p->canUseHostPointerForRegisteredMem)
        X(CooperativeLaunch, p->cooperativeLaunch)
        X(MaxSharedMemoryPerBlockOptin, p->sharedMemPerBlockOptin)
        X(CanFlushRemoteWrites, 0)
        X(HostRegisterSupported, p->hostRegisterSupported)
        X(PageableMemoryAccessUsesHostPageTables, p->pageableMemoryAccessUsesHostPageTables)
        X(DirectManagedMemAccessFromHost, p->directManagedMemAccessFromHost)
        X(MaxBlocksPerMultiprocessor, p->maxBlocksPerMultiProcessor)
        X(MaxPersistingL2CacheSize, p->persistingL2CacheMaxSize)
        X(MaxAccessPolicyWindowSize, p->accessPolicyMaxWindowSize)
        X(ReservedSharedMemoryPerBlock, p->reservedSharedMemPerBlock)
        X(SparseCudaArraySupported, p->sparseCudaArraySupported)
        X(HostRegisterReadOnlySupported, p->hostRegisterReadOnlySupported)
        X(TimelineSemaphoreInteropSupported, p->timelineSemaphoreInteropSupported)
        X(MemoryPoolsSupported, p->memoryPoolsSupported)
        X(GPUDirectRDMASupported, p->gpuDirectRDMASupported)
        X(GPUDirectRDMAFlushWritesOptions, p->gpuDirectRDMAFlushWritesOptions)
        X(GPUDirectRDMAWritesOrdering, p->gpuDirectRDMAWritesOrdering)
        X(MemoryPoolSupportedHandleTypes, p->memoryPoolSupportedHandleTypes)
        X(ClusterLaunch, p->clusterLaunch)
        X(DeferredMappingCudaArraySupported, p->deferredMappingCudaArraySupported)
        X(IpcEventSupport, p->ipcEventSupported)
        X(MemSyncDomainCount, 4)
        X(NumaConfig, p->deviceNumaConfig)
        X(NumaId, p->deviceNumaId)
        X(MpsEnabled, p->mpsEnabled)
        X(HostNumaId, p->hostNumaId)
        X(D3D12CigSupported, 0)
        X(VulkanCigSupported, 0)
        X(GpuPciDeviceId, p->gpuPciDeviceID)
        X(GpuPciSubsystemId, p->gpuPciSubsystemID)
        X(HostNumaMemoryPoolsSupported, 0)
        X(HostNumaMultinodeIpcSupported, p->hostNumaMultinodeIpcSupported)
        X(HostMemoryPoolsSupported, 0)
        X(OnlyPartialHostNativeAtomicSupported, 0)
#undef X
    default: return false;
    }
}

EXPORT cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int ordinal)
{
    cudaError_t error = client_open();
    if (error) return client_done(error);
    if (!is_device(ordinal))
        return client_done(client_no_device("cudaDeviceGetAttribute", ordinal));
    if (!value) return client_done(cudaErrorInvalidValue);
    struct cudaDeviceProp properties;
    fill_properties(&properties, client_facts(), ordinal);
    return client_done(attribute_value(attribute, &properties, value) ? cudaSuccess
                                                                      : cudaErrorInvalidValue);
}

enum { BUS_ID_BYTES = sizeof "0000:10:00.0" };

EXPORT cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int ordinal)
{
    cudaError_t error = client_open();
    if (error) return client_done(error);
    if (!is_device(ordinal)) return client_done(client_no_device("cudaDeviceGetPCIBusId", ordinal));
    if (!text || bytes < BUS_ID_BYTES) return client_done(cudaErrorInvalidValue);
    snprintf(text, (size_t)bytes, "0000:%02x:00.0",
             (unsigned)(FIRST_BUS + client_facts()->number[ordinal]));
    return cudaSuccess;
}

// domain:bus:device.function, domain:bus:device or bus:device.function, in hexadecimal. *first: all
// numbers but the bus are 0.
static bool read_bus_id(const char *text, unsigned *bus, bool *first)
{
    unsigned domain = 0, device, function = 0;
    int end = 0;
    bool good =
        (sscanf(text, "%x:%x:%x.%x%n", &domain, bus, &device, &function, &end) == 4 && !text[end])
        || (sscanf(text, "%x:%x:%x%n", &domain, bus, &device, &end) == 3 && !text[end])
        || (sscanf(text, "%x:%x.%x%n", bus, &device, &function, &end) == 3 && !text[end]
            && !(domain = 0));
    *first = good && !domain && !device && !function;
    return good;
}

EXPORT cudaError_t cudaDeviceGetByPCIBusId(int *ordinal, const char *text)
{
    cudaError_t error = client_open();
    if (error || !ordinal || !text) return client_done(error ? error : cudaErrorInvalidValue);
    unsigned bus;
    bool first;
    if (!read_bus_id(text, &bus, &first)) return client_done(cudaErrorInvalidValue);
    for (int i = 0; is_device(i) && first; i++)
        if (bus == (unsigned)(FIRST_BUS + client_facts()->number[i])) {
            *ordinal = i;
            return cudaSuccess;
        }
    return client_done(cudaErrorInvalidDevice);
}

EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least) *least = 0;
    if (greatest) *greatest = CLIENT_GREATEST_PRIORITY;
    return client_done(opened());
}

// The simulator records all kernels in any case; these calls mark a range on the timeline.
static cudaError_t bound_range(bool begins)
{
    WireRequest request =
        client_request(WIRE_RANGE_OF_PROFILE, begins ? "cudaProfilerStart" : "cudaProfilerStop");
    request.object.id = begins;
    WireReply reply;
    cudaError_t error = opened();
    return client_done(error ? error : client_simple(&request, &reply));
}

EXPORT cudaError_t cudaProfilerStart(void) { return bound_range(true); }

EXPORT cudaError_t cudaProfilerStop(void) { return bound_range(false); }

EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){ x, y, z, w, f };
}
