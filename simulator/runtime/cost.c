// The row of a request (wire.def) has the host's cost of the call as an expression. A call that
// takes several requests is charged once.
#include "cost.h"
#include "streams/clock.h"
#include "machine/profile.h"
#include "activity.h"
#include "trace.h"

// The request is only part of a call, or the call costs nothing and is not recorded.
#define NO_CALL (-1.0)

static bool asked_before; // the same request was answered with WIRE_DEADLOCKED, and is sent again

// Seconds; negative: NO_CALL.
static double seconds_of(const WireRequest *request)
{
    if (request->within) return NO_CALL;
    switch ((enum wire_op)request->op) {
#define REQUEST(name, handler, member, seconds, ...)                                               \
    case WIRE_##name: {                                                                            \
        return seconds;                                                                            \
    }
#include "wire/wire.def"
    case WIRE_OPERATION_COUNT: break;
    }
    return NO_CALL;
}

double cost_begin(const Call *call)
{
    double began = clock_now(), seconds = seconds_of(&call->request);
    if (seconds >= 0 && !asked_before) activity_begin(call, began + seconds * 1e9 / 2);
    if (seconds > 0 && !asked_before) clock_host(seconds * 1e9);
    return began;
}

void cost_end(const Call *call, double began)
{
    asked_before = call->reply.error == WIRE_DEADLOCKED;
    if (asked_before) return;
    const bool is_call = seconds_of(&call->request) >= 0;
    const bool failed = call->reply.error && !call->request.within
                     && wire_row(call->request.op)->does != WIRE_DOES_NOTHING;
    if (is_call || failed) activity_call(call, began);
    trace_call(call, is_call && !call->reply.error, began);
}
