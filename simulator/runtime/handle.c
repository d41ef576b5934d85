// The handles that calls are given. One that the program has destroyed makes a call fail, and a
// note says who destroyed it.
#include "report/origin.h"
#include "serve.h"
#include "streams/clock.h"
#include <string.h>

enum { KEPT = 1024 }; // of those destroyed last

enum handle { STREAM, EVENT, HANDLES };

static struct {
    u64 id, caller[WIRE_CALLERS];
} destroyed[HANDLES][KEPT];
static u32 count[HANDLES]; // in all

static bool destroy(Call *call, enum handle kind, bool was_there)
{
    u64 id = call->request.object.id;
    if (was_there) {
        u32 at = count[kind]++ % KEPT;
        destroyed[kind][at].id = id;
        memcpy(destroyed[kind][at].caller, call->request.caller, sizeof destroyed[kind][at].caller);
    }
    return was_there;
}

static const u64 *destroyer_of(enum handle kind, u64 id)
{
    for (u32 n = 0; id && n < count[kind] && n < KEPT; n++)
        if (destroyed[kind][n].id == id) return destroyed[kind][n].caller;
    return NULL;
}

static void tell(const Call *call, enum handle kind, u64 id)
{
    static const struct {
        enum report_cause cause;
        const char *call;
    } words[HANDLES] = { [STREAM] = { CAUSE_stream_destroyed, "cudaStreamDestroy" },
                         [EVENT] = { CAUSE_event_destroyed, "cudaEventDestroy" } };
    const u64 *callers = destroyer_of(kind, id);
    if (!callers) return;
    Report r = { .cause = words[kind].cause,
                 .call = call->request.call,
                 .place = serve_place(call),
                 .note = true,
                 .has_other = true,
                 .other = { .call = words[kind].call } };
    origin_place(callers, WIRE_CALLERS, &r.other.place);
    report_error(&r);
}

static bool is_known(Call *call, enum handle kind, u64 id, bool known)
{
    if (known) return true;
    call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
    tell(call, kind, id);
    return false;
}

bool handle_stream(Call *call, u64 stream)
{
    return is_known(call, STREAM, stream, clock_stream_known(stream));
}

bool handle_event(Call *call, u64 event)
{
    return is_known(call, EVENT, event, clock_event_known(event));
}

void answer_stream_destroy(Call *call)
{
    u64 stream = call->request.object.id;
    is_known(call, STREAM, stream, destroy(call, STREAM, clock_stream_destroy(stream)));
}

void answer_event_destroy(Call *call)
{
    u64 event = call->request.object.id;
    is_known(call, EVENT, event, destroy(call, EVENT, clock_event_destroy(event)));
}
