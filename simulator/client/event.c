// Events. A handle is an id that the device gives out.

#include "capture.h"
#include <cuda_runtime_api.h>

static cudaError_t event_create(const char *call, cudaEvent_t *event, unsigned flags)
{
    unsigned known = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    bool times = !(flags & cudaEventDisableTiming);
    if (event && (flags & ~known)) return client_done(client_no_flags(call, flags));
    if (!event || (flags & ~known) || ((flags & cudaEventInterprocess) && times))
        return client_done(cudaErrorInvalidValue);
    WireRequest request = client_request(WIRE_EVENT_CREATE, call);
    request.event.flags = flags;
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error) *event = (cudaEvent_t)(uintptr_t)reply.id;
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

static cudaError_t no_event(const char *call)
{
    return client_refuse(call, cudaErrorInvalidResourceHandle, "No event has that handle.",
                         "Give the event that cudaEventCreate stored.", "was given a null event");
}

static cudaError_t on_event(enum wire_op op, const char *call, cudaEvent_t event)
{
    if (!event) return client_done(no_event(call));
    WireRequest request = client_request(op, call);
    request.object.id = client_address(event);
    WireReply reply;
    return client_done(client_simple(&request, &reply));
}

EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    capture_forget_event(event);
    return on_event(WIRE_EVENT_DESTROY, "cudaEventDestroy", event);
}

cudaError_t operation_run_event(const Operation *operation, uint64_t stream)
{
    bool records = operation->kind == OPERATION_RECORD;
    WireRequest request =
        operation_request(operation, records ? WIRE_EVENT_RECORD : WIRE_STREAM_WAIT);
    request.stream = stream;
    request.event.event = client_address(operation->event);
    WireReply reply;
    return client_simple(&request, &reply);
}

// In a capture, cudaEventRecordExternal makes the record a node of the graph: each launch of the
// graph records the event. Outside a capture the flag is an error.
static cudaError_t record(const char *call, cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    cudaError_t error;
    if (!event || (flags & ~(unsigned)cudaEventRecordExternal))
        return client_done(event ? client_no_flags(call, flags) : no_event(call));
    if (flags && !capture_has_stream(client_stream(stream)))
        return client_done(cudaErrorIllegalState);
    if (!flags && capture_record(call, event, client_stream(stream), &error))
        return client_done(error);
    Operation operation = { .kind = OPERATION_RECORD, .call = call, .event = event };
    return client_done(flags ? operation_issue(&operation, stream)
                             : operation_run(&operation, client_stream(stream)));
}

EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    return record("cudaEventRecord", event, stream, 0);
}
TWIN(cudaEventRecord, cudaEventRecord_ptsz, (cudaEvent_t event, cudaStream_t stream),
     (event, stream))

EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    return record("cudaEventRecordWithFlags", event, stream, flags);
}
TWIN(cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz,
     (cudaEvent_t event, cudaStream_t stream, unsigned flags), (event, stream, flags))

EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    static const char call[] = "cudaStreamWaitEvent";
    cudaError_t error;
    if (!event) return client_done(capture_fails(call, client_stream(stream), no_event(call)));
    if (flags & ~(unsigned)cudaEventWaitExternal) return client_done(client_no_flags(call, flags));
    if (flags && !capture_has_stream(client_stream(stream)))
        return client_done(cudaErrorIllegalState);
    if (capture_had_event(event) && !capture_has_stream(client_stream(stream)))
        return client_done(cudaErrorInvalidValue);
    if (!flags && capture_wait(call, event, client_stream(stream), &error))
        return client_done(error);
    Operation operation = { .kind = OPERATION_WAIT, .call = call, .event = event };
    return client_done(flags ? operation_issue(&operation, stream)
                             : operation_run(&operation, client_stream(stream)));
}
TWIN(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz,
     (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))

// Checks that the host can query the event or wait for it.
static cudaError_t check(const char *call, cudaEvent_t event)
{
    cudaError_t error = capture_forbids_event(call, event);
    if (error) return error;
    return capture_had_event(event) ? cudaErrorInvalidValue : capture_forbids(call);
}

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    cudaError_t error = check("cudaEventSynchronize", event);
    return error ? client_done(error) : on_event(WIRE_EVENT_SYNC, "cudaEventSynchronize", event);
}

EXPORT cudaError_t cudaEventQuery(cudaEvent_t event)
{
    cudaError_t error = check("cudaEventQuery", event);
    return error ? client_done(error) : on_event(WIRE_EVENT_QUERY, "cudaEventQuery", event);
}

EXPORT cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    if (!milliseconds || !from || !to)
        return client_done(milliseconds ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    if (capture_had_event(from) || capture_had_event(to)) return client_done(cudaErrorInvalidValue);
    WireRequest request = client_request(WIRE_EVENT_ELAPSED, "cudaEventElapsedTime");
    request.elapsed.from = client_address(from);
    request.elapsed.to = client_address(to);
    WireReply reply;
    cudaError_t error = client_simple(&request, &reply);
    if (!error) *milliseconds = (float)reply.elapsed.milliseconds;
    return client_done(error);
}
