// Memory: allocating, copying and filling. Device memory is the device's; of managed
// and pinned memory the program has its own view (shared.c).

#include "client.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime_api.h>

enum { DEVICE_ALIGN = 256, PITCH_ALIGN = 512, PAGE = 4096 };

// Host memory of the program's own that it has pinned with cudaHostRegister.
typedef struct Registered {
    struct Registered *next;
    char *base;
    size_t bytes;
} Registered;

static Registered *registered;
static pthread_mutex_t registered_mutex = PTHREAD_MUTEX_INITIALIZER;

static bool is_registered(const void *p)
{
    pthread_mutex_lock(&registered_mutex);
    const Registered *at = registered;
    while (at && ((const char *)p < at->base || (const char *)p >= at->base + at->bytes))
        at = at->next;
    pthread_mutex_unlock(&registered_mutex);
    return at != NULL;
}

static cudaError_t host_alloc(const char *call, void **out, size_t bytes)
{
    cudaError_t error = client_open();
    if (error || client_sticky())
        return error ? error : client_sticky();
    if (!out || !bytes)
        return cudaErrorInvalidValue;
    WireRequest request = client_request(WIRE_ALLOC, call);
    request.alloc.bytes = bytes;
    request.alloc.align = PAGE;
    request.alloc.kind = WIRE_OF_HOST;
    WireReply reply;
    error = client_simple(&request, &reply);
    if (error)
        return error;
    void *p = (void *)(uintptr_t)reply.memory.address;
    if (!client_map(reply.memory.address, bytes, false)) {
        client_free(call, p, WIRE_OF_HOST);
        return cudaErrorMemoryAllocation;
    }
    *out = p;
    return cudaSuccess;
}

EXPORT cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    return client_done(host_alloc("cudaMallocHost", out, bytes));
}

// Portable, mapped and write-combined memory are one here: all of it can be reached by kernels.
EXPORT cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    if (flags & ~(cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined))
        return client_done(cudaErrorInvalidValue);
    return client_done(host_alloc("cudaHostAlloc", out, bytes));
}

cudaError_t client_free(const char *call, void *p, enum wire_memory kind)
{
    WireRequest request = client_request(WIRE_FREE, call);
    request.pointer.address = client_address(p);
    request.pointer.kind = kind;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error && (client_is_managed(p) || client_is_pinned(p)))
        client_unmap(client_address(p));
    return error;
}

EXPORT cudaError_t cudaFreeHost(void *p)
{
    cudaError_t error = client_open();
    if (error || !p)
        return client_done(error);
    if (client_is_pinned(p) || client_is_device(p))
        return client_done(client_free("cudaFreeHost", p, WIRE_OF_HOST));
    return client_done(client_misuse("cudaFreeHost", cudaErrorInvalidValue,
        "cudaFreeHost was given a pointer that no cudaMallocHost returned",
        "Only memory of cudaMallocHost and cudaHostAlloc is freed here.",
        "Free malloc's memory with free, cudaMalloc's with cudaFree."));
}

EXPORT cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags)
{
    cudaError_t error = client_open();
    if (error || !out || flags)
        return client_done(error ? error : cudaErrorInvalidValue);
    if (is_registered(p))
        return client_unsupported("cudaHostGetDevicePointer of memory from cudaHostRegister");
    if (!client_is_pinned(p))
        return client_done(cudaErrorInvalidValue);
    *out = p;
    return client_done(client_sticky());
}

EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *p)
{
    cudaError_t error = client_open();
    if (error || !flags || !(client_is_pinned(p) || is_registered(p)))
        return client_done(error ? error : cudaErrorInvalidValue);
    *flags = client_is_pinned(p) ? cudaHostAllocMapped : cudaHostRegisterDefault;
    return client_done(client_sticky());
}

// Copies from and to it run at the pinned rate; kernels cannot reach it.
EXPORT cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    cudaError_t error = client_open();
    if (error || client_sticky())
        return client_done(error ? error : client_sticky());
    if (!p || !bytes || client_is_device(p))
        return client_done(cudaErrorInvalidValue);
    if (flags & ~(cudaHostRegisterPortable | cudaHostRegisterMapped))
        return client_unsupported("cudaHostRegister with flags for I/O or read-only memory");
    if (client_is_pinned(p) || is_registered(p))
        return client_done(cudaErrorHostMemoryAlreadyRegistered);
    Registered *new = malloc(sizeof *new);
    if (!new)
        return client_done(cudaErrorMemoryAllocation);
    pthread_mutex_lock(&registered_mutex);
    *new = (Registered){ registered, p, bytes };
    registered = new;
    pthread_mutex_unlock(&registered_mutex);
    return cudaSuccess;
}

EXPORT cudaError_t cudaHostUnregister(void *p)
{
    cudaError_t error = client_open();
    if (error || client_sticky())
        return client_done(error ? error : client_sticky());
    pthread_mutex_lock(&registered_mutex);
    Registered **at = &registered;
    while (*at && (*at)->base != p)
        at = &(*at)->next;
    Registered *found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&registered_mutex);
    free(found);
    return client_done(found ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}

static cudaError_t device_alloc(const char *call, void **out, size_t bytes)
{
    if (!out)
        return client_done(cudaErrorInvalidValue);
    if (!bytes) {
        *out = NULL;
        cudaError_t error = client_open();
        return client_done(error ? error : client_sticky());
    }
    WireRequest request = client_request(WIRE_ALLOC, call);
    request.alloc.bytes = bytes;
    request.alloc.align = DEVICE_ALIGN;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error)
        *out = (void *)(uintptr_t)reply.memory.address;
    return client_done(error);
}

static cudaError_t device_free(const char *call, void *p)
{
    if (!p) {
        cudaError_t error = client_open();
        return client_done(error ? error : client_sticky());
    }
    return client_done(client_free(call, p, WIRE_OF_DEVICE));
}

EXPORT cudaError_t cudaMalloc(void **out, size_t bytes)
{
    return device_alloc("cudaMalloc", out, bytes);
}

EXPORT cudaError_t cudaFree(void *p)
{
    return device_free("cudaFree", p);
}

EXPORT cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    (void)stream;
    return device_alloc("cudaMallocAsync", out, bytes);
}
TWIN(cudaMallocAsync, cudaMallocAsync_ptsz);

EXPORT cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    (void)stream;
    return device_free("cudaFreeAsync", p);
}
TWIN(cudaFreeAsync, cudaFreeAsync_ptsz);

EXPORT cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    if (!pitch || width > SIZE_MAX - PITCH_ALIGN)
        return client_done(cudaErrorInvalidValue);
    size_t row = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN, bytes;
    if (__builtin_mul_overflow(row, height, &bytes))
        return client_done(cudaErrorMemoryAllocation);
    *pitch = row;
    return device_alloc("cudaMallocPitch", out, bytes);
}

EXPORT cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    WireRequest request = client_request(WIRE_MEMORY_INFO, "cudaMemGetInfo");
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (error)
        return client_done(error);
    if (free_bytes)
        *free_bytes = reply.info.free;
    if (total)
        *total = reply.info.total;
    return cudaSuccess;
}

EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
    cudaError_t error = client_open();
    if (error)
        return client_done(error);
    if (!out)
        return client_done(cudaErrorInvalidValue);
    memset(out, 0, sizeof *out);
    out->type = cudaMemoryTypeUnregistered;
    out->device = cudaInvalidDeviceId;
    if (is_registered(p)) {
        out->type = cudaMemoryTypeHost;
        out->device = 0;
        out->hostPointer = (void *)p;
    }
    if (!client_is_device(p) && !client_is_pinned(p))
        return client_done(client_sticky());
    WireRequest request = client_request(WIRE_POINTER, "cudaPointerGetAttributes");
    request.pointer.address = client_address(p);
    WireReply reply;
    error = client_simple(&request, &reply);
    if (!error && reply.memory.size) {
        out->type = client_is_pinned(p) ? cudaMemoryTypeHost
            : client_is_managed(p) ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
        out->device = (int)reply.memory.device;
        out->devicePointer = (void *)p;
        out->hostPointer = out->type == cudaMemoryTypeDevice ? NULL : (void *)p;
    }
    return client_done(error);
}

// Rows of `width` bytes from one place to another; a plain copy is one row.
typedef struct {
    const char *call;
    char *to;
    size_t to_pitch;
    const char *from;
    size_t from_pitch;
    size_t width, rows;
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    bool blocks;                                // the host waits for it
} Copy;

// The packed bytes [offset, offset + bytes) of the rows of host memory, in pieces.
static void each_piece(char *host, size_t pitch, size_t width, char *slot, uint64_t offset,
                       uint32_t bytes, bool to_slot)
{
    while (bytes) {
        size_t row = offset / width, column = offset % width;
        size_t piece = width - column < bytes ? width - column : bytes;
        char *at = host + row * pitch + column;
        if (to_slot)
            memcpy(slot, at, piece);
        else
            memcpy(at, slot, piece);
        slot += piece;
        offset += piece;
        bytes -= (uint32_t)piece;
    }
}

static void fill_slot(void *context, void *slot, uint64_t offset, uint32_t bytes)
{
    const Copy *copy = context;
    each_piece((char *)copy->from, copy->from_pitch, copy->width, slot, offset, bytes, true);
}

static void drain_slot(void *context, void *slot, uint64_t offset, uint32_t bytes)
{
    const Copy *copy = context;
    each_piece(copy->to, copy->to_pitch, copy->width, slot, offset, bytes, false);
}

static const char *kind_name(enum cudaMemcpyKind kind)
{
    static const char *const names[] = { "cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
        "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice", "cudaMemcpyDefault" };
    return (unsigned)kind < 5 ? names[kind] : "an unknown kind";
}

static cudaError_t wrong_pointer(const Copy *copy, const char *role, const void *p, bool device)
{
    char message[256];
    const char *is = !p ? "a null pointer" : device ? "host memory" : "device memory";
    snprintf(message, sizeof message, "%s(..., %s): the %s is %s, not %s memory", copy->call,
             kind_name(copy->kind), role, is, device ? "device" : "host");
    return client_misuse(copy->call, cudaErrorInvalidValue, message,
        p ? "The pointers do not fit the direction that the call names."
          : "Nothing lies at a null pointer; often an allocation failed and nobody checked it.",
        "The order is cudaMemcpy(destination, source, bytes, kind).");
}

static enum cudaMemcpyKind actual_kind(const Copy *copy)
{
    if (client_is_device(copy->to))
        return client_is_device(copy->from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
    return client_is_device(copy->from) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

// Memory that both host and device have fits either end of any direction.
static bool is_either(const void *p)
{
    return client_is_managed(p) || client_is_pinned(p);
}

static cudaError_t check_kind(const Copy *copy)
{
    if ((unsigned)copy->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (!copy->to || !copy->from) {
        bool to = !copy->to;
        bool device =
            to ? copy->kind == cudaMemcpyHostToDevice || copy->kind == cudaMemcpyDeviceToDevice
               : copy->kind == cudaMemcpyDeviceToHost || copy->kind == cudaMemcpyDeviceToDevice;
        return wrong_pointer(copy, to ? "destination" : "source", NULL, device);
    }
    if (copy->kind == cudaMemcpyDefault)
        return cudaSuccess;
    bool to_device =
        copy->kind == cudaMemcpyHostToDevice || copy->kind == cudaMemcpyDeviceToDevice;
    bool from_device =
        copy->kind == cudaMemcpyDeviceToHost || copy->kind == cudaMemcpyDeviceToDevice;
    if (!is_either(copy->to) && to_device != client_is_device(copy->to))
        return wrong_pointer(copy, "destination", copy->to, to_device);
    if (!is_either(copy->from) && from_device != client_is_device(copy->from))
        return wrong_pointer(copy, "source", copy->from, from_device);
    return cudaSuccess;
}

static void copy_on_host(const Copy *copy)
{
    for (size_t row = 0; row < copy->rows; row++)
        memmove(copy->to + row * copy->to_pitch, copy->from + row * copy->from_pitch, copy->width);
}

static cudaError_t send_copy(Copy *copy, enum cudaMemcpyKind kind, uint64_t total)
{
    static const enum wire_op ops[] = { WIRE_COPY_HOST, WIRE_COPY_IN, WIRE_COPY_OUT,
                                        WIRE_COPY_DEVICE };
    WireRequest request = client_request(ops[kind], copy->call);
    request.stream = client_stream(copy->stream);
    request.copy.width = copy->width;
    request.copy.rows = copy->rows;
    request.copy.blocks = copy->blocks;
    WireRows to = { client_address(copy->to), copy->to_pitch };
    WireRows from = { client_address(copy->from), copy->from_pitch };
    request.copy.device = kind == cudaMemcpyDeviceToHost ? from : to;
    request.copy.from = from;
    const void *host = kind == cudaMemcpyDeviceToHost ? copy->to : copy->from;
    request.copy.pinned = client_is_pinned(host) || is_registered(host);
    WireReply reply;
    WireChunk *chunk = &request.copy.chunk;
    if (kind == cudaMemcpyHostToDevice)
        return client_transfer(&request, chunk, total, fill_slot, NULL, copy, &reply);
    if (kind == cudaMemcpyDeviceToHost)
        return client_transfer(&request, chunk, total, NULL, drain_slot, copy, &reply);
    cudaError_t error = client_simple(&request, &reply);
    if (kind == cudaMemcpyHostToHost && !error)
        copy_on_host(copy);
    return error;
}

static cudaError_t do_copy(Copy copy)
{
    cudaError_t error = client_open();
    if (error)
        return client_done(error);
    uint64_t total;
    if (__builtin_mul_overflow(copy.width, copy.rows, &total))
        return client_done(cudaErrorInvalidValue);
    if (copy.rows > 1 && (copy.width > copy.to_pitch || copy.width > copy.from_pitch))
        return client_done(cudaErrorInvalidPitchValue);
    if (!total)
        return client_done(client_sticky());
    error = check_kind(&copy);
    return client_done(error ? error : send_copy(&copy, actual_kind(&copy), total));
}

EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    return do_copy((Copy){ "cudaMemcpy", to, bytes, from, bytes, bytes, 1, kind, 0, true });
}
TWIN(cudaMemcpy, cudaMemcpy_ptds);

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return do_copy(
        (Copy){ "cudaMemcpyAsync", to, bytes, from, bytes, bytes, 1, kind, stream, false });
}
TWIN(cudaMemcpyAsync, cudaMemcpyAsync_ptsz);

EXPORT cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return do_copy(
        (Copy){ "cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind, 0, true });
}
TWIN(cudaMemcpy2D, cudaMemcpy2D_ptds);

EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                                     size_t from_pitch, size_t width, size_t height,
                                     enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return do_copy((Copy){ "cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height,
                           kind, stream, false });
}
TWIN(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz);

static cudaError_t copy_symbol(const char *call, const void *symbol, void *host, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream,
                               bool to, bool blocks)
{
    uint64_t address, size;
    cudaError_t error = client_symbol(call, symbol, &address, &size);
    if (error)
        return client_done(error);
    char *variable = (char *)(uintptr_t)(address + offset);
    if (to)
        return do_copy(
            (Copy){ call, variable, bytes, host, bytes, bytes, 1, kind, stream, blocks });
    return do_copy((Copy){ call, host, bytes, variable, bytes, bytes, 1, kind, stream, blocks });
}

EXPORT cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                                      size_t offset, enum cudaMemcpyKind kind)
{
    return copy_symbol("cudaMemcpyToSymbol", symbol, (void *)from, bytes, offset, kind, 0, true,
                       true);
}
TWIN(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds);

EXPORT cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                        enum cudaMemcpyKind kind)
{
    return copy_symbol("cudaMemcpyFromSymbol", symbol, to, bytes, offset, kind, 0, false, true);
}
TWIN(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds);

EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    return copy_symbol("cudaMemcpyToSymbolAsync", symbol, (void *)from, bytes, offset, kind,
                       stream, true, false);
}
TWIN(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz);

EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                             size_t offset, enum cudaMemcpyKind kind,
                                             cudaStream_t stream)
{
    return copy_symbol("cudaMemcpyFromSymbolAsync", symbol, to, bytes, offset, kind, stream, false,
                       false);
}
TWIN(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz);

static cudaError_t fill(const char *call, void *p, size_t pitch, int value, size_t width,
                        size_t rows, cudaStream_t stream, bool blocks)
{
    cudaError_t error = client_open();
    if (error)
        return client_done(error);
    uint64_t total;
    if (__builtin_mul_overflow(width, rows, &total) || (rows > 1 && width > pitch))
        return client_done(cudaErrorInvalidValue);
    if (!total)
        return client_done(client_sticky());
    if (!client_is_device(p) && !client_is_pinned(p)) {
        char message[128];
        snprintf(message, sizeof message, "%s was given %p, which is not device memory", call, p);
        return client_done(client_misuse(call, cudaErrorInvalidValue, message,
            "It fills memory of the device only.", "For host memory use memset."));
    }
    WireRequest request = client_request(WIRE_FILL, call);
    request.stream = client_stream(stream);
    request.copy.device = (WireRows){ client_address(p), pitch };
    request.copy.width = width;
    request.copy.rows = rows;
    request.copy.value = (uint8_t)value;
    request.copy.blocks = blocks;
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

// The host waits for a fill of memory that it has as well, and for no other (the API's words).
EXPORT cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    return fill("cudaMemset", p, bytes, value, bytes, 1, 0, is_either(p));
}
TWIN(cudaMemset, cudaMemset_ptds);

EXPORT cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    return fill("cudaMemsetAsync", p, bytes, value, bytes, 1, stream, false);
}
TWIN(cudaMemsetAsync, cudaMemsetAsync_ptsz);

EXPORT cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return fill("cudaMemset2D", p, pitch, value, width, height, 0, is_either(p));
}
TWIN(cudaMemset2D, cudaMemset2D_ptds);

EXPORT cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream)
{
    return fill("cudaMemset2DAsync", p, pitch, value, width, height, stream, false);
}
TWIN(cudaMemset2DAsync, cudaMemset2DAsync_ptsz);
