// The handles that calls are given. One that the program has destroyed makes a call fail, and a
// report says where it was destroyed.
#include "report/origin.h"
#include "serve.h"
#include "streams/clock.h"
#include <string.h>

enum { KEPT = 1024 }; // of those destroyed last

static struct {
    u64 id, caller[WIRE_CALLERS];
} destroyed[WIRE_HANDLES][KEPT];
static u32 count[WIRE_HANDLES]; // in all

static const struct {
    enum report_cause cause;
    const char *call; // that destroys it
} kinds[WIRE_HANDLES] = {
    [WIRE_HANDLE_STREAM] = { CAUSE_stream_destroyed, "cudaStreamDestroy" },
    [WIRE_HANDLE_EVENT] = { CAUSE_event_destroyed, "cudaEventDestroy" },
    [WIRE_HANDLE_POOL] = { CAUSE_pool_destroyed, "cudaMemPoolDestroy" },
    [WIRE_HANDLE_GRAPH] = { CAUSE_graph_destroyed, "cudaGraphDestroy" },
    [WIRE_HANDLE_EXEC] = { CAUSE_exec_destroyed, "cudaGraphExecDestroy" },
};

void handle_destroyed(const Call *call, enum wire_handle kind, u64 id)
{
    u32 at = count[kind]++ % KEPT;
    destroyed[kind][at].id = id;
    memcpy(destroyed[kind][at].caller, call->request.caller, sizeof destroyed[kind][at].caller);
}

bool handle_destroyer(enum wire_handle kind, u64 id, ReportOther *by)
{
    for (u32 n = count[kind]; id && n && count[kind] - n < KEPT; n--)
        if (destroyed[kind][(n - 1) % KEPT].id == id) {
            *by = (ReportOther){ .label = "destroyed by", .call = kinds[kind].call };
            origin_place(destroyed[kind][(n - 1) % KEPT].caller, WIRE_CALLERS, &by->place);
            return true;
        }
    return false;
}

// False: the program did not destroy such a handle.
static bool tell(const Call *call, enum wire_handle kind, u64 id, bool note)
{
    Report r = { .cause = kinds[kind].cause,
                 .call = call->request.call,
                 .place = serve_place(call),
                 .note = note };
    r.has_other = handle_destroyer(kind, id, &r.other);
    if (r.has_other) report_error(&r);
    return r.has_other;
}

// The call fails, and a note says why: false. `unknown`: the cause if there never was such a
// handle.
static bool no_handle(Call *call, enum wire_handle kind, u64 id, enum report_cause unknown)
{
    call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
    if (!tell(call, kind, id, true)) refusal(call, call->reply.error, unknown, NULL);
    return false;
}

bool handle_stream(Call *call, u64 stream)
{
    return clock_stream_known(stream)
        || no_handle(call, WIRE_HANDLE_STREAM, stream, CAUSE_stream_unknown);
}

bool handle_event(Call *call, u64 event)
{
    return clock_event_known(event)
        || no_handle(call, WIRE_HANDLE_EVENT, event, CAUSE_event_unknown);
}

void handle_no_pool(Call *call, u64 pool)
{
    call->reply.error = WIRE_INVALID_VALUE;
    tell(call, WIRE_HANDLE_POOL, pool, true);
}

void answer_stream_destroy(Call *call)
{
    u64 stream = call->request.object.id;
    if (!handle_stream(call, stream)) return;
    if (clock_stream_destroy(stream)) handle_destroyed(call, WIRE_HANDLE_STREAM, stream);
    else call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
}

void answer_event_destroy(Call *call)
{
    u64 event = call->request.object.id;
    if (!handle_event(call, event)) return;
    clock_event_destroy(event);
    handle_destroyed(call, WIRE_HANDLE_EVENT, event);
}

// ---- The handles that the client gives out ----

void answer_handle_destroyed(Call *call)
{
    u32 kind = call->request.handle.kind;
    if (kind < WIRE_HANDLES) handle_destroyed(call, kind, call->request.handle.id);
}

void answer_handle_unknown(Call *call)
{
    const WireRequest *r = &call->request;
    call->reply.id =
        r->handle.kind < WIRE_HANDLES && tell(call, r->handle.kind, r->handle.id, !r->handle.fails);
}
