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

// Launches, copies, fills and waits that requests have announced, and that have not come yet.
static u64 announced;

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

// A library's call, or its part of several ranks', takes a few. A graded program has no use for
// one on a single device.
static u64 pieces_of_library(u64 calls)
{
    enum { PIECES = 16 };
    return device.owner >= 0 && device.count == 1 ? 0 : calls * PIECES;
}

static void announce(const WireRequest *r)
{
    switch (wire_row(r->op)->announces) {
    case WIRE_ANNOUNCES_NOTHING: return;
    case WIRE_ANNOUNCES_OPERATIONS: announced += r->object.id; return;
    case WIRE_ANNOUNCES_CALLS: announced += pieces_of_library(r->object.id); return;
    case WIRE_ANNOUNCES_BODY:
        if (r->condition.what == WIRE_CONDITION_READ) announced += r->condition.value;
    }
}

static bool is_announced(const WireRequest *r)
{
    WireRequest alone = *r;
    alone.within = false;
    const enum wire_does does = wire_row(r->op)->does;
    const bool is_piece = does == WIRE_DOES_LAUNCH || does == WIRE_DOES_COPY
                       || does == WIRE_DOES_FILL || does == WIRE_DOES_WAIT
                       || does == WIRE_DOES_GRAPH;
    if (!r->within) return false;
    if (!is_piece || seconds_of(&alone) < 0) return true;
    if (!announced) return false;
    announced--;
    return true;
}

void cost_admit(Call *call)
{
    static bool admitted;
    if (!asked_before) admitted = is_announced(&call->request);
    if (admitted) return;
    call->request.within = false;
    if (wire_row(call->request.op)->does == WIRE_DOES_LAUNCH) call->request.launch.in_graph = false;
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
    if (!call->reply.error) announce(&call->request);
    const bool is_call = seconds_of(&call->request) >= 0;
    const bool failed = call->reply.error && !call->request.within
                     && wire_row(call->request.op)->does != WIRE_DOES_NOTHING;
    if (is_call || failed) activity_call(call, began);
    trace_call(call, is_call && !call->reply.error, began);
}
