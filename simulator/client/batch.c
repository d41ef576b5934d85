// Batched calls: copies, and prefetches and discards of managed memory. CUDA refuses a batch on the
// legacy default stream. The operations of a batch have no order among themselves, so it is correct
// to issue them one after another.

#include "capture.h"
#include "managed.h"
#include "operation.h"
#include <cuda_runtime_api.h>

// A share is a set of attributes, or a location, for the elements from first[i] on, up to the first
// element of the next share. Do the shares cover all elements?
static bool shares_cover_all(const size_t *first, size_t shares, size_t count)
{
    if (!first || !shares || shares > count || first[0]) return false;
    for (size_t i = 1; i < shares; i++)
        if (first[i] <= first[i - 1] || first[i] >= count) return false;
    return true;
}

// Can the stream take a batch? (If the device does not open, the batch's first request returns that
// error.)
static bool takes_batches(cudaStream_t stream) { return client_open() || client_stream(stream); }

static bool is_captured(cudaStream_t stream)
{
    return !client_open() && capture_has_stream(client_stream(stream));
}

// ---- Copies ----

static bool is_good(const struct cudaMemcpyAttributes *a)
{
    return a->srcAccessOrder >= cudaMemcpySrcAccessOrderStream
        && a->srcAccessOrder <= cudaMemcpySrcAccessOrderAny
        && !(a->flags & ~(unsigned)cudaMemcpyFlagPreferOverlapWithCompute);
}

static bool are_good(const struct cudaMemcpyAttributes *attributes, size_t attribute_count,
                     const size_t *bytes, size_t count)
{
    for (size_t i = 0; i < attribute_count; i++)
        if (!is_good(&attributes[i])) return false;
    for (size_t i = 0; i < count; i++)
        if (!bytes[i]) return false;
    return true;
}

EXPORT cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from,
                                        const size_t *bytes, size_t count,
                                        struct cudaMemcpyAttributes *attributes, size_t *first,
                                        size_t attribute_count, cudaStream_t stream)
{
    if (!to || !from || !bytes || !count || !attributes
        || !shares_cover_all(first, attribute_count, count)
        || !are_good(attributes, attribute_count, bytes, count) || !takes_batches(stream))
        return client_done(cudaErrorInvalidValue);
    if (is_captured(stream)) // the capture stays valid, as on an H200
        return client_done(cudaErrorStreamCaptureUnsupported);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++)
        error = operation_copy("cudaMemcpyBatchAsync",
                               operation_plain_copy(to[i], from[i], bytes[i], cudaMemcpyDefault),
                               stream);
    return error;
}
TWIN(cudaMemcpyBatchAsync, cudaMemcpyBatchAsync_ptsz,
     (void *const *to, const void *const *from, const size_t *bytes, size_t count,
      struct cudaMemcpyAttributes *attributes, size_t *first, size_t attribute_count,
      cudaStream_t stream),
     (to, from, bytes, count, attributes, first, attribute_count, stream))

// A rowLength of 0 means contiguous rows, and a layerHeight of 0 contiguous slices.
static Box box_of(const struct cudaMemcpy3DOperand *p, struct cudaExtent extent)
{
    size_t pitch = p->op.ptr.rowLength ? p->op.ptr.rowLength : extent.width;
    size_t rows = p->op.ptr.layerHeight ? p->op.ptr.layerHeight : extent.height;
    return (Box){ p->op.ptr.ptr, pitch, pitch * rows };
}

static cudaError_t copy_box(const struct cudaMemcpy3DBatchOp *p, cudaStream_t stream)
{
    if (p->src.type == cudaMemcpyOperandTypeArray || p->dst.type == cudaMemcpyOperandTypeArray)
        return client_unsupported("cudaMemcpy3DBatchAsync with an array");
    if (p->src.type != cudaMemcpyOperandTypePointer || p->dst.type != cudaMemcpyOperandTypePointer)
        return client_done(cudaErrorInvalidValue);
    struct cudaMemcpyAttributes attributes = { .srcAccessOrder = p->srcAccessOrder,
                                               .flags = p->flags };
    bool whole = p->extent.width && p->extent.height && p->extent.depth;
    CopyOperation copy = { .to = box_of(&p->dst, p->extent),
                           .from = box_of(&p->src, p->extent),
                           .kind = cudaMemcpyDefault,
                           .width = p->extent.width,
                           .rows = p->extent.height,
                           .slices = p->extent.depth };
    if (!whole || !is_good(&attributes) || copy.width > copy.to.pitch
        || copy.width > copy.from.pitch)
        return client_done(cudaErrorInvalidValue);
    return operation_copy("cudaMemcpy3DBatchAsync", copy, stream);
}

EXPORT cudaError_t cudaMemcpy3DBatchAsync(size_t count, struct cudaMemcpy3DBatchOp *copies,
                                          unsigned long long flags, cudaStream_t stream)
{
    if (!count || !copies || flags || !takes_batches(stream))
        return client_done(cudaErrorInvalidValue);
    if (is_captured(stream)) return client_done(cudaErrorStreamCaptureUnsupported);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) error = copy_box(&copies[i], stream);
    return error;
}
TWIN(cudaMemcpy3DBatchAsync, cudaMemcpy3DBatchAsync_ptsz,
     (size_t count, struct cudaMemcpy3DBatchOp *copies, unsigned long long flags,
      cudaStream_t stream),
     (count, copies, flags, stream))

// ---- Managed memory ----

// Discards each range if `discard` is set, then prefetches it if `places` is not NULL.
static cudaError_t move(const char *call, void **p, size_t *bytes, size_t count,
                        struct cudaMemLocation *places, size_t *first, size_t place_count,
                        bool discard, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0, at = 0; i < count && !error; i++) {
        if (discard) error = managed_discard(call, p[i], bytes[i], stream);
        while (places && at + 1 < place_count && first[at + 1] <= i) at++;
        if (places && !error) error = managed_prefetch(call, p[i], bytes[i], places[at], stream);
    }
    return client_done(error);
}

static bool is_list(void **p, const size_t *bytes, size_t count, unsigned long long flags,
                    cudaStream_t stream)
{
    return p && bytes && count && !flags && takes_batches(stream);
}

static cudaError_t prefetch(const char *call, void **p, size_t *bytes, size_t count,
                            struct cudaMemLocation *places, size_t *first, size_t place_count,
                            unsigned long long flags, bool discard, cudaStream_t stream)
{
    if (!is_list(p, bytes, count, flags, stream) || !places
        || !shares_cover_all(first, place_count, count))
        return client_done(cudaErrorInvalidValue);
    return move(call, p, bytes, count, places, first, place_count, discard, stream);
}

EXPORT cudaError_t cudaMemPrefetchBatchAsync(void **p, size_t *bytes, size_t count,
                                             struct cudaMemLocation *places, size_t *first,
                                             size_t place_count, unsigned long long flags,
                                             cudaStream_t stream)
{
    return prefetch("cudaMemPrefetchBatchAsync", p, bytes, count, places, first, place_count, flags,
                    false, stream);
}
TWIN(cudaMemPrefetchBatchAsync, cudaMemPrefetchBatchAsync_ptsz,
     (void **p, size_t *bytes, size_t count, struct cudaMemLocation *places, size_t *first,
      size_t place_count, unsigned long long flags, cudaStream_t stream),
     (p, bytes, count, places, first, place_count, flags, stream))

EXPORT cudaError_t cudaMemDiscardBatchAsync(void **p, size_t *bytes, size_t count,
                                            unsigned long long flags, cudaStream_t stream)
{
    if (!is_list(p, bytes, count, flags, stream)) return client_done(cudaErrorInvalidValue);
    return move("cudaMemDiscardBatchAsync", p, bytes, count, NULL, NULL, 0, true, stream);
}
TWIN(cudaMemDiscardBatchAsync, cudaMemDiscardBatchAsync_ptsz,
     (void **p, size_t *bytes, size_t count, unsigned long long flags, cudaStream_t stream),
     (p, bytes, count, flags, stream))

EXPORT cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void **p, size_t *bytes, size_t count,
                                                       struct cudaMemLocation *places,
                                                       size_t *first, size_t place_count,
                                                       unsigned long long flags,
                                                       cudaStream_t stream)
{
    return prefetch("cudaMemDiscardAndPrefetchBatchAsync", p, bytes, count, places, first,
                    place_count, flags, true, stream);
}
TWIN(cudaMemDiscardAndPrefetchBatchAsync, cudaMemDiscardAndPrefetchBatchAsync_ptsz,
     (void **p, size_t *bytes, size_t count, struct cudaMemLocation *places, size_t *first,
      size_t place_count, unsigned long long flags, cudaStream_t stream),
     (p, bytes, count, places, first, place_count, flags, stream))
