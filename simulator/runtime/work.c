// The list of incomplete work, in the order in which it was issued. Stream order (clock.h) says
// whether one piece of work comes after another; it is updated when work is issued. The time that
// work takes is computed when the work is complete.
#include "machine/deadlock.h"
#include "base/names.h"
#include "work.h"
#include "streams/clock.h"
#include "machine/dynamic_launch.h"
#include "machine/occupancy.h"
#include "machine/profile.h"
#include "model/carried.h"
#include "model/flight.h"
#include "model/managed.h"
#include "model/link.h"
#include "activity.h"
#include "range.h"
#include "base/need.h"
#include <driver_types.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Work {
    struct Work *next;
    Issue issue;
    ActivityCall issuer;
    bool by_kernel; // a kernel launched it
    WireRequest request;
    char *tail;
    size_t tail_bytes;
    bool held;         // a copy from pinned memory, which reads as late as it may
    u8 *data;          // the bytes of a copy to the device
    u64 received;      // how many of these have arrived
    Launch launch;     // if it is a launch
    double share;      // the part of its device that its blocks occupy, 0 to 1
    Grid *grid;        // NULL: the launch has not begun
    bool blocked;      // its warps have waited for other work
    u64 seen;          // `changes` after its last turn
    double not_before; // ns: the end of the work that it waited for; it ends later
} Work;

static Work *first;
static u64 changes = 1;    // counts changes for which kernels may wait
static u64 settled;        // `changes` when no work could make progress
static u32 count;          // of all work
enum { MOST_AHEAD = 100 }; // with so much work, none is held any longer

bool work_is_left(void) { return first != NULL; }

static bool is_launch(const Work *w) { return wire_row(w->request.op)->then == WIRE_THEN_RUN; }

bool work_asks_host(void)
{
    for (const Work *w = first; w; w = w->next)
        if (w->grid && grid_reads_host_memory(w->grid)) return true;
    return false;
}

// ---- Issuing work ----

static Work *append(const Call *call, bool numbered)
{
    Work *w = need(calloc(1, sizeof *w)), **end = &first;
    while (*end) end = &(*end)->next;
    *end = w;
    count++;
    w->request = call->request;
    w->tail = need(malloc(call->tail_bytes + 1));
    w->tail_bytes = call->tail_bytes;
    memcpy(w->tail, call->tail, call->tail_bytes + 1);
    clock_issue(&w->issue, call->request.stream, numbered);
    w->issuer = activity_issuer();
    if (w == first) clock_remember(w->issue.at);
    return w;
}

static void drop(Work **at)
{
    Work *w = *at;
    *at = w->next;
    if (!w->by_kernel) count--;
    clock_issue_free(&w->issue);
    free(w->tail);
    free(w->data);
    free(w);
    clock_remember(first ? first->issue.at : HUGE_VAL);
}

// The part of the device that a launch's blocks occupy while it runs, 0 to 1.
static double share_of(const Launch *l)
{
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2], resident = occupancy_resident(l);
    return blocks < resident ? blocks / resident : 1;
}

void work_launch(const Call *call)
{
    Work *w = append(call, true);
    w->launch = launch_of(call);
    w->launch.params = w->tail;
    w->launch.operation = w->issue.operation;
    w->share = share_of(&w->launch);
    flight_launch(&w->launch, &w->request);
    changes++;
}

// Work is done now; NULL: no longer.
static void take_up(Work *w)
{
    clock_take_up(w ? &w->issue : NULL);
    activity_take_up(w ? &w->issuer : NULL);
}

// ---- Which work can make progress ----

static bool comes_after(const Work *w, const Work *earlier)
{
    return earlier->issue.operation && order_has(&w->issue.before, earlier->issue.operation);
}

// Does its device have room for it, beside the launches that run?
static bool has_room(const Work *w)
{
    static const double ROUNDING = 1e-9;
    double taken = w->share;
    for (const Work *o = first; o; o = o->next)
        if (o != w && o->grid && o->launch.device == w->launch.device) taken += o->share;
    return taken <= 1 + ROUNDING || taken == w->share;
}

static bool is_ready(const Work *w)
{
    if (w->grid) return w->seen != changes || grid_reads_host_memory(w->grid);
    if (w->held) return false;
    for (const Work *earlier = first; earlier != w; earlier = earlier->next)
        if (comes_after(w, earlier)) return false;
    if (w->data && w->received < w->request.copy.chunk.total) return false;
    return !is_launch(w) || has_room(w);
}

// Some work has ended, at `end` ns: blocked launches may have waited for it.
static void note_end(double end)
{
    changes++;
    for (Work *w = first; w; w = w->next)
        if (w->blocked && w->not_before < end) w->not_before = end;
}

static void report_ran(const Work *w)
{
    LinkReport links[2 * MOST_DEVICES];
    double end = clock_stream_end(w->issue.stream), begin = end - w->launch.seconds * 1e9;
    if (device.count > 1)
        report_work("kernel", w->launch.device, -1, begin, end, false, links,
                    link_report(w->grid, links));
}

static void record_kernel(const Work *w)
{
    char *name = names_plain(w->launch.kernel->signature);
    activity_kernel(w->issue.stream, name ? name : "kernel", &w->launch);
    free(name);
}

static void describe_bytes(WireRequest *r, const DynamicLaunch *child)
{
    r->op = child->from ? WIRE_COPY_DEVICE : WIRE_FILL;
    snprintf(r->call, sizeof r->call, "%s", child->call);
    memset(&r->copy, 0, sizeof r->copy);
    r->copy.device = (WireBox){ child->to, child->to_pitch, 0 };
    r->copy.from = (WireBox){ child->from, child->from_pitch, 0 };
    r->copy.width = child->width;
    r->copy.rows = child->rows;
    r->copy.slices = 1;
    r->copy.value = child->value & 0xff;
    r->copy.value_bytes = 1;
}

// The launches that a kernel has made are part of the same operation of the stream as the kernel:
// each comes after the one before it, and later work of the stream comes after all of them.
static void add_dynamic_launches(Work *w)
{
    const WireRequest launched = w->request;
    for (DynamicLaunch *next, *child = dynamic_launches_take(w->grid); child; child = next) {
        next = child->next;
        Work *new = need(calloc(1, sizeof *new));
        *new = (Work){ .next = w->next,
                       .request = launched,
                       .tail = child->params,
                       .launch = child->launch,
                       .by_kernel = true };
        clock_issue_more(&new->issue, &w->issue);
        if (child->call) {
            describe_bytes(&new->request, child);
            new->tail = need(calloc(1, 1));
        } else {
            new->launch.params = new->tail;
            new->launch.operation = w->launch.operation;
            new->share = share_of(&new->launch);
        }
        w->next = new;
        w = new;
        free(child);
    }
}

static void end_launch(Work *w)
{
    Launch *l = &w->launch;
    u64 stream = w->issue.stream;
    double start = clock_start(stream);
    if (w->not_before > start) l->at_least = (w->not_before - start) / 1e9;
    int status = grid_finish(w->grid);
    if (!device.sticky) device.sticky = status;
    if (w->request.launch.in_graph && !l->at_least)
        l->seconds += profile.graph_kernel_seconds - profile.kernel_seconds;
    clock_work(stream, ENGINE_COMPUTE, w->share, l->seconds * 1e9, false);
    managed_launched(w->grid, w->request.caller, clock_stream_end(stream));
    flight_kernel_ended(l, &w->request);
    report_ran(w);
    record_kernel(w);
    if (!status) add_dynamic_launches(w);
    grid_free(w->grid);
    w->grid = NULL;
    launch_gather_printed();
    report_flush();
    note_end(clock_stream_end(stream));
}

// Gives a launch a turn. True: it has ended.
static bool give_turn(Work *w, bool last, bool alone, enum grid_turn *turn)
{
    if (!w->grid) {
        flight_kernel_begins(&w->launch, &w->issue.before);
        w->grid = grid_start(&w->launch);
    }
    carried_look();
    *turn = grid_run(w->grid, last, alone);
    if (*turn == GRID_ENDED) {
        end_launch(w);
        return true;
    }
    w->blocked = true;
    for (const Work *o = w->next; o; o = o->next)
        if (comes_after(o, w)) flight_excuse(o->issue.operation);
    w->seen = changes += grid_acted(w->grid);
    managed_launched(w->grid, w->request.caller, HUGE_VAL);
    return false;
}

// Handles a deferred request, which was answered when it arrived.
static void do_now(Work *w)
{
    static Call call;
    static char out[WIRE_TAIL];
    call.request = w->request;
    call.tail_bytes = w->tail_bytes;
    memcpy(call.tail, w->tail, w->tail_bytes + 1);
    call.data = w->data;
    call.deferred = true;
    call.by_owner = w->request.caller[0] == WIRE_OWNER;
    call.out = out;
    memset(&call.reply, 0, sizeof call.reply);
    serve_dispatch(&call);
    if (call.reply.error && w->by_kernel) { // the error has been reported
        device.sticky = cudaErrorIllegalAddress;
    } else if (call.reply.error) {
        Report report = { .cause = CAUSE_put_off_call_failed,
                          .place = serve_place(&call),
                          .call = w->request.call,
                          .number = { { "error", call.reply.error } } };
        report_error(&report);
    }
    flight_ran(w->issue.operation);
    note_end(clock_stream_end(w->issue.stream));
}

static void drop_all(void)
{
    while (first) {
        if (first->grid) {
            take_up(first);
            grid_drop(first->grid, device.sticky);
            grid_finish(first->grid);
            grid_free(first->grid);
            take_up(NULL);
        }
        drop(&first);
    }
}

// Gives a turn to all work that can make progress.
static void run_ready(void)
{
    enum grid_turn turn;
    for (Work **at = &first, *w; (w = *at) && !device.sticky;) {
        bool done = false;
        if (is_ready(w)) {
            take_up(w);
            if (is_launch(w)) done = give_turn(w, false, false, &turn);
            else do_now(w), done = true;
            take_up(NULL);
        }
        if (done) drop(at);
        else at = &w->next;
    }
    if (device.sticky) drop_all();
}

// The work that a request waits for: what comes before a point of stream order, or all work of a
// device, or all work.
typedef struct Until {
    bool has_order;
    Order order;
    u32 device;
} Until;

static bool concerns(const Work *w, const Until *until)
{
    if (until->has_order) return w->issue.operation && order_has(&until->order, w->issue.operation);
    return until->device == ALL_DEVICES || w->issue.device == until->device;
}

// Lets the held copies go that a request waits for, and those before them: copies of one direction
// follow one another. Or all (NULL). False: there are none.
static bool let_go(const Until *until)
{
    const Work *last = NULL;
    for (const Work *w = first; w; w = w->next)
        if (w->held && (!until || concerns(w, until))) last = w;
    for (Work *w = last ? first : NULL; w; w = w == last ? NULL : w->next) w->held = false;
    changes += last != NULL;
    return last;
}

void work_go_on_alone(void)
{
    let_go(NULL);
    flight_polled();
    work_go_on();
    flight_land_all();
}

void work_go_on(void)
{
    if (device.shares) let_go(NULL);
    if (!first || (settled == changes && !work_asks_host())) return;
    u64 before = changes;
    run_ready();
    if (changes == before) settled = changes;
}

// ---- When nothing makes progress ----

// For the report of a deadlock: *kernel is a launch that cannot begin because of this one. Returns
// the reason; CAUSE_NONE: there is no such launch.
static enum report_cause what_waits_for(const Work *w, const char **kernel)
{
    for (const Work *o = w->next; o; o = o->next) {
        if (o->grid || !is_launch(o)) continue;
        *kernel = o->launch.kernel->signature;
        if (comes_after(o, w)) return CAUSE_waits_for_later_work;
        if (o->launch.device == w->launch.device && !has_room(o))
            return CAUSE_waits_for_work_without_room;
    }
    *kernel = NULL;
    return CAUSE_NONE;
}

// How many devices have running kernels; 0: no kernel has accessed another device's memory.
static u32 devices_that_meet(void)
{
    LinkReport links[2 * MOST_DEVICES];
    u32 devices = 0, meet = 0;
    for (const Work *w = first; w; w = w->next) {
        if (!w->grid) continue;
        devices |= 1u << w->launch.device;
        meet |= link_report(w->grid, links);
    }
    return meet ? (u32)__builtin_popcount(devices) : 0;
}

static void report_deadlock(void)
{
    u32 devices = devices_that_meet();
    for (Work *w = first; w; w = w->next) {
        if (!w->grid) continue;
        take_up(w);
        const char *kernel = NULL;
        enum report_cause cause = what_waits_for(w, &kernel);
        deadlock_report(w->grid, cause, kernel, devices);
        take_up(NULL);
    }
    device.sticky = WIRE_LAUNCH_TIMEOUT;
    drop_all();
}

// Gives each kernel a last turn: a kernel that reads the clock or counts its polls may stop
// waiting. False: no kernel has made progress.
static bool run_last_turns(void)
{
    enum grid_turn turn;
    for (Work **at = &first, *w; (w = *at); at = &w->next) {
        if (!w->grid) continue;
        take_up(w);
        bool done = give_turn(w, true, true, &turn);
        take_up(NULL);
        bool acted = done || grid_acted(w->grid);
        if (done) drop(at);
        if (acted) return true;
    }
    return false;
}

static bool is_any_left(const Until *until)
{
    const Work *w = first;
    while (w && !concerns(w, until)) w = w->next;
    return w != NULL;
}

static enum work_when wait_until(const Until *until, bool alone)
{
    let_go(until);
    while (is_any_left(until)) {
        u64 before = changes;
        run_ready();
        if (changes != before || !first || let_go(NULL)) continue;
        if (!alone) return WORK_DEADLOCKED;
        if (!run_last_turns()) report_deadlock();
        if (device.sticky) drop_all();
    }
    return WORK_NOW;
}

void work_finish(void) { wait_until(&(Until){ .device = ALL_DEVICES }, true); }

// ---- Requests that come after incomplete work ----

static enum work_when defer(Call *call, bool numbered)
{
    append(call, numbered);
    return WORK_LATER;
}

// Receives a chunk of a deferred copy to the device.
static enum work_when receive(Call *call)
{
    const WireChunk *chunk = &call->request.copy.chunk;
    static Work *receiving;
    if (call->by_owner) {
        Work *w = append(call, true);
        w->data = memcpy(need(malloc(chunk->total)), call->data, chunk->total);
        w->received = chunk->total;
        return WORK_LATER;
    }
    if (chunk->slot >= WIRE_SLOTS || chunk->bytes > WIRE_SLOT_BYTES || chunk->total > MEMORY_SPAN)
        return WORK_NOW;
    if (!chunk->offset) {
        receiving = append(call, true);
        receiving->data = need(malloc(chunk->total + 1));
    }
    if (chunk->total != receiving->request.copy.chunk.total || chunk->offset != receiving->received
        || chunk->bytes > chunk->total - chunk->offset)
        return WORK_NOW;
    memcpy(receiving->data + chunk->offset, device.staging + (u64)chunk->slot * WIRE_SLOT_BYTES,
           chunk->bytes);
    receiving->received += chunk->bytes;
    return WORK_LATER;
}

static enum work_when defer_operation(Call *call, const Until *until, bool numbered)
{
    return is_any_left(until) ? defer(call, numbered) : WORK_NOW;
}

// All chunks of a copy are treated like its first chunk.
static enum work_when defer_copy(Call *call, const Until *until)
{
    static bool deferred; // is the transfer deferred whose chunks are arriving?
    const WireRequest *r = &call->request;
    enum wire_slots slots = wire_row(r->op)->slots;
    bool further = slots && !r->copy.reach && r->copy.chunk.offset && deferred;
    if (!further) {
        deferred = false;
        if (!is_any_left(until)) return WORK_NOW;
        if (slots && range_overruns_pinned(r, &r->copy.from))
            return WORK_NOW; // the handler refuses the call
        if (r->copy.blocks || slots == WIRE_SLOTS_OUT || r->copy.reach)
            return wait_until(until, r->alone);
        deferred = true;
    }
    return slots == WIRE_SLOTS_IN ? receive(call) : defer(call, true);
}

// The host's side of an asynchronous copy or fill, if it is pinned memory that the device reaches
// and the call is good: a call that is not fails at once.
static bool takes_off(const Call *call, FlightBytes *at)
{
    const WireRequest *r = &call->request;
    enum wire_does does = wire_row(r->op)->does;
    if ((does != WIRE_DOES_COPY && does != WIRE_DOES_FILL) || r->copy.blocks || call->by_owner)
        return false;
    bool fills = does == WIRE_DOES_FILL;
    WireBox box = fills ? r->copy.device : r->copy.from;
    if (!fills) box.address = r->copy.reach;
    *at = (FlightBytes){ box, r->copy.width, r->copy.rows, r->copy.slices };
    return range_is_pinned(r, &box) && (fills || range_is_good(r, &r->copy.device));
}

// A copy or fill that goes on while the host does. One that reads pinned memory is held.
static enum work_when take_off(Call *call, const Until *until, const FlightBytes *at)
{
    bool reads = wire_row(call->request.op)->slots == WIRE_SLOTS_IN, left = is_any_left(until);
    Work *w = append(call, true);
    flight_begin(w->issue.operation, at, !reads, &call->request);
    w->held = reads && !device.shares;
    if (count > MOST_AHEAD) let_go(NULL);
    if (left || reads) return WORK_LATER;
    Work **place = &first;
    while (*place != w) place = &(*place)->next;
    clock_take_up(&w->issue);
    do_now(w);
    clock_take_up(NULL);
    drop(place);
    return WORK_LATER;
}

static enum work_when defer_record(Call *call, const Until *until)
{
    const WireRequest *r = &call->request;
    bool left = is_any_left(until) && clock_event_expect(r->event.event, r->stream);
    return left ? defer(call, false) : WORK_NOW;
}

// Defers a wait of the stream for the event, which may not have been recorded yet.
static enum work_when defer_wait(Call *call, const Until *until)
{
    const WireRequest *r = &call->request;
    Until event = { .has_order = true };
    bool left = clock_event_order(r->event.event, &event.order)
             && (is_any_left(&event) || is_any_left(until));
    order_free(&event.order);
    if (!left) return WORK_NOW;
    clock_stream_expect_event(r->stream, r->event.event);
    return defer(call, false);
}

// Fills in *until. False: the request has nothing to wait for, or names a stream or an event that
// does not exist.
static bool until_of(const WireRequest *r, enum wire_after after, Until *until)
{
    *until = (Until){ .device = ALL_DEVICES };
    switch (after) {
    case WIRE_AFTER_NOTHING: break;
    case WIRE_AFTER_STREAM: return until->has_order = clock_order(r->stream, &until->order);
    case WIRE_AFTER_STREAM_ALONE:
        return until->has_order = clock_own_order(r->stream, &until->order);
    case WIRE_AFTER_EVENT: return until->has_order = clock_event_order(r->object.id, &until->order);
    case WIRE_AFTER_DEVICE: until->device = r->device; return true;
    case WIRE_AFTER_ALL: return true;
    }
    return false;
}

static enum work_when when(Call *call, const Until *until)
{
    const WireRequest *r = &call->request;
    const WireRow *row = wire_row(r->op);
    switch (row->then) {
    case WIRE_THEN_WAIT: return wait_until(until, r->alone);
    case WIRE_THEN_NOT_READY:
        if (let_go(until)) run_ready();
        return is_any_left(until) ? WORK_NOT_READY : WORK_NOW;
    case WIRE_THEN_DEFER:
        return wire_holds(row->waits, r) ? wait_until(until, r->alone)
                                         : defer_operation(call, until, true);
    case WIRE_THEN_DEFER_MARK: return defer_operation(call, until, false);
    case WIRE_THEN_DEFER_COPY: return defer_copy(call, until);
    case WIRE_THEN_DEFER_RECORD: return defer_record(call, until);
    case WIRE_THEN_DEFER_WAIT: return defer_wait(call, until);
    case WIRE_THEN_RUN: break;
    }
    return WORK_NOW;
}

enum work_when work_when(Call *call)
{
    const WireRow *row = wire_row(call->request.op);
    Until until;
    FlightBytes host;
    bool flies = takes_off(call, &host);
    if ((!first && !flies) || row->then == WIRE_THEN_RUN
        || !until_of(&call->request, row->after, &until))
        return WORK_NOW;
    enum work_when answer = flies ? take_off(call, &until, &host) : when(call, &until);
    order_free(&until.order);
    return answer;
}
