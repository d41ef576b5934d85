// Handlers of a few lines each: queries about the device, streams and events, and requests that
// only inform the device.

#define _GNU_SOURCE
#include "serve.h"
#include "streams/clock.h"
#include "machine/call.h"
#include "machine/dynamic_launch.h"
#include "machine/condition.h"
#include "machine/heap.h"
#include "machine/print.h"
#include "machine/profile.h"
#include "model/flight.h"
#include "model/managed.h"
#include "streams/peer.h"
#include "pool.h"
#include "activity.h"
#include "report/origin.h"
#include "report/timeline.h"
#include "work.h"
#include <driver_types.h>
#include <string.h>

// For requests whose only effects are their order and their cost.
void answer_nothing(Call *call) { (void)call; }

void answer_leaving(Call *call)
{
    (void)call;
    device.leaving = true;
}

// ---- The device ----

void answer_hello(Call *call)
{
    call->reply.error = visible_choose(call->request.object.id ? call->tail : NULL);
    WireFacts facts = {
        .device_count = (int32_t)device.count,
        .major = profile.major,
        .minor = profile.minor,
        .sm_count = profile.sm_count,
        .threads_per_sm = profile.max_threads_per_sm,
        .blocks_per_sm = profile.max_blocks_per_sm,
        .registers_per_sm = profile.registers_per_sm,
        .shared_per_sm = profile.shared_per_sm,
        .shared_per_block = profile.shared_per_block,
        .shared_per_block_optin = profile.shared_per_block_optin,
        .shared_reserved = profile.shared_reserved_per_block,
        .l2_bytes = profile.l2_bytes,
        .memory_bus_bits = profile.memory_bus_bits,
        .clock_khz = (int32_t)(profile.clock_hz / 1e3),
        .memory_clock_khz = (int32_t)(profile.memory_clock_hz / 1e3),
        .memory_bytes = profile.memory_bytes,
    };
    memcpy(facts.name, profile.name, sizeof facts.name);
    for (u32 d = 0; d < device.count; d++) facts.number[d] = (uint8_t)device.number[d];
    memcpy(call->out, &facts, sizeof facts);
    call->reply.tail = sizeof facts;
    if (!call->reply.error) call->file = device.memory;
}

void answer_misuse(Call *call)
{
    char *why = strchr(call->tail, '\n'), *next = why ? strchr(why + 1, '\n') : NULL;
    if (!next) return;
    *why++ = *next++ = 0;
    Report report = { .cause = CAUSE_misuse,
                      .place = serve_place(call),
                      .call = call->request.call,
                      .message = call->tail,
                      .why = why,
                      .next = next };
    report_error(&report);
}

void answer_refused(Call *call)
{
    u64 callers[WIRE_CALLERS];
    char *words[5], *rest = call->tail + sizeof callers;
    if (call->tail_bytes < sizeof callers) return;
    memcpy(callers, call->tail, sizeof callers);
    for (u32 n = 0; n < 5; n++)
        if (!(words[n] = strsep(&rest, "\n"))) return;
    Report report = { .cause = CAUSE_misuse,
                      .place = serve_place(call),
                      .call = call->request.call,
                      .note = true,
                      .message = words[0],
                      .why = words[1],
                      .next = words[2],
                      .has_other = *words[3],
                      .other = { .label = words[3], .call = words[4] } };
    if (report.has_other) origin_place(callers, WIRE_CALLERS, &report.other.place);
    report_error(&report);
}

void answer_unsupported(Call *call)
{
    Report report = { .cause = CAUSE_call_unsupported,
                      .place = serve_place(call),
                      .call = call->tail };
    report_error(&report);
}

void answer_peer(Call *call)
{
    u32 from = call->request.device, to = call->request.peer.other;
    bool enable = call->request.peer.enable;
    if (to >= device.count || to == from) call->reply.error = WIRE_INVALID_DEVICE;
    else if (!(enable ? peer_enable(from, to) : peer_disable(from, to)))
        refusal(call, enable ? WIRE_PEER_ALREADY_ENABLED : WIRE_PEER_NOT_ENABLED,
                enable ? CAUSE_peer_access_twice : CAUSE_peer_access_missing,
                (ReportNumber[REFUSAL_NUMBERS]){ { "device_number", from }, { "other", to } });
}

static void refuse_limit(Call *call)
{
    refusal(call, WIRE_INVALID_VALUE, CAUSE_limit_after_use, NULL);
}

void answer_limit(Call *call)
{
    u64 value = call->request.limit.value;
    u32 of = call->request.device;
    switch (call->request.limit.limit) {
    case cudaLimitStackSize:
        clock_wait_device(of);
        call_set_stack(of, value);
        break;
    case cudaLimitPrintfFifoSize:
        if (print_used()) refuse_limit(call);
        break;
    case cudaLimitDevRuntimePendingLaunchCount:
        dynamic_launch_set_limit(of, (u32)(value < UINT32_MAX ? value : UINT32_MAX));
        break;
    case cudaLimitMallocHeapSize:
        if (!heap_set_limit(of, value)) refuse_limit(call);
        break;
    }
}

void answer_profiler(Call *call)
{
    if (!timeline_is_on()) return;
    work_finish();
    report_range(call->request.object.id, call->by_owner, clock_all_end() - clock_now());
}

void answer_reset(Call *call)
{
    u32 of = call->request.device;
    launch_unchecked(true);
    transfer_leaks(of);
    transfer_free_all(of, call->request.caller);
    clock_reset_device(of);
    peer_reset(of);
    pool_reset(of);
}

// ---- Work of streams ----

void answer_graph(Call *call)
{
    u64 stream = call->request.stream;
    if (!handle_stream(call, stream)) return;
    pool_graph_begins(clock_stream_device(stream));
    double ns = (profile.graph_seconds - profile.graph_kernel_seconds) * 1e9;
    clock_work(stream, ENGINE_NONE, 1, ns, false);
    activity_work(stream, "graph", "begin of a graph", ns, 0);
}

void answer_host_function(Call *call)
{
    u64 stream = call->request.stream;
    if (!handle_stream(call, stream)) return;
    u64 operation = clock_operation(stream);
    clock_work(stream, ENGINE_NONE, 1, profile.host_function_seconds * 1e9, false);
    activity_work(stream, "host function", "host function", profile.host_function_seconds * 1e9, 0);
    managed_waited(true); // the function may use what earlier kernels wrote, and copies brought
    flight_told(clock_before(operation));
}

void answer_condition(Call *call)
{
    u32 what = call->request.condition.what, *value = NULL;
    if (what == WIRE_CONDITION_MAKE) {
        call->reply.id = condition_make();
        return;
    }
    value = condition_at(call->request.condition.id);
    if (!value) {
        call->reply.error = WIRE_INVALID_VALUE;
        return;
    }
    if (what == WIRE_CONDITION_SET) *value = call->request.condition.value;
    else report_crossing(CROSSING_PRINT, sizeof *value); // a kernel may have set it
    call->reply.id = *value;
}

// ---- Streams and events ----

static void check_handle(Call *call, bool good)
{
    if (!good) call->reply.error = WIRE_INVALID_RESOURCE_HANDLE;
}

static void give_id(Call *call, u64 id)
{
    call->reply.id = id;
    if (!id) call->reply.error = WIRE_MEMORY_ALLOCATION;
}

void answer_stream_create(Call *call)
{
    const WireRequest *r = &call->request;
    give_id(call, clock_stream_create(r->device, r->create.flags & 1, r->create.priority));
}

void answer_stream_facts(Call *call)
{
    if (!handle_stream(call, call->request.stream)) return;
    StreamFacts facts = clock_stream_facts(call->request.stream);
    call->reply.stream.number = facts.number;
    call->reply.stream.device = facts.device;
    call->reply.stream.flags = facts.non_blocking;
    call->reply.stream.priority = facts.priority;
}

void answer_stream_priority(Call *call)
{
    const WireRequest *r = &call->request;
    if (handle_stream(call, r->stream))
        check_handle(call, clock_stream_set_priority(r->stream, r->create.priority));
}

void answer_stream_wait(Call *call)
{
    const WireRequest *r = &call->request;
    if (!handle_stream(call, r->stream) || !handle_event(call, r->event.event)) return;
    check_handle(call, clock_stream_wait_event(r->stream, r->event.event));
    if (!call->reply.error) activity_event(r->stream, "waits for an event", r->event.event);
}

void answer_stream_sync(Call *call)
{
    if (handle_stream(call, call->request.stream)) clock_wait_stream(call->request.stream);
}

void answer_device_sync(Call *call) { clock_wait_device(call->request.device); }

void answer_stream_query(Call *call)
{
    u64 stream = call->request.stream;
    if (handle_stream(call, stream) && !clock_stream_done(stream))
        call->reply.error = WIRE_NOT_READY;
}

void answer_event_create(Call *call)
{
    u32 flags = call->request.event.flags;
    bool timed = !(flags & cudaEventDisableTiming), shared = flags & cudaEventInterprocess;
    give_id(call, clock_event_create(call->request.device, timed, shared));
}

void answer_event_record(Call *call)
{
    const WireRequest *r = &call->request;
    if (!handle_stream(call, r->stream) || !handle_event(call, r->event.event)) return;
    check_handle(call, clock_event_record(r->event.event, r->stream));
    if (!call->reply.error) activity_event(r->stream, "event", r->event.event);
}

void answer_event_sync(Call *call)
{
    if (handle_event(call, call->request.object.id))
        check_handle(call, clock_event_wait(call->request.object.id));
}

void answer_event_query(Call *call)
{
    u64 event = call->request.object.id;
    if (handle_event(call, event) && !clock_event_done(event)) call->reply.error = WIRE_NOT_READY;
}

void answer_event_elapsed(Call *call)
{
    static const enum report_cause causes[] = {
        [ELAPSED_NEVER_RECORDED] = CAUSE_event_never_recorded,
        [ELAPSED_UNTIMED] = CAUSE_event_without_time,
        [ELAPSED_TWO_DEVICES] = CAUSE_events_of_two_devices,
    };
    const WireRequest *r = &call->request;
    if (!handle_event(call, r->elapsed.from) || !handle_event(call, r->elapsed.to)) return;
    enum clock_elapsed which =
        clock_event_elapsed(r->elapsed.from, r->elapsed.to, &call->reply.elapsed.milliseconds);
    if (which == ELAPSED_NOT_READY) call->reply.error = WIRE_NOT_READY;
    else if (which) refusal(call, WIRE_INVALID_RESOURCE_HANDLE, causes[which], NULL);
    else report_crossing(CROSSING_PRINT, sizeof(f64)); // kernels may take as long as they like
}
