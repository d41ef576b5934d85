// Memory pools, and stream-ordered allocation. The handle of a pool is its id.

#include "capture.h"
#include "graph_memory.h"
#include <cuda_runtime_api.h>
#include <string.h>

static WireRequest pool_request(enum wire_op op, const char *call, cudaMemPool_t pool)
{
    WireRequest request = client_request(op, call);
    request.pool.id = client_address(pool);
    return request;
}

// ---- Pools ----

static bool is_clean(const struct cudaMemPoolProps *p)
{
    static const struct cudaMemPoolProps unused;
    return !memcmp(p->reserved, unused.reserved, sizeof unused.reserved);
}

EXPORT cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *wanted)
{
    cudaError_t error = client_open();
    if (error || !pool || !wanted || wanted->allocType != cudaMemAllocationTypePinned)
        return client_done(error ? error : cudaErrorInvalidValue);
    if (!is_clean(wanted) || (unsigned)wanted->location.type > cudaMemLocationTypeHostNumaCurrent)
        return client_done(cudaErrorInvalidValue);
    if (wanted->location.type != cudaMemLocationTypeDevice)
        return client_unsupported("cudaMemPoolCreate of host memory");
    if ((unsigned)wanted->handleTypes > cudaMemHandleTypeFabric)
        return client_done(cudaErrorInvalidValue);
    if (wanted->handleTypes != cudaMemHandleTypeNone)
        return client_unsupported("cudaMemPoolCreate of memory to share with other processes");
    if (wanted->location.id < 0 || wanted->location.id >= client_facts()->device_count)
        return client_done(cudaErrorInvalidValue);
    error = capture_forbids("cudaMemPoolCreate");
    if (error) return client_done(error);
    WireRequest request = pool_request(WIRE_POOL_CREATE, "cudaMemPoolCreate", NULL);
    request.device = (uint32_t)wanted->location.id;
    request.pool.bytes = wanted->maxSize;
    WireReply reply;
    error = client_simple(&request, &reply);
    if (!error) *pool = (cudaMemPool_t)(uintptr_t)reply.id;
    return client_done(error);
}

static cudaError_t on_pool(enum wire_op op, const char *call, cudaMemPool_t pool, size_t bytes)
{
    cudaError_t error = pool ? capture_forbids(call) : cudaErrorInvalidValue;
    if (error) return client_done(error);
    WireRequest request = pool_request(op, call, pool);
    request.pool.bytes = bytes;
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return on_pool(WIRE_POOL_DESTROY, "cudaMemPoolDestroy", pool, 0);
}

EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
    return on_pool(WIRE_POOL_TRIM, "cudaMemPoolTrimTo", pool, bytes);
}

static cudaError_t find(const char *call, cudaMemPool_t *pool, int device, bool by_default)
{
    cudaError_t error = client_open();
    if (error || !pool) return client_done(error ? error : cudaErrorInvalidValue);
    if (device < 0 || device >= client_facts()->device_count)
        return client_done(by_default ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    WireRequest request = client_request(WIRE_POOL_FIND, call);
    request.device = (uint32_t)device;
    request.pool.id = by_default;
    WireReply reply;
    error = client_simple(&request, &reply);
    if (!error) *pool = (cudaMemPool_t)(uintptr_t)reply.id;
    return client_done(error);
}

EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    return find("cudaDeviceGetDefaultMemPool", pool, device, true);
}

EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return find("cudaDeviceGetMemPool", pool, device, false);
}

// For the calls that name a pool by its location. Only device memory has pools here.
static cudaError_t check_place(const struct cudaMemLocation *location,
                               enum cudaMemAllocationType type)
{
    bool pinned = type == cudaMemAllocationTypePinned;
    if (!location || (!pinned && type != cudaMemAllocationTypeManaged))
        return cudaErrorInvalidValue;
    if (!pinned || location->type != cudaMemLocationTypeDevice)
        return client_unsupported("a memory pool of other than a device's memory");
    cudaError_t error = client_open();
    bool there = location->id >= 0 && (error || location->id < client_facts()->device_count);
    return error || there ? error : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                            enum cudaMemAllocationType type)
{
    cudaError_t error = check_place(location, type);
    return error ? client_done(error) : cudaDeviceGetDefaultMemPool(pool, location->id);
}

EXPORT cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                     enum cudaMemAllocationType type)
{
    cudaError_t error = check_place(location, type);
    return error ? client_done(error) : cudaDeviceGetMemPool(pool, location->id);
}

EXPORT cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location,
                                     enum cudaMemAllocationType type, cudaMemPool_t pool)
{
    cudaError_t error = check_place(location, type);
    return error ? client_done(error) : cudaDeviceSetMemPool(location->id, pool);
}

EXPORT cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    cudaError_t error = client_open();
    if (error || !pool) return client_done(error ? error : cudaErrorInvalidValue);
    if (device < 0 || device >= client_facts()->device_count)
        return client_done(cudaErrorInvalidValue);
    WireRequest request = pool_request(WIRE_POOL_CHOOSE, "cudaDeviceSetMemPool", pool);
    request.device = (uint32_t)device;
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

// The reuse policies are ints, the other attributes are 64-bit counts of bytes.
static size_t value_bytes(enum cudaMemPoolAttr attribute)
{
    return attribute <= cudaMemPoolReuseAllowInternalDependencies ? sizeof(int) : sizeof(uint64_t);
}

static cudaError_t attribute(const char *call, cudaMemPool_t pool, enum cudaMemPoolAttr which,
                             void *value, bool set)
{
    if (!pool || !value) return client_done(cudaErrorInvalidValue);
    WireRequest request = pool_request(WIRE_POOL_ATTRIBUTE, call, pool);
    request.pool.attribute = which;
    request.pool.set = set;
    if (set) memcpy(&request.pool.bytes, value, value_bytes(which));
    if (set && value_bytes(which) == sizeof(int)) request.pool.bytes = request.pool.bytes != 0;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error && !set) memcpy(value, &reply.pool.value, value_bytes(which));
    return client_done(error);
}

EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr which,
                                           void *value)
{
    return attribute("cudaMemPoolSetAttribute", pool, which, value, true);
}

EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr which,
                                           void *value)
{
    return attribute("cudaMemPoolGetAttribute", pool, which, value, false);
}

static cudaError_t access(const char *call, cudaMemPool_t pool,
                          const struct cudaMemLocation *location, bool set, bool allowed,
                          bool *is_allowed)
{
    bool there = location->id >= 0 && location->id < client_facts()->device_count;
    if (!pool || location->type != cudaMemLocationTypeDevice || (!set && !there))
        return cudaErrorInvalidValue;
    WireRequest request = pool_request(WIRE_POOL_ACCESS, call, pool);
    request.pool.attribute = (uint32_t)location->id;
    request.pool.set = set;
    request.pool.bytes = allowed;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    *is_allowed = !error && reply.pool.value;
    return error;
}

EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list,
                                        size_t count)
{
    cudaError_t error = list || !count ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && !error; i++) {
        bool now;
        if (list[i].flags != cudaMemAccessFlagsProtRead
            && list[i].flags != cudaMemAccessFlagsProtNone
            && list[i].flags != cudaMemAccessFlagsProtReadWrite)
            return client_done(cudaErrorInvalidValue);
        if (list[i].flags != cudaMemAccessFlagsProtNone
            && list[i].flags != cudaMemAccessFlagsProtReadWrite)
            return client_unsupported("cudaMemPoolSetAccess for reading alone");
        error = access("cudaMemPoolSetAccess", pool, &list[i].location, true,
                       list[i].flags == cudaMemAccessFlagsProtReadWrite, &now);
    }
    return client_done(error);
}

EXPORT cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                        struct cudaMemLocation *location)
{
    bool allowed;
    if (!flags || !location) return client_done(cudaErrorInvalidValue);
    cudaError_t error = access("cudaMemPoolGetAccess", pool, location, false, false, &allowed);
    if (!error) *flags = allowed ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return client_done(error);
}

// No pool can be shared, because cudaMemPoolCreate() makes none with shareable handles.
EXPORT cudaError_t cudaMemPoolExportToShareableHandle(void *handle, cudaMemPool_t pool,
                                                      enum cudaMemAllocationHandleType type,
                                                      unsigned flags)
{
    (void)handle, (void)pool, (void)type, (void)flags;
    cudaError_t error = client_open();
    return client_done(error ? error : cudaErrorInvalidValue);
}

// ---- Allocating and freeing ----

// On a captured stream: adds a node that allocates when the graph is launched.
static cudaError_t allocate_in_graph(const char *call, void **out, size_t bytes,
                                     cudaStream_t stream)
{
    Operation operation;
    cudaError_t error = graph_memory_make(call, bytes, &operation);
    if (!error) error = operation_issue(&operation, stream);
    if (!error) *out = (void *)(uintptr_t)operation.memory.address;
    return error;
}

static cudaError_t allocate(const char *call, void **out, size_t bytes, cudaMemPool_t pool,
                            cudaStream_t stream)
{
    if (!out) return client_done(client_no_place(call));
    if (!bytes) {
        *out = NULL;
        cudaError_t error = client_open();
        return client_done(error ? error : client_sticky());
    }
    WireRequest request = pool_request(WIRE_POOL_ALLOC, call, pool);
    request.stream = client_stream(stream);
    if (capture_has_stream(request.stream))
        return client_done(allocate_in_graph(call, out, bytes, stream));
    cudaError_t error = capture_forbids_asking(call, request.stream);
    if (error) return client_done(error);
    request.pool.bytes = bytes;
    WireReply reply;
    error = client_simple(&request, &reply);
    if (!error) *out = (void *)(uintptr_t)reply.memory.address;
    return client_done(error);
}

EXPORT cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    return allocate("cudaMallocAsync", out, bytes, NULL, stream);
}
TWIN(cudaMallocAsync, cudaMallocAsync_ptsz, (void **out, size_t bytes, cudaStream_t stream),
     (out, bytes, stream))

EXPORT cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool,
                                           cudaStream_t stream)
{
    if (!pool) return client_done(cudaErrorInvalidValue);
    return allocate("cudaMallocFromPoolAsync", out, bytes, pool, stream);
}
TWIN(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz,
     (void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
     (out, bytes, pool, stream))

EXPORT cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    if (!p) {
        cudaError_t error = client_open();
        return client_done(error ? error : client_sticky());
    }
    WireRequest request = client_request(WIRE_POOL_FREE, "cudaFreeAsync");
    request.stream = client_stream(stream);
    if (capture_has_stream(request.stream)) {
        Operation operation = graph_memory_release("cudaFreeAsync", p);
        return client_done(operation_issue(&operation, stream));
    }
    cudaError_t error = capture_forbids_waiting("cudaFreeAsync", request.stream);
    if (error) return client_done(error);
    request.pool.bytes = client_address(p);
    WireReply reply;
    error = client_simple(&request, &reply);
    if (!error) graph_memory_freed(p);
    return client_done(error);
}
TWIN(cudaFreeAsync, cudaFreeAsync_ptsz, (void *p, cudaStream_t stream), (p, stream))
