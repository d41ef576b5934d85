// Memory: allocating, freeing and querying it. Device memory exists in the device process only;
// managed and pinned memory is also mapped in the program (shared.c).

#include "capture.h"
#include "client.h"
#include "graph_memory.h"
#include <string.h>
#include <cuda_runtime_api.h>

enum { DEVICE_ALIGN = 256, PITCH_ALIGN = 512 };

static cudaError_t device_alloc(const char *call, void **out, size_t bytes)
{
    if (!out) return client_done(client_no_place(call));
    if (!bytes) {
        *out = NULL;
        return client_done(client_open());
    }
    WireRequest request = client_request(WIRE_ALLOC, call);
    request.alloc.bytes = bytes;
    request.alloc.align = DEVICE_ALIGN;
    WireReply reply;
    cudaError_t error = capture_forbids(call);
    if (!error) error = client_simple(&request, &reply);
    if (!error || error == cudaErrorMemoryAllocation)
        *out = error ? NULL : (void *)(uintptr_t)reply.memory.address;
    return client_done(error);
}

static cudaError_t device_free(const char *call, void *p)
{
    cudaError_t error = capture_forbids(call);
    if (!p && !error) {
        error = client_open();
        return client_done(error ? error : client_sticky());
    }
    if (!error) error = client_free(call, p, WIRE_OF_DEVICE);
    if (!error) graph_memory_freed(p);
    return client_done(error);
}

EXPORT cudaError_t cudaMalloc(void **out, size_t bytes)
{
    return device_alloc("cudaMalloc", out, bytes);
}

EXPORT cudaError_t cudaFree(void *p) { return device_free("cudaFree", p); }

// No array can exist, because arrays are not supported.
EXPORT cudaError_t cudaFreeArray(cudaArray_t array)
{
    return array ? client_unsupported("cudaFreeArray") : client_done(client_open());
}

static cudaError_t allocate_rows(const char *call, void **out, size_t *pitch, size_t width,
                                 size_t rows)
{
    if (!pitch || width > SIZE_MAX - PITCH_ALIGN) return client_done(cudaErrorInvalidValue);
    size_t row = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN, bytes;
    if (__builtin_mul_overflow(row, rows, &bytes)) return client_done(cudaErrorInvalidValue);
    *pitch = bytes ? row : 0;
    return device_alloc(call, out, bytes);
}

EXPORT cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    return allocate_rows("cudaMallocPitch", out, pitch, width, height);
}

EXPORT cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    size_t rows;
    if (!out) return client_done(cudaErrorInvalidValue);
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return client_done(cudaErrorMemoryAllocation);
    *out = (struct cudaPitchedPtr){ .xsize = extent.width, .ysize = extent.height };
    return allocate_rows("cudaMalloc3D", &out->ptr, &out->pitch, extent.width, rows);
}

EXPORT cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    WireRequest request = client_request(WIRE_MEMORY_INFO, "cudaMemGetInfo");
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (error) return client_done(error);
    if (free_bytes) *free_bytes = reply.info.free;
    if (total) *total = reply.info.total;
    return cudaSuccess;
}

EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
    cudaError_t error = client_open();
    if (error) return client_done(error);
    if (!out) return client_done(cudaErrorInvalidValue);
    memset(out, 0, sizeof *out);
    out->type = cudaMemoryTypeUnregistered;
    out->device = cudaInvalidDeviceId;
    out->hostPointer = (void *)p;
    if (client_is_registered(p)) {
        out->type = cudaMemoryTypeHost;
        out->device = 0;
        out->devicePointer = (void *)(uintptr_t)client_registered_address(p);
    }
    if (!client_is_device(p) && !client_is_pinned(p)) return cudaSuccess;
    WireRequest request = client_request(WIRE_POINTER, "cudaPointerGetAttributes");
    request.pointer.address = client_address(p);
    WireReply reply;
    error = client_simple(&request, &reply);
    if (!error && reply.memory.size) {
        out->type = client_is_pinned(p)  ? cudaMemoryTypeHost
                  : client_is_managed(p) ? cudaMemoryTypeManaged
                                         : cudaMemoryTypeDevice;
        out->device = (int)reply.memory.device;
        out->devicePointer = (void *)p;
        out->hostPointer = out->type == cudaMemoryTypeDevice ? NULL : (void *)p;
    }
    return client_done(error);
}
