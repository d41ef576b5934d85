// Fills in the report of a call from its request, its reply and its row.
#include "trace.h"
#include "activity.h"
#include "memory/memory.h"
#include "report/origin.h"
#include "report/timeline.h"
#include "streams/clock.h"
#include <string.h>

enum { MOST_TOLD = 256 }; // calls that do the same, between two requests of the owner's

static bool keeps;

static struct {
    Call call;    // the last one that was reported: its request, tail and reply
    u64 again;    // how many times it was made since
    bool was_any; // there is one, and no other call has been made since
} last;

// Of the calls that do the same, and have succeeded or failed, since the last pause.
static struct {
    u64 told, left_out;
} counts[WIRE_DEEDS][2];

void trace_keep(void) { keeps = true; }

const char *trace_name(const Call *call)
{
    const char *name = call->request.call;
    return strcmp(name, "a launch") ? name : "cudaLaunchKernel"; // <<<>>>
}

// ---- Where a call is made ----

// The call stacks of the calls that were reported. Their source lines are looked for only when the
// owner asks: that takes a third of a millisecond each.
enum { MOST_SITES = 512 };
static struct {
    u64 callers[WIRE_CALLERS];
    bool told;
} sites[MOST_SITES];
static u32 site_count;

// From 1 on; 0: there are too many.
static u32 site_of(const u64 *callers)
{
    for (u32 n = 0; n < site_count; n++)
        if (memcmp(sites[n].callers, callers, sizeof sites[n].callers) == 0) return n + 1;
    if (site_count == MOST_SITES) return 0;
    memcpy(sites[site_count].callers, callers, sizeof sites[0].callers);
    return ++site_count;
}

void trace_tell_sites(void)
{
    Place place;
    for (u32 n = 0; n < site_count; n++) {
        if (!sites[n].told && origin_place(sites[n].callers, ORIGIN_CALLERS, &place) && place.line)
            report_site(n + 1, &place);
        sites[n].told = true;
    }
}

void trace_sites(Call *call)
{
    if (call->by_owner) trace_tell_sites();
}

// ---- What a call does ----

static const char *const deeds[] = {
    [WIRE_DOES_ALLOC] = "alloc",       [WIRE_DOES_POOL_ALLOC] = "alloc",
    [WIRE_DOES_FREE] = "free",         [WIRE_DOES_POOL_FREE] = "free",
    [WIRE_DOES_COPY] = "copy",         [WIRE_DOES_FILL] = "fill",
    [WIRE_DOES_PREFETCH] = "prefetch", [WIRE_DOES_LAUNCH] = "launch",
    [WIRE_DOES_GRAPH] = "graph",       [WIRE_DOES_WAIT] = "wait",
    [WIRE_DOES_RECORD] = "record",     [WIRE_DOES_ORDER] = "order",
    [WIRE_DOES_VARIABLE] = "variable", [WIRE_DOES_RESET] = "reset",
    [WIRE_DOES_CHECK] = "check",       [WIRE_DOES_MISUSE] = "misuse",
};

static const char *const memories[] = {
    [WIRE_OF_DEVICE] = "device",
    [WIRE_OF_BOTH] = "managed",
    [WIRE_OF_HOST] = "pinned",
    [WIRE_OF_PROGRAM] = "registered",
};

static const char *memory_name(u32 kind)
{
    return kind < sizeof memories / sizeof *memories ? memories[kind] : NULL;
}

static bool is_of_device(u64 address) { return address >= MEMORY_BASE && address < MEMORY_PINNED; }

static const char *kind_of(u64 to, u64 from)
{
    return is_of_device(to)   ? is_of_device(from) ? "DtoD" : "HtoD"
         : is_of_device(from) ? "DtoH"
                              : "HtoH";
}

static MoveReport move_of(const Call *call)
{
    const WireRequest *r = &call->request;
    bool out = wire_row(r->op)->slots == WIRE_SLOTS_OUT;
    const WireBox *to = out ? &r->copy.from : &r->copy.device,
                  *from = out ? &r->copy.device : &r->copy.from;
    return (MoveReport){ .to = to->address,
                         .from = from->address,
                         .width = r->copy.width,
                         .rows = r->copy.rows * r->copy.slices,
                         .to_pitch = to->pitch,
                         .from_pitch = from->pitch,
                         .value = r->copy.value,
                         .fills = wire_row(r->op)->does == WIRE_DOES_FILL,
                         .pinned = r->copy.pinned };
}

// The arguments lie in the tail. A refused launch may have another tail than its kernel takes.
static size_t arguments_of(const Call *call, const Kernel *kernel, ArgumentReport *arguments)
{
    size_t count = 0;
    for (u32 n = 0; n < kernel->param_count && count < CALL_ARGUMENTS; n++) {
        u64 offset = kernel->param_offset[n], bytes = kernel->param_size[n];
        ArgumentReport a = { .bytes = bytes };
        if (offset > call->tail_bytes || bytes > call->tail_bytes - offset) break;
        memcpy(a.word, call->tail + offset, bytes < sizeof a.word ? bytes : sizeof a.word);
        arguments[count++] = a;
    }
    return count;
}

static LaunchReport launch_report(const Call *call, ArgumentReport *arguments)
{
    const WireRequest *r = &call->request;
    const Kernel *kernel = launch_kernel_of(r->launch.kernel);
    LaunchReport launch = { .signature = kernel ? kernel->signature : NULL,
                            .shared = r->launch.dynamic_shared,
                            .arguments = arguments,
                            .count = kernel ? arguments_of(call, kernel, arguments) : 0,
                            .ignored = r->launch.unchecked };
    memcpy(launch.grid, r->launch.grid, sizeof launch.grid);
    memcpy(launch.block, r->launch.block, sizeof launch.block);
    return launch;
}

// ---- The report ----

static void fill_memory(const Call *call, CallReport *report)
{
    const WireRequest *r = &call->request;
    switch (wire_row(r->op)->does) {
    case WIRE_DOES_ALLOC:
        report->memory = memory_name(r->alloc.kind);
        report->bytes = r->alloc.bytes;
        report->address = call->reply.error ? 0 : call->reply.memory.address;
        break;
    case WIRE_DOES_POOL_ALLOC: {
        const Allocation *a = call->reply.memory.address ? NULL : memory_find(r->pool.bytes);
        report->memory = memory_name(WIRE_OF_DEVICE);
        report->bytes = a ? a->size : r->pool.bytes;
        report->address = a ? a->base : call->reply.error ? 0 : call->reply.memory.address;
        break;
    }
    case WIRE_DOES_FREE: report->address = r->pointer.address; break;
    case WIRE_DOES_POOL_FREE: report->address = r->pool.bytes; break;
    case WIRE_DOES_VARIABLE:
        report->variable = call->tail;
        report->address = call->reply.memory.address;
        report->bytes = call->reply.memory.size;
        break;
    case WIRE_DOES_PREFETCH:
        report->kind = r->range.location < 0 ? "DtoH" : "HtoD";
        report->address = r->range.address;
        report->bytes = r->range.bytes;
        break;
    default: break;
    }
}

// For what does the host wait in it, or ask? NULL: nothing.
static const char *waits_for(const WireRequest *r)
{
    switch (wire_row(r->op)->after) {
    case WIRE_AFTER_NOTHING: return NULL;
    case WIRE_AFTER_STREAM:
    case WIRE_AFTER_STREAM_ALONE: return "stream";
    case WIRE_AFTER_EVENT: return "event";
    case WIRE_AFTER_DEVICE: return "device";
    case WIRE_AFTER_ALL: return "all";
    }
    return NULL;
}

// A copy to memory that is not pinned is complete when the call returns.
static bool does_wait(const WireRequest *r)
{
    const WireRow *row = wire_row(r->op);
    return row->then == WIRE_THEN_WAIT || wire_holds(row->waits, r)
        || (row->slots == WIRE_SLOTS_OUT && !r->copy.pinned);
}

static void fill_order(const WireRequest *r, CallReport *report)
{
    const WireRow *row = wire_row(r->op);
    if (does_wait(r)) report->waits = waits_for(r);
    if (row->then == WIRE_THEN_NOT_READY) report->asks = waits_for(r);
    if (row->does == WIRE_DOES_RECORD || row->does == WIRE_DOES_ORDER)
        report->event = r->event.event;
    if (row->after == WIRE_AFTER_EVENT) report->event = r->object.id;
    if (row->does == WIRE_DOES_GRAPH) report->count = (s64)r->object.id;
    bool of_stream = row->after == WIRE_AFTER_STREAM || row->after == WIRE_AFTER_STREAM_ALONE
                  || row->does == WIRE_DOES_POOL_ALLOC;
    if (of_stream && clock_stream_known(r->stream)) report->stream = (s64)activity_row(r->stream);
}

static void fill(const Call *call, CallReport *report)
{
    const WireRequest *r = &call->request;
    report->does = deeds[wire_row(r->op)->does];
    origin_caller(r->caller, &report->place);
    report->site = site_of(r->caller);
    report->device = r->device;
    report->status = call->reply.error;
    report->within = r->within;
    fill_memory(call, report);
    fill_order(r, report);
    if (report->move && !report->move->fills)
        report->kind = kind_of(report->move->to, report->move->from);
}

// Of a query: it is complete what was not when the host asked before.
static bool does_block(const Call *call)
{
    static bool has_asked;
    const WireRow *row = wire_row(call->request.op);
    if (row->then != WIRE_THEN_NOT_READY) return wire_holds(row->waits, &call->request);
    bool was_asked = has_asked;
    has_asked = call->reply.error == WIRE_NOT_READY;
    return was_asked && !call->reply.error;
}

// One that takes the host no time is on the timeline where it has waited.
typedef struct Timed {
    bool is_on, blocks;
    double start, end;
} Timed;

static void tell(const Call *call, bool traced, const Timed *timed)
{
    static ArgumentReport arguments[CALL_ARGUMENTS];
    enum wire_does does = wire_row(call->request.op)->does;
    CallReport report = { .name = trace_name(call), .stream = -1 };
    if (timed->is_on) {
        report.start_ns = timed->start;
        report.end_ns = timed->end;
        report.did = deeds[does];
        report.blocks = timed->blocks;
    }
    MoveReport move;
    LaunchReport launch;
    if (traced && (does == WIRE_DOES_COPY || does == WIRE_DOES_FILL)) {
        move = move_of(call);
        report.move = &move;
    }
    if (traced && does == WIRE_DOES_LAUNCH) {
        launch = launch_report(call, arguments);
        report.launch = &launch;
    }
    if (traced) fill(call, &report);
    report_call(&report);
}

// ---- Which calls are told ----

// A copy in chunks is told at the last one, or at one that fails.
static bool is_traced(const Call *call)
{
    const WireRow *row = wire_row(call->request.op);
    return keeps && device.owner >= 0 && row->does && !call->by_owner
        && (!row->slots || call->reply.error || wire_is_last_chunk(&call->request));
}

static void tell_again(void)
{
    if (last.again) report_calls_more(last.again, NULL, 0);
    last.again = 0;
}

void trace_pause(void)
{
    tell_again();
    for (int does = 0; does < WIRE_DEEDS; does++) {
        u64 left_out = counts[does][false].left_out + counts[does][true].left_out;
        if (left_out) report_calls_more(0, deeds[does], left_out);
    }
    memset(counts, 0, sizeof counts);
    last.was_any = false;
}

// What must be the same in calls that are counted: all but the slots of a copy.
static WireRequest request_of(const Call *call)
{
    WireRequest r = call->request;
    if (wire_row(r.op)->slots) r.copy.chunk = (WireChunk){ 0 };
    return r;
}

static bool is_again(const Call *call)
{
    const Call *before = &last.call;
    WireRequest request = request_of(call);
    return last.was_any && memcmp(&before->request, &request, sizeof request) == 0
        && before->reply.error == call->reply.error
        && before->reply.memory.address == call->reply.memory.address
        && before->tail_bytes == call->tail_bytes
        && memcmp(before->tail, call->tail, call->tail_bytes) == 0;
}

static void remember(const Call *call)
{
    last.call.request = request_of(call);
    last.call.reply = call->reply;
    last.call.tail_bytes = call->tail_bytes;
    memcpy(last.call.tail, call->tail, call->tail_bytes);
    last.was_any = true;
}

// Is there room for the call? Those for which there is none are counted.
static bool has_room(const Call *call)
{
    enum wire_does does = wire_row(call->request.op)->does;
    bool failed = call->reply.error, room = counts[does][failed].told < MOST_TOLD;
    if (room) counts[does][failed].told++;
    else counts[does][failed].left_out++;
    return room;
}

void trace_call(const Call *call, bool timed, double began)
{
    bool traced = is_traced(call);
    Timed t = { .blocks = !call->by_owner && does_block(call), .start = began, .end = clock_now() };
    bool asks = wire_row(call->request.op)->then == WIRE_THEN_NOT_READY;
    t.is_on = (timed || (asks && t.blocks)) && timeline_is_on() && !call->by_owner;
    if (traced && !t.is_on && is_again(call)) {
        last.again++;
        return;
    }
    if (traced) tell_again();
    if (traced && has_room(call)) {
        remember(call);
    } else {
        last.was_any &= !traced;
        traced = false;
    }
    if (traced || t.is_on) tell(call, traced, &t);
}
