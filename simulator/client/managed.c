// Managed memory: allocation, prefetches and advice. The device decides which pages migrate, and
// when (simulator/model/managed.c).

#include "managed.h"
#include "capture.h"
#include <stdio.h>
#include <string.h>
#include <cuda_runtime_api.h>

enum { ALIGN = 256 };

static cudaError_t allocate(void **out, size_t bytes)
{
    if (!client_sees_touches())
        return client_unsupported("managed memory without a readable /proc/self/pagemap");
    WireRequest request = client_request(WIRE_ALLOC, "cudaMallocManaged");
    request.alloc.bytes = bytes;
    request.alloc.align = ALIGN;
    request.alloc.kind = WIRE_OF_BOTH;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (error) return error;
    void *p = (void *)(uintptr_t)reply.memory.address;
    if (!client_map(reply.memory.address, bytes, false)) {
        client_free("cudaMallocManaged", p, WIRE_OF_BOTH);
        return cudaErrorMemoryAllocation;
    }
    *out = p;
    return cudaSuccess;
}

EXPORT cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    cudaError_t error = client_open();
    if (error || client_sticky()) return client_done(error ? error : client_sticky());
    if (!out) return client_done(client_no_place("cudaMallocManaged"));
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return client_done(cudaErrorInvalidValue);
    *out = NULL;
    error = capture_forbids("cudaMallocManaged");
    return bytes || error ? client_done(error ? error : allocate(out, bytes)) : cudaSuccess;
}

// Checks the location: a device, or the host, whose NUMA nodes are not told apart.
static cudaError_t check_location(struct cudaMemLocation location)
{
    if (location.type == cudaMemLocationTypeDevice)
        return client_check_devices(location.id, location.id);
    bool host = location.type == cudaMemLocationTypeHost
             || location.type == cudaMemLocationTypeHostNuma
             || location.type == cudaMemLocationTypeHostNumaCurrent;
    return host ? cudaSuccess : cudaErrorInvalidValue;
}

static WireRequest range_request(enum wire_op op, const char *call, const void *p, size_t bytes)
{
    WireRequest request = client_request(op, call);
    request.range.address = client_address(p);
    request.range.bytes = bytes;
    return request;
}

static cudaError_t move(WireRequest *request, cudaStream_t stream)
{
    request->stream = client_stream(stream);
    cudaError_t error = capture_forbids_waiting(request->call, request->stream);
    WireReply reply;
    return error ? error : client_simple(request, &reply);
}

cudaError_t managed_prefetch(const char *call, const void *p, size_t bytes,
                             struct cudaMemLocation place, cudaStream_t stream)
{
    cudaError_t error = check_location(place);
    if (error) return error;
    WireRequest request = range_request(WIRE_PREFETCH, call, p, bytes);
    request.range.location = place.type == cudaMemLocationTypeDevice ? place.id : -1;
    return move(&request, stream);
}

cudaError_t managed_discard(const char *call, const void *p, size_t bytes, cudaStream_t stream)
{
    WireRequest request = range_request(WIRE_DISCARD, call, p, bytes);
    return move(&request, stream);
}

EXPORT cudaError_t cudaMemPrefetchAsync(const void *p, size_t bytes,
                                        struct cudaMemLocation location, unsigned flags,
                                        cudaStream_t stream)
{
    cudaError_t error = check_location(location);
    if (error || flags) return client_done(error ? error : cudaErrorInvalidValue);
    return client_done(managed_prefetch("cudaMemPrefetchAsync", p, bytes, location, stream));
}
TWIN(cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz,
     (const void *p, size_t bytes, struct cudaMemLocation location, unsigned flags,
      cudaStream_t stream),
     (p, bytes, location, flags, stream))

EXPORT cudaError_t cudaMemAdvise(const void *p, size_t bytes, enum cudaMemoryAdvise advice,
                                 struct cudaMemLocation location)
{
    bool placed = advice >= cudaMemAdviseSetPreferredLocation
               && advice != cudaMemAdviseUnsetPreferredLocation;
    cudaError_t error = placed ? check_location(location) : cudaSuccess;
    if (error) return client_done(error == cudaErrorInvalidDevice ? cudaErrorInvalidValue : error);
    WireRequest request = range_request(WIRE_ADVISE, "cudaMemAdvise", p, bytes);
    request.range.advice = advice;
    bool on_device = placed && location.type == cudaMemLocationTypeDevice;
    request.range.location = on_device ? location.id : -1;
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

static int location_type(int id)
{
    return id >= 0               ? cudaMemLocationTypeDevice
         : id == cudaCpuDeviceId ? cudaMemLocationTypeHost
                                 : cudaMemLocationTypeInvalid;
}

// Lists the devices whose bits are set. The rest of the list becomes cudaInvalidDeviceId.
static void list_devices(uint32_t bits, int *list, size_t room)
{
    size_t count = 0;
    for (int d = 0; d < WIRE_DEVICES && count < room; d++)
        if (bits >> d & 1) list[count++] = d;
    while (count < room) list[count++] = cudaInvalidDeviceId;
}

// False: there is no such attribute, or it is AccessedBy, whose value is a list.
static bool range_value(const WireReply *reply, enum cudaMemRangeAttribute attribute, int *value)
{
    switch (attribute) {
    case cudaMemRangeAttributeAccessedBy: return false;
    case cudaMemRangeAttributeReadMostly: *value = (int)reply->range.read_mostly; return true;
    case cudaMemRangeAttributePreferredLocation:
    case cudaMemRangeAttributePreferredLocationId: *value = reply->range.preferred; return true;
    case cudaMemRangeAttributeLastPrefetchLocation:
    case cudaMemRangeAttributeLastPrefetchLocationId: *value = reply->range.prefetched; return true;
    case cudaMemRangeAttributePreferredLocationType:
        *value = location_type(reply->range.preferred);
        return true;
    case cudaMemRangeAttributeLastPrefetchLocationType:
        *value = location_type(reply->range.prefetched);
        return true;
    }
    return false;
}

EXPORT cudaError_t cudaMemRangeGetAttribute(void *out, size_t size,
                                            enum cudaMemRangeAttribute attribute, const void *p,
                                            size_t bytes)
{
    if (!out || size < sizeof(int) || size % sizeof(int)) return client_done(cudaErrorInvalidValue);
    WireRequest request = range_request(WIRE_RANGE, "cudaMemRangeGetAttribute", p, bytes);
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    int value;
    if (!error && attribute == cudaMemRangeAttributeAccessedBy)
        list_devices(reply.range.accessed_by, out, size / sizeof(int));
    else if (error || !range_value(&reply, attribute, &value))
        return client_done(error ? error : cudaErrorInvalidValue);
    else memcpy(out, &value, sizeof value);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemRangeGetAttributes(void **out, size_t *sizes,
                                             enum cudaMemRangeAttribute *attributes, size_t count,
                                             const void *p, size_t bytes)
{
    cudaError_t error = out && sizes && attributes && count ? cudaSuccess : cudaErrorInvalidValue;
    for (size_t i = 0; i < count && !error; i++)
        error = cudaMemRangeGetAttribute(out[i], sizes[i], attributes[i], p, bytes);
    return client_done(error);
}

// The size of the allocation that begins at that address; 0: none does.
static size_t size_at(const void *p)
{
    WireRequest request = client_request(WIRE_POINTER, "cudaStreamAttachMemAsync");
    WireReply reply;
    request.pointer.address = client_address(p);
    return client_simple(&request, &reply) || reply.memory.address != client_address(p)
             ? 0
             : reply.memory.size;
}

// The device allows concurrent managed access: host and kernels may access managed memory at any
// time. So attaching memory to a stream changes nothing.
EXPORT cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t bytes,
                                            unsigned flags)
{
    bool to_one = flags == cudaMemAttachSingle && stream && stream != cudaStreamLegacy;
    bool known = flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || to_one;
    known = known && (!bytes || bytes == size_at(p)); // 0, or the whole allocation
    cudaError_t error = client_open();
    if (!error) error = client_sticky();
    if (!error)
        error = known && client_is_managed(p)
                  ? capture_forbids_waiting("cudaStreamAttachMemAsync", client_stream(stream))
                  : cudaErrorInvalidValue;
    return client_done(error);
}
TWIN(cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz,
     (cudaStream_t stream, void *p, size_t bytes, unsigned flags), (stream, p, bytes, flags))
