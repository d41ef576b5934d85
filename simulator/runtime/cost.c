// Calls that give the device something to do, or wait for it, cost what the profile says; setting
// up and looking around cost nothing. A call that is made of several requests is charged once.
#include "cost.h"
#include "streams/clock.h"
#include "machine/profile.h"
#include "ran.h"

static bool asked_before; // the request was answered "ask again"

// The chunk that completes a transfer, or the request of one that has no chunks.
static bool is_last(const Call *call)
{
    const WireChunk *chunk = &call->request.copy.chunk;
    bool in_chunks = call->request.op == WIRE_COPY_IN || call->request.op == WIRE_COPY_OUT;
    return !in_chunks || chunk->offset + chunk->bytes == chunk->total;
}

// Seconds; negative: it is no call of its own.
static double seconds_of(const Call *call)
{
    const WireRequest *r = &call->request;
    if (r->within) return -1;
    switch ((enum wire_op)r->op) {
    case WIRE_LAUNCH: return r->launch.only_checked ? -1 : profile.launch_call_seconds;
    case WIRE_COPY_IN:
    case WIRE_COPY_OUT:
    case WIRE_COPY_DEVICE: return is_last(call) ? profile.async_copy_call_seconds : -1;
    case WIRE_FILL: return profile.fill_call_seconds;
    case WIRE_GRAPH:
        return profile.graph_call_seconds + (double)r->object.id * profile.graph_node_call_seconds;
    case WIRE_NCCL: return (double)r->object.id * profile.nccl_call_seconds;
    case WIRE_HOST_FUNCTION: return profile.host_function_call_seconds;
    case WIRE_EVENT_RECORD:
        return clock_event_timed(r->event.event) ? profile.event_call_seconds
                                                 : profile.untimed_event_call_seconds;
    case WIRE_STREAM_WAIT: return profile.wait_call_seconds;
    case WIRE_SYNC:
    case WIRE_EVENT_SYNC: return profile.synchronize_call_seconds;
    case WIRE_COPY_HOST:
    case WIRE_PREFETCH:
    case WIRE_DISCARD:
    case WIRE_POOL_ALLOC:
    case WIRE_POOL_FREE:
    case WIRE_ALLOC:
    case WIRE_FREE: return 0;
    default: return -1;
    }
}

double cost_begin(const Call *call)
{
    double began = clock_now(), seconds = seconds_of(call);
    if (seconds > 0 && !asked_before) clock_host(seconds * 1e9);
    return began;
}

void cost_end(const Call *call, double began)
{
    asked_before = call->reply.error == WIRE_STANDS;
    if (!asked_before && !call->reply.error && seconds_of(call) >= 0) ran_call(call, began);
}
