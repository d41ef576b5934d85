// The calls for streams. The handle of a stream is an id that the device gives out.

#include "capture.h"
#include "host.h"
#include <stdio.h>
#include <cuda_runtime_api.h>

static cudaError_t stream_create(const char *call, cudaStream_t *stream, unsigned flags,
                                 int priority)
{
    if (!stream) return client_done(cudaErrorInvalidValue);
    if (flags & ~(unsigned)cudaStreamNonBlocking) return client_done(client_no_flags(call, flags));
    WireRequest request = client_request(WIRE_STREAM_CREATE, call);
    request.create.flags = flags;
    request.create.priority = client_priority(priority);
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error) *stream = (cudaStream_t)(uintptr_t)reply.id;
    return client_done(error);
}

EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return stream_create("cudaStreamCreate", stream, 0, 0);
}

EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return stream_create("cudaStreamCreateWithFlags", stream, flags, 0);
}

EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    return stream_create("cudaStreamCreateWithPriority", stream, flags, priority);
}

EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    if ((uintptr_t)stream <= (uintptr_t)cudaStreamPerThread)
        return client_done(cudaErrorInvalidResourceHandle);
    WireRequest request = client_request(WIRE_STREAM_DESTROY, "cudaStreamDestroy");
    request.object.id = client_address(stream);
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error) {
        client_stream_forget(request.object.id);
        capture_forget(request.object.id);
    }
    return client_done(error);
}

// The stream's properties. Asking for them invalidates a capture of the stream.
static cudaError_t facts(const char *call, cudaStream_t stream, WireReply *reply)
{
    uint64_t id = client_stream(stream);
    return capture_has_stream(id) ? capture_forbids_waiting(call, id)
                                  : client_stream_facts(call, id, reply);
}

EXPORT cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    WireReply reply;
    cudaError_t error = flags ? facts("cudaStreamGetFlags", stream, &reply) : cudaErrorInvalidValue;
    if (!error) *flags = reply.stream.flags;
    return client_done(error);
}
TWIN(cudaStreamGetFlags, cudaStreamGetFlags_ptsz, (cudaStream_t stream, unsigned *flags),
     (stream, flags))

EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    WireReply reply;
    cudaError_t error =
        priority ? client_stream_facts("cudaStreamGetPriority", client_stream(stream), &reply)
                 : cudaErrorInvalidValue;
    if (!error) *priority = reply.stream.priority;
    return client_done(error);
}
TWIN(cudaStreamGetPriority, cudaStreamGetPriority_ptsz, (cudaStream_t stream, int *priority),
     (stream, priority))

EXPORT cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    WireReply reply;
    cudaError_t error = id ? facts("cudaStreamGetId", stream, &reply) : cudaErrorInvalidValue;
    if (!error) *id = reply.stream.number;
    return client_done(error);
}
TWIN(cudaStreamGetId, cudaStreamGetId_ptsz, (cudaStream_t stream, unsigned long long *id),
     (stream, id))

EXPORT cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    WireReply reply;
    cudaError_t error =
        device ? facts("cudaStreamGetDevice", stream, &reply) : cudaErrorInvalidValue;
    if (!error) *device = (int)reply.stream.device;
    return client_done(error);
}
TWIN(cudaStreamGetDevice, cudaStreamGetDevice_ptsz, (cudaStream_t stream, int *device),
     (stream, device))

static cudaError_t synchronise(enum wire_op op, const char *call, uint64_t stream)
{
    WireRequest request = client_request(op, call);
    request.stream = stream;
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

static cudaError_t tell_captured(const char *call, cudaError_t error)
{
    char message[80];
    snprintf(message, sizeof message, "%s: a stream is being captured", call);
    client_misuse(call, error, message,
                  "What is captured is written down, and not done: there is nothing to wait for.",
                  "Wait when the graph has been launched.");
    return client_done(error);
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    uint64_t id = client_stream(stream);
    cudaError_t error = capture_ends_by("cudaStreamSynchronize", id);
    return error ? tell_captured("cudaStreamSynchronize", error)
                 : synchronise(WIRE_STREAM_SYNC, "cudaStreamSynchronize", id);
}
TWIN(cudaStreamSynchronize, cudaStreamSynchronize_ptsz, (cudaStream_t stream), (stream))

EXPORT cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    WireRequest request = client_request(WIRE_STREAM_QUERY, "cudaStreamQuery");
    request.stream = client_stream(stream);
    cudaError_t error = client_open();
    if (!error) error = capture_forbids_asking(request.call, request.stream);
    if (error || host_is_busy(request.stream))
        return client_done(error ? error : cudaErrorNotReady);
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}
TWIN(cudaStreamQuery, cudaStreamQuery_ptsz, (cudaStream_t stream), (stream))

EXPORT cudaError_t cudaDeviceSynchronize(void)
{
    cudaError_t error = capture_ends_by_all("cudaDeviceSynchronize");
    return error ? tell_captured("cudaDeviceSynchronize", error)
                 : synchronise(WIRE_DEVICE_SYNC, "cudaDeviceSynchronize", 0);
}
