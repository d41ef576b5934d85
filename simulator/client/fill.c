// Filling memory with a value.

#include "operation.h"
#include <stdio.h>

cudaError_t operation_run_fill(const Operation *operation, uint64_t stream)
{
    const FillOperation *fill = &operation->fill;
    WireRequest request = operation_request(operation, WIRE_FILL);
    request.stream = stream;
    request.copy.device =
        (WireBox){ client_address(fill->to.address), fill->to.pitch, fill->to.slice };
    request.copy.width = fill->width;
    request.copy.rows = fill->rows;
    request.copy.slices = fill->slices;
    request.copy.value = fill->value;
    request.copy.value_bytes = fill->value_bytes;
    request.copy.blocks = fill->blocks;
    WireReply reply;
    return client_simple(&request, &reply);
}

static cudaError_t not_ours(const Operation *operation)
{
    char message[128];
    snprintf(message, sizeof message, "%s was given %p, which is not device memory",
             operation->call, (void *)operation->fill.to.address);
    return client_misuse(operation->call, cudaErrorInvalidValue, message,
                         "It fills memory of the device only.", "For host memory use memset.");
}

cudaError_t operation_check_fill(const Operation *operation)
{
    const FillOperation *fill = &operation->fill;
    uint64_t total;
    bool rows = fill->rows > 1 || fill->slices > 1;
    if (__builtin_mul_overflow(fill->width, fill->rows, &total)
        || __builtin_mul_overflow(total, fill->slices, &total)
        || (rows && fill->width > fill->to.pitch))
        return cudaErrorInvalidValue;
    if (total && !client_is_device(fill->to.address) && !client_is_pinned(fill->to.address))
        return not_ours(operation);
    return cudaSuccess;
}

static cudaError_t issue(const char *call, FillOperation fill, cudaStream_t stream)
{
    Operation operation = { .kind = OPERATION_FILL, .call = call, .fill = fill };
    cudaError_t error = client_open();
    if (!error) error = operation_check_fill(&operation);
    if (error) return client_done(error);
    if (!fill.width || !fill.rows || !fill.slices) return client_done(client_sticky());
    return client_done(operation_issue(&operation, stream));
}

static FillOperation with(void *p, size_t pitch, int value, size_t width, size_t rows)
{
    return (FillOperation){ .to = { p, pitch, 0 },
                            .width = width,
                            .rows = rows,
                            .slices = 1,
                            .value = (uint8_t)value,
                            .value_bytes = 1 };
}

// The memset functions are asynchronous for the host, except on pinned or managed memory (CUDA
// Runtime API, "API synchronization behavior").
static FillOperation waited_for(FillOperation fill)
{
    fill.blocks = client_is_managed(fill.to.address) || client_is_pinned(fill.to.address);
    return fill;
}

EXPORT cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    return issue("cudaMemset", waited_for(with(p, bytes, value, bytes, 1)), 0);
}
TWIN(cudaMemset, cudaMemset_ptds, (void *p, int value, size_t bytes), (p, value, bytes))

EXPORT cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    return issue("cudaMemsetAsync", with(p, bytes, value, bytes, 1), stream);
}
TWIN(cudaMemsetAsync, cudaMemsetAsync_ptsz, (void *p, int value, size_t bytes, cudaStream_t stream),
     (p, value, bytes, stream))

EXPORT cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    return issue("cudaMemset2D", waited_for(with(p, pitch, value, width, height)), 0);
}
TWIN(cudaMemset2D, cudaMemset2D_ptds,
     (void *p, size_t pitch, int value, size_t width, size_t height),
     (p, pitch, value, width, height))

EXPORT cudaError_t cudaMemset2DAsync(void *p, size_t pitch, int value, size_t width, size_t height,
                                     cudaStream_t stream)
{
    return issue("cudaMemset2DAsync", with(p, pitch, value, width, height), stream);
}
TWIN(cudaMemset2DAsync, cudaMemset2DAsync_ptsz,
     (void *p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream),
     (p, pitch, value, width, height, stream))

static FillOperation with_box(struct cudaPitchedPtr p, int value, struct cudaExtent extent)
{
    FillOperation fill = with(p.ptr, p.pitch, value, extent.width, extent.height);
    fill.to.slice = p.pitch * p.ysize;
    fill.slices = extent.depth;
    return fill;
}

EXPORT cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent extent)
{
    return issue("cudaMemset3D", waited_for(with_box(p, value, extent)), 0);
}
TWIN(cudaMemset3D, cudaMemset3D_ptds,
     (struct cudaPitchedPtr p, int value, struct cudaExtent extent), (p, value, extent))

EXPORT cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent extent,
                                     cudaStream_t stream)
{
    return issue("cudaMemset3DAsync", with_box(p, value, extent), stream);
}
TWIN(cudaMemset3DAsync, cudaMemset3DAsync_ptsz,
     (struct cudaPitchedPtr p, int value, struct cudaExtent extent, cudaStream_t stream),
     (p, value, extent, stream))
