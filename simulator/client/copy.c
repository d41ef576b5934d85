// Copies. Plain, pitched and three-dimensional copies all copy a box of bytes.

#include "capture.h"
#include "symbol.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

// Copies bytes [offset, offset + bytes) of a box in host memory to or from the slot, row by row.
// `offset` counts the bytes of the rows, without the padding between rows.
static void each_piece(const CopyOperation *copy, const Box *box, char *slot, uint64_t offset,
                       uint32_t bytes, bool to_slot)
{
    while (bytes) {
        size_t row = offset / copy->width, column = offset % copy->width;
        size_t piece = copy->width - column < bytes ? copy->width - column : bytes;
        char *at =
            box->address + row / copy->rows * box->slice + row % copy->rows * box->pitch + column;
        if (to_slot) memcpy(slot, at, piece);
        else memcpy(at, slot, piece);
        slot += piece;
        offset += piece;
        bytes -= (uint32_t)piece;
    }
}

static void fill_slot(void *context, void *slot, uint64_t offset, uint32_t bytes)
{
    const CopyOperation *copy = context;
    each_piece(copy, &copy->from, slot, offset, bytes, true);
}

static void drain_slot(void *context, void *slot, uint64_t offset, uint32_t bytes)
{
    const CopyOperation *copy = context;
    each_piece(copy, &copy->to, slot, offset, bytes, false);
}

static void copy_on_host(const CopyOperation *copy)
{
    for (size_t slice = 0; slice < copy->slices; slice++)
        for (size_t row = 0; row < copy->rows; row++)
            memmove(copy->to.address + slice * copy->to.slice + row * copy->to.pitch,
                    copy->from.address + slice * copy->from.slice + row * copy->from.pitch,
                    copy->width);
}

// ---- Checking a copy ----

static const char *kind_name(enum cudaMemcpyKind kind)
{
    static const char *const names[] = { "cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                         "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice",
                                         "cudaMemcpyDefault" };
    return (unsigned)kind < 5 ? names[kind] : "an unknown kind";
}

static cudaError_t wrong_pointer(const Operation *operation, const char *role, const void *p,
                                 bool device)
{
    char message[256];
    const char *is = !p ? "a null pointer" : device ? "host memory" : "device memory";
    const char *why =
        !p ? "Nothing lies at a null pointer; often an allocation failed and nobody checked it."
           : "The pointers do not fit the direction that the call names.";
    const char *next = "The order is cudaMemcpy(destination, source, bytes, kind).";
    if (p && symbol_find(p, true)) {
        why = "In host code the name of a __constant__ or __device__ variable is its stand-in in "
              "host memory.";
        next = "Call cudaMemcpyToSymbol or cudaMemcpyFromSymbol, or ask cudaGetSymbolAddress where "
               "it lies on the device.";
    }
    snprintf(message, sizeof message, "%s(..., %s): the %s is %s, not %s memory", operation->call,
             kind_name(operation->copy.kind), role, is, device ? "device" : "host");
    return client_misuse(operation->call, cudaErrorInvalidValue, message, why, next);
}

// Managed and pinned memory can be either end of a copy in any direction.
static bool is_either(const void *p) { return client_is_managed(p) || client_is_pinned(p); }

static cudaError_t check_kind(const Operation *operation)
{
    const CopyOperation *copy = &operation->copy;
    const char *to = copy->to.address, *from = copy->from.address;
    bool to_device = copy->kind == cudaMemcpyHostToDevice || copy->kind == cudaMemcpyDeviceToDevice;
    bool from_device =
        copy->kind == cudaMemcpyDeviceToHost || copy->kind == cudaMemcpyDeviceToDevice;
    if (!to) return wrong_pointer(operation, "destination", NULL, to_device);
    if (!from) return wrong_pointer(operation, "source", NULL, from_device);
    if (copy->kind == cudaMemcpyDefault) return cudaSuccess;
    // An end that `kind` says is host memory may be any memory: actual_kind() looks at its address.
    if (to_device && !is_either(to) && !client_is_device(to))
        return wrong_pointer(operation, "destination", to, to_device);
    if (from_device && !is_either(from) && !client_is_device(from))
        return wrong_pointer(operation, "source", from, from_device);
    return cudaSuccess;
}

// ---- Running a copy ----

static enum cudaMemcpyKind actual_kind(const CopyOperation *copy)
{
    if (client_is_device(copy->to.address))
        return client_is_device(copy->from.address) ? cudaMemcpyDeviceToDevice
                                                    : cudaMemcpyHostToDevice;
    return client_is_device(copy->from.address) ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost;
}

// Can the program read all of the copy's source? msync() fails with ENOMEM where nothing is mapped,
// and changes nothing elsewhere.
static bool is_there(const CopyOperation *copy)
{
    enum { PAGE = 4096 };
    uintptr_t first = (uintptr_t)copy->from.address, begin = first / PAGE * PAGE;
    uintptr_t bytes =
        (copy->slices - 1) * copy->from.slice + (copy->rows - 1) * copy->from.pitch + copy->width;
    return msync((void *)begin, first - begin + bytes, MS_ASYNC) == 0 || errno != ENOMEM;
}

// If the source is not readable, the device checks the destination before the source is read: a
// count that is too large for both ends is then an error, as on a GPU, and does not crash the
// program.
static cudaError_t copy_in(CopyOperation *copy, WireRequest *request, uint64_t total)
{
    WireReply reply;
    cudaError_t error = is_there(copy) ? cudaSuccess
                                       : client_transfer(request, &request->copy.chunk, total, NULL,
                                                         NULL, NULL, &reply);
    return error
             ? error
             : client_transfer(request, &request->copy.chunk, total, fill_slot, NULL, copy, &reply);
}

// The address by which the device reaches the host's box; 0: it does not.
static uint64_t reach_of(const CopyOperation *copy, const Box *host)
{
    uint64_t bytes =
        (copy->slices - 1) * host->slice + (copy->rows - 1) * host->pitch + copy->width;
    return client_is_pinned(host->address) ? client_address(host->address)
                                           : client_registered_reach(host->address, bytes);
}

// A copy that the device makes by itself is one chunk, its last.
static cudaError_t copy_in_reach(WireRequest *request, uint64_t total)
{
    WireReply reply;
    request->copy.chunk = (WireChunk){ .total = total, .offset = total };
    return client_simple(request, &reply);
}

static WireBox wire_box(const Box *box)
{
    return (WireBox){ client_address(box->address), box->pitch, box->slice };
}

cudaError_t operation_run_copy(const Operation *operation, uint64_t stream)
{
    static const enum wire_op ops[] = { WIRE_COPY_HOST, WIRE_COPY_IN, WIRE_COPY_OUT,
                                        WIRE_COPY_DEVICE };
    CopyOperation copy = operation->copy;
    enum cudaMemcpyKind kind = actual_kind(&copy);
    WireRequest request = operation_request(operation, ops[kind]);
    request.stream = stream;
    request.copy.width = copy.width;
    request.copy.rows = copy.rows;
    request.copy.slices = copy.slices;
    // The host does not wait for a copy within device memory, not even in cudaMemcpy().
    bool stays = kind == cudaMemcpyDeviceToDevice && !client_is_managed(copy.to.address)
              && !client_is_managed(copy.from.address);
    request.copy.blocks = copy.blocks && !stays;
    request.copy.device = wire_box(kind == cudaMemcpyDeviceToHost ? &copy.from : &copy.to);
    request.copy.from = wire_box(kind == cudaMemcpyDeviceToHost ? &copy.to : &copy.from);
    const Box *host = kind == cudaMemcpyDeviceToHost ? &copy.to : &copy.from;
    request.copy.pinned = client_is_pinned(host->address) || client_is_registered(host->address);
    WireReply reply;
    WireChunk *chunk = &request.copy.chunk;
    uint64_t total = copy.width * copy.rows * copy.slices;
    bool crosses = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToHost;
    if (crosses && (request.copy.reach = reach_of(&copy, host)))
        return copy_in_reach(&request, total);
    if (kind == cudaMemcpyHostToDevice) return copy_in(&copy, &request, total);
    if (kind == cudaMemcpyDeviceToHost)
        return client_transfer(&request, chunk, total, NULL, drain_slot, &copy, &reply);
    cudaError_t error = client_simple(&request, &reply);
    if (kind == cudaMemcpyHostToHost && !error) copy_on_host(&copy);
    return error;
}

static cudaError_t check_pitch(const Operation *operation)
{
    const CopyOperation *copy = &operation->copy;
    bool rows = copy->rows > 1 || copy->slices > 1;
    bool to = copy->width <= copy->to.pitch || (!rows && !copy->to.pitch); // one row needs no pitch
    bool from = copy->width <= copy->from.pitch || (!rows && !copy->from.pitch);
    if (to && from) return cudaSuccess;
    return client_refuse(operation->call, rows ? cudaErrorInvalidPitchValue : cudaErrorInvalidValue,
                         "A pitch is the bytes from the beginning of one row to that of the next.",
                         "Pass widths and pitches in bytes: columns * sizeof, and what "
                         "cudaMallocPitch gave.",
                         "was given a pitch of %zu bytes for rows of %zu bytes",
                         (size_t)(to ? copy->from.pitch : copy->to.pitch), (size_t)copy->width);
}

cudaError_t operation_check_copy(const Operation *operation)
{
    const CopyOperation *copy = &operation->copy;
    uint64_t total;
    if (__builtin_mul_overflow(copy->width, copy->rows, &total)
        || __builtin_mul_overflow(total, copy->slices, &total))
        return cudaErrorInvalidValue;
    if (!total) return cudaSuccess;
    if ((unsigned)copy->kind > cudaMemcpyDefault)
        return client_refuse(operation->call, cudaErrorInvalidMemcpyDirection,
                             "The direction is an enum cudaMemcpyKind.",
                             "Pass cudaMemcpyHostToDevice or cudaMemcpyDeviceToHost; "
                             "cudaMemcpyDefault finds the direction out by itself.",
                             "was given the direction %d, which is none", (int)copy->kind);
    bool nowhere = !copy->to.address && !copy->from.address; // check_kind() reports it
    cudaError_t error = nowhere ? cudaSuccess : check_pitch(operation);
    return error ? error : check_kind(operation);
}

cudaError_t operation_copy(const char *call, CopyOperation copy, cudaStream_t stream)
{
    Operation operation = { .kind = OPERATION_COPY, .call = call, .copy = copy };
    cudaError_t error = client_open();
    if (!error) error = operation_check_copy(&operation);
    if (error) return client_done(error);
    if (!copy.width || !copy.rows || !copy.slices)
        return client_done(copy.rows == 1 && copy.slices == 1 ? cudaSuccess : client_sticky());
    return client_done(operation_issue(&operation, stream));
}

// ---- Plain copies ----

CopyOperation operation_plain_copy(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind)
{
    return (CopyOperation){ .to = { to, bytes, bytes },
                            .from = { (char *)from, bytes, bytes },
                            .width = bytes,
                            .rows = 1,
                            .slices = 1,
                            .kind = kind };
}

EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    CopyOperation copy = operation_plain_copy(to, from, bytes, kind);
    copy.blocks = true;
    return operation_copy("cudaMemcpy", copy, 0);
}
TWIN(cudaMemcpy, cudaMemcpy_ptds,
     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind), (to, from, bytes, kind))

EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return operation_copy("cudaMemcpyAsync", operation_plain_copy(to, from, bytes, kind), stream);
}
TWIN(cudaMemcpyAsync, cudaMemcpyAsync_ptsz,
     (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
     (to, from, bytes, kind, stream))

// ---- Pitched copies ----

static CopyOperation pitched(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return (CopyOperation){ .to = { to, to_pitch, 0 },
                            .from = { (char *)from, from_pitch, 0 },
                            .width = width,
                            .rows = height,
                            .slices = 1,
                            .kind = kind };
}

EXPORT cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    CopyOperation copy = pitched(to, to_pitch, from, from_pitch, width, height, kind);
    copy.blocks = true;
    return operation_copy("cudaMemcpy2D", copy, 0);
}
TWIN(cudaMemcpy2D, cudaMemcpy2D_ptds,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
      enum cudaMemcpyKind kind),
     (to, to_pitch, from, from_pitch, width, height, kind))

EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream)
{
    return operation_copy("cudaMemcpy2DAsync",
                          pitched(to, to_pitch, from, from_pitch, width, height, kind), stream);
}
TWIN(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz,
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
      enum cudaMemcpyKind kind, cudaStream_t stream),
     (to, to_pitch, from, from_pitch, width, height, kind, stream))

// ---- Three-dimensional copies ----

static Box box_at(const struct cudaPitchedPtr *p, const struct cudaPos *at)
{
    size_t slice = p->pitch * p->ysize;
    return (Box){ (char *)p->ptr + at->z * slice + at->y * p->pitch + at->x, p->pitch, slice };
}

// Checks that the box is within the memory's rows and, if it has several slices, within the rows of
// each slice.
static cudaError_t check_within(const struct cudaPitchedPtr *p, const struct cudaPos *at,
                                const struct cudaExtent *box)
{
    bool nothing = !p->ptr || !box->width || !box->height || !box->depth;
    if (!nothing && box->width <= p->pitch && at->x + box->width > p->pitch)
        return cudaErrorInvalidValue;
    return !nothing && box->depth > 1 && at->y + box->height > p->ysize ? cudaErrorInvalidPitchValue
                                                                        : cudaSuccess;
}

static cudaError_t copy_3d(const char *call, const struct cudaMemcpy3DParms *p, bool blocks,
                           cudaStream_t stream)
{
    if (!p) return client_done(cudaErrorInvalidValue);
    if (p->srcArray || p->dstArray) return client_unsupported("cudaMemcpy3D with an array");
    cudaError_t error = check_within(&p->dstPtr, &p->dstPos, &p->extent);
    if (!error) error = check_within(&p->srcPtr, &p->srcPos, &p->extent);
    if (error) return client_done(error);
    return operation_copy(call, operation_box_copy(p, blocks), stream);
}

CopyOperation operation_box_copy(const struct cudaMemcpy3DParms *p, bool blocks)
{
    return (CopyOperation){ .to = box_at(&p->dstPtr, &p->dstPos),
                            .from = box_at(&p->srcPtr, &p->srcPos),
                            .width = p->extent.width,
                            .rows = p->extent.height,
                            .slices = p->extent.depth,
                            .kind = p->kind,
                            .blocks = blocks };
}

EXPORT cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return copy_3d("cudaMemcpy3D", p, true, 0);
}
TWIN(cudaMemcpy3D, cudaMemcpy3D_ptds, (const struct cudaMemcpy3DParms *p), (p))

EXPORT cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    return copy_3d("cudaMemcpy3DAsync", p, false, stream);
}
TWIN(cudaMemcpy3DAsync, cudaMemcpy3DAsync_ptsz,
     (const struct cudaMemcpy3DParms *p, cudaStream_t stream), (p, stream))

// ---- Copies between devices. The addresses tell which devices; the host does not wait. ----

static cudaError_t issue_between(const char *call, CopyOperation copy, int to, int from,
                                 cudaStream_t stream)
{
    bool nothing = !copy.width || !copy.rows || !copy.slices;
    cudaError_t error = nothing ? cudaSuccess : client_check_devices(from, to);
    if (!error && !nothing
        && !(client_is_device(copy.to.address) && client_is_device(copy.from.address)))
        error = cudaErrorInvalidValue; // both ends must be device memory
    return error ? client_done(error) : operation_copy(call, copy, stream);
}

EXPORT cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device,
                                  size_t bytes)
{
    return issue_between("cudaMemcpyPeer", operation_plain_copy(to, from, bytes, cudaMemcpyDefault),
                         to_device, from_device, 0);
}

EXPORT cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                       size_t bytes, cudaStream_t stream)
{
    return issue_between("cudaMemcpyPeerAsync",
                         operation_plain_copy(to, from, bytes, cudaMemcpyDefault), to_device,
                         from_device, stream);
}

static cudaError_t copy_3d_between(const char *call, const struct cudaMemcpy3DPeerParms *p,
                                   cudaStream_t stream)
{
    if (!p) return client_done(cudaErrorInvalidValue);
    if (p->srcArray || p->dstArray) return client_unsupported("cudaMemcpy3DPeer with an array");
    CopyOperation copy = { .to = box_at(&p->dstPtr, &p->dstPos),
                           .from = box_at(&p->srcPtr, &p->srcPos),
                           .width = p->extent.width,
                           .rows = p->extent.height,
                           .slices = p->extent.depth,
                           .kind = cudaMemcpyDefault };
    return issue_between(call, copy, p->dstDevice, p->srcDevice, stream);
}

EXPORT cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    return copy_3d_between("cudaMemcpy3DPeer", p, 0);
}
TWIN(cudaMemcpy3DPeer, cudaMemcpy3DPeer_ptds, (const struct cudaMemcpy3DPeerParms *p), (p))

EXPORT cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    return copy_3d_between("cudaMemcpy3DPeerAsync", p, stream);
}
TWIN(cudaMemcpy3DPeerAsync, cudaMemcpy3DPeerAsync_ptsz,
     (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream), (p, stream))

// ---- Variables ----

static cudaError_t copy_symbol(const char *call, const void *symbol, void *host, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream,
                               bool to, bool blocks)
{
    uint64_t address, size;
    cudaError_t error = client_symbol(call, symbol, &address, &size);
    if (error) return client_done(error);
    if (kind == cudaMemcpyHostToHost
        || kind == (to ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice))
        return client_done(cudaErrorInvalidMemcpyDirection);
    if ((offset > size || bytes > size - offset) && capture_has_stream(client_stream(stream)))
        return client_done(cudaErrorInvalidValue);
    char *variable = (char *)(uintptr_t)(address + offset);
    CopyOperation copy =
        operation_plain_copy(to ? variable : host, to ? host : variable, bytes, kind);
    copy.blocks = blocks;
    return operation_copy(call, copy, stream);
}

EXPORT cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                                      size_t offset, enum cudaMemcpyKind kind)
{
    return copy_symbol("cudaMemcpyToSymbol", symbol, (void *)from, bytes, offset, kind, 0, true,
                       true);
}
TWIN(cudaMemcpyToSymbol, cudaMemcpyToSymbol_ptds,
     (const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
     (symbol, from, bytes, offset, kind))

EXPORT cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                        enum cudaMemcpyKind kind)
{
    return copy_symbol("cudaMemcpyFromSymbol", symbol, to, bytes, offset, kind, 0, false, true);
}
TWIN(cudaMemcpyFromSymbol, cudaMemcpyFromSymbol_ptds,
     (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind),
     (to, symbol, bytes, offset, kind))

EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
                                           size_t offset, enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    return copy_symbol("cudaMemcpyToSymbolAsync", symbol, (void *)from, bytes, offset, kind, stream,
                       true, false);
}
TWIN(cudaMemcpyToSymbolAsync, cudaMemcpyToSymbolAsync_ptsz,
     (const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     (symbol, from, bytes, offset, kind, stream))

EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                             size_t offset, enum cudaMemcpyKind kind,
                                             cudaStream_t stream)
{
    return copy_symbol("cudaMemcpyFromSymbolAsync", symbol, to, bytes, offset, kind, stream, false,
                       false);
}
TWIN(cudaMemcpyFromSymbolAsync, cudaMemcpyFromSymbolAsync_ptsz,
     (void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     (to, symbol, bytes, offset, kind, stream))
