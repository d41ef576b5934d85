// Streams and events: ids that the device gives out; its simulated clock lives there.

#include "client.h"
#include <cuda_runtime_api.h>

static cudaError_t on_object(enum wire_op op, const char *call, uint64_t id, WireReply *reply)
{
    WireRequest request = client_request(op, call);
    request.object.id = id;
    return client_done(client_simple(&request, reply));
}

static cudaError_t stream_create(const char *call, cudaStream_t *stream, unsigned flags)
{
    if (!stream)
        return client_done(cudaErrorInvalidValue);
    WireRequest request = client_request(WIRE_STREAM_CREATE, call);
    request.event.flags = flags;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error)
        *stream = (cudaStream_t)(uintptr_t)reply.id;
    return client_done(error);
}

EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return stream_create("cudaStreamCreate", stream, 0);
}

EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return stream_create("cudaStreamCreateWithFlags", stream, flags);
}

EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    (void)priority;                     // work runs in the order in which it was issued
    return stream_create("cudaStreamCreateWithPriority", stream, flags);
}

EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    WireReply reply;
    return on_object(WIRE_STREAM_DESTROY, "cudaStreamDestroy", client_address(stream), &reply);
}

EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    (void)stream;
    if (!status)
        return client_done(cudaErrorInvalidValue);
    *status = cudaStreamCaptureStatusNone;      // there are no graphs here
    cudaError_t error = client_open();
    return client_done(error ? error : client_sticky());
}
TWIN(cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz);

static cudaError_t synchronise(const char *call, uint64_t stream, bool all)
{
    WireRequest request = client_request(WIRE_SYNC, call);
    request.stream = stream;
    request.object.id = all;
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    return synchronise("cudaStreamSynchronize", client_stream(stream), false);
}
TWIN(cudaStreamSynchronize, cudaStreamSynchronize_ptsz);

// Asking moves the clock to the end of the work, so the answer is always that it has ended.
EXPORT cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    return synchronise("cudaStreamQuery", client_stream(stream), false);
}
TWIN(cudaStreamQuery, cudaStreamQuery_ptsz);

EXPORT cudaError_t cudaDeviceSynchronize(void)
{
    return synchronise("cudaDeviceSynchronize", 0, true);
}

EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    (void)flags;
    WireRequest request = client_request(WIRE_STREAM_WAIT, "cudaStreamWaitEvent");
    request.stream = client_stream(stream);
    request.event.event = client_address(event);
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}
TWIN(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz);

static cudaError_t event_create(const char *call, cudaEvent_t *event, unsigned flags)
{
    if (!event)
        return client_done(cudaErrorInvalidValue);
    WireRequest request = client_request(WIRE_EVENT_CREATE, call);
    request.event.flags = flags;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error)
        *event = (cudaEvent_t)(uintptr_t)reply.id;
    return client_done(error);
}

EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return event_create("cudaEventCreate", event, 0);
}

EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    return event_create("cudaEventCreateWithFlags", event, flags);
}

EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    WireReply reply;
    return on_object(WIRE_EVENT_DESTROY, "cudaEventDestroy", client_address(event), &reply);
}

static cudaError_t event_record(const char *call, cudaEvent_t event, cudaStream_t stream)
{
    WireRequest request = client_request(WIRE_EVENT_RECORD, call);
    request.stream = client_stream(stream);
    request.event.event = client_address(event);
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return event_record("cudaEventRecord", event, stream);
}
TWIN(cudaEventRecord, cudaEventRecord_ptsz);

EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)flags;
    return event_record("cudaEventRecordWithFlags", event, stream);
}
TWIN(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz);

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    WireReply reply;
    return on_object(WIRE_EVENT_SYNC, "cudaEventSynchronize", client_address(event), &reply);
}

EXPORT cudaError_t cudaEventQuery(cudaEvent_t event)
{
    WireReply reply;
    return on_object(WIRE_EVENT_SYNC, "cudaEventQuery", client_address(event), &reply);
}

EXPORT cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    if (!milliseconds)
        return client_done(cudaErrorInvalidValue);
    WireRequest request = client_request(WIRE_EVENT_ELAPSED, "cudaEventElapsedTime");
    request.elapsed.from = client_address(from);
    request.elapsed.to = client_address(to);
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error)
        *milliseconds = (float)reply.elapsed.milliseconds;
    return client_done(error);
}
