// Events: ids that the device gives out.

#include "client.h"
#include <cuda_runtime_api.h>

static cudaError_t event_create(const char *call, cudaEvent_t *event, unsigned flags)
{
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!event || (flags & ~known))
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

static cudaError_t on_event(enum wire_op op, const char *call, cudaEvent_t event)
{
    if (!event)
        return client_done(cudaErrorInvalidResourceHandle);
    WireRequest request = client_request(op, call);
    request.object.id = client_address(event);
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    return on_event(WIRE_EVENT_DESTROY, "cudaEventDestroy", event);
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
TWIN(cudaEventRecord, cudaEventRecord_ptsz, (cudaEvent_t event, cudaStream_t stream),
     (event, stream))

EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)flags;
    return event_record("cudaEventRecordWithFlags", event, stream);
}
TWIN(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz, (cudaEvent_t event, cudaStream_t stream, unsigned flags),
     (event, stream, flags))

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    return on_event(WIRE_EVENT_SYNC, "cudaEventSynchronize", event);
}

EXPORT cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return on_event(WIRE_QUERY, "cudaEventQuery", event);
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
