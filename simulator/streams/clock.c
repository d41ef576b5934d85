// The clock keeps for each stream the time at which its work ends; an event keeps such a time. Work
// is executed in the order in which it was issued, so only its times must be computed.

#include "clock.h"
#include "mark.h"
#include "shared_event.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 }; // streams or events at a time
static const u64 FIRST_STREAM = 0x1000,
                 FIRST_EVENT = 0x1000000; // ids that differ from all small numbers

typedef struct {
    bool used, non_blocking;
    bool closed; // destroyed, but it may still have work
    u32 device;
    int priority;
    u64 number;
    double done;  // ns: the end of its latest work
    Order before; // what comes before its next operation
    u32 prior;    // the number of the operation before its latest; 0: there is none
} Stream;

typedef struct {
    bool used, timed, recorded;
    bool closed;     // destroyed, but work may still refer to it
    bool exportable; // it may be shared with other processes
    u32 shared;      // its number in shared_event.h; 0: it is not shared
    u32 device;
    double at;          // ns
    double recorded_at; // ns: the host's time at the record
    u64 waits;          // host.waits at the record
    u32 mark;           // of a record that is not executed yet (mark.h)
    Order before;       // what comes before the record
} Event;

static Stream streams[MOST]; // the first MOST_DEVICES are the default streams
static Event events[MOST];
static u32 stream_count = MOST_DEVICES,
           event_count; // entries ever used; some of destroyed ones are used again
static u64 streams_made;
static struct {
    double now;   // ns
    Order before; // what it has waited for
    u64 waits;    // how often it has waited
} host;
static const Issue *taken;           // clock_take_up(); NULL: operations are issued now
static u32 incomplete;               // issues: work that is not complete
static u32 expected;                 // the mark of what is issued next; 0: none
static double remembered = INFINITY; // ns: engines keep what they did after it

static bool is_default(const Stream *stream) { return stream < streams + MOST_DEVICES; }

static u32 place(const Stream *stream) { return (u32)(stream - streams); }

static void clear_stream(u32 i)
{
    order_free(&streams[i].before);
    streams[i] = (Stream){ .device = i < MOST_DEVICES ? i : 0 };
}

static void clear_event(u32 i)
{
    order_free(&events[i].before);
    events[i] = (Event){ 0 };
}

void clock_reset(void)
{
    for (u32 i = 0; i < stream_count; i++) clear_stream(i);
    for (u32 i = 0; i < event_count; i++) clear_event(i);
    for (u32 i = 0; i < MOST_DEVICES; i++) streams[i].device = i;
    stream_count = MOST_DEVICES;
    event_count = 0;
    streams_made = MOST_DEVICES;
    host.now = 0;
    order_free(&host.before);
    engine_reset();
}

void clock_reset_device(u32 device)
{
    clock_wait_device(device);
    for (u32 i = MOST_DEVICES; i < stream_count; i++)
        if (streams[i].device == device) clear_stream(i);
    for (u32 i = 0; i < event_count; i++)
        if (events[i].device == device) clear_event(i);
}

// The program can't name a destroyed stream or event, but work that was issued earlier does.
static Stream *stream_of(u64 id)
{
    if (id < MOST_DEVICES) return &streams[id];
    u64 index = id - FIRST_STREAM;
    if (index < MOST_DEVICES || index >= stream_count || !streams[index].used) return NULL;
    return taken || !streams[index].closed ? &streams[index] : NULL;
}

static Event *event_of(u64 id)
{
    u64 index = id - FIRST_EVENT;
    if (index >= event_count || !events[index].used) return NULL;
    return taken || !events[index].closed ? &events[index] : NULL;
}

static double later(double a, double b) { return a > b ? a : b; }

// ---- Streams ----

// The stream's latest operation; 0: it had none.
static u64 latest(const Stream *stream)
{
    u32 at = place(stream), last = at < stream->before.count ? stream->before.last[at] : 0;
    return last ? (u64)at << 32 | last : 0;
}

// May a new stream take the entry? An entry's operations are ordered by their numbers. So all of
// the earlier stream's must come before everything that the program issues from now on.
static bool is_free(const Stream *stream)
{
    u64 last = latest(stream);
    return !stream->used
        || (stream->closed && !incomplete && (!last || order_has(&host.before, last)));
}

u64 clock_stream_create(u32 device, bool non_blocking, int priority)
{
    u32 index = MOST_DEVICES;
    while (index < stream_count && !is_free(&streams[index])) index++;
    if (index == MOST) return 0;
    if (index == stream_count) stream_count++;
    clear_stream(index);
    streams[index] = (Stream){ .used = true,
                               .non_blocking = non_blocking,
                               .device = device,
                               .priority = priority,
                               .number = ++streams_made };
    return FIRST_STREAM + index;
}

bool clock_stream_known(u64 id) { return stream_of(id) != NULL; }

u32 clock_stream_device(u64 id) { return stream_of(id)->device; }

StreamFacts clock_stream_facts(u64 id)
{
    const Stream *stream = stream_of(id);
    return (StreamFacts){ is_default(stream) ? place(stream) + 1 : stream->number, stream->device,
                          stream->non_blocking, stream->priority };
}

bool clock_stream_set_priority(u64 id, int priority)
{
    Stream *stream = stream_of(id);
    if (stream) stream->priority = priority;
    return stream != NULL;
}

bool clock_stream_destroy(u64 id)
{
    Stream *stream = stream_of(id);
    if (!stream || is_default(stream)) return false;
    stream->closed = true;
    return true;
}

// ---- What comes before a new operation ----

// Does work of the stream implicitly wait for work of the other one (a default stream's rules)?
static bool waits_for(const Stream *stream, const Stream *other)
{
    if (stream->non_blocking || other->non_blocking || stream->device != other->device)
        return false;
    if (is_default(stream)) return !is_default(other) && other->used;
    return is_default(other);
}

// The earliest start of work that is issued to the stream now.
static double start_of(const Stream *stream)
{
    double start = later(taken ? taken->at : host.now, stream->done);
    u32 count = is_default(stream) ? stream_count : MOST_DEVICES;
    for (u32 i = 0; i < count; i++)
        if (waits_for(stream, &streams[i])) start = later(start, streams[i].done);
    return start;
}

// Numbers a new operation of the stream.
static u64 next_operation(Stream *stream)
{
    stream->prior = (u32)latest(stream);
    return order_next(&stream->before, place(stream));
}

// Adds what comes before a new operation of the stream, in addition to what came before its latest
// operation.
static void join_now(Order *before, const Stream *stream)
{
    order_join(before, &host.before);
    u32 count = is_default(stream) ? stream_count : MOST_DEVICES;
    for (u32 i = 0; i < count; i++)
        if (waits_for(stream, &streams[i])) order_join(before, &streams[i].before);
}

// Adds to the stream's `before` what comes before a new operation.
static void catch_up(Stream *stream) { join_now(&stream->before, stream); }

u64 clock_operation(u64 id)
{
    Stream *stream = stream_of(id);
    if (!stream) return 0;
    if (taken) return taken->operation;
    catch_up(stream);
    return next_operation(stream);
}

const Order *clock_before(u64 operation)
{
    return taken && taken->operation == operation ? &taken->before
                                                  : &streams[operation >> 32].before;
}

bool clock_ordered(u64 earlier, u64 later) { return order_has(clock_before(later), earlier); }

static bool all_ordered(u64 later)
{
    for (u32 i = 0; i < stream_count; i++)
        if (!order_has_all(clock_before(later), &streams[i].before)) return false;
    return true;
}

// All operations that were issued, except `last`.
static Order all_but(u64 last)
{
    Order all = { 0 };
    u32 own = last >> 32;
    for (u32 i = 0; i < stream_count; i++) order_join(&all, &streams[i].before);
    if (own < all.count) all.last[own] = streams[own].prior;
    return all;
}

bool clock_settled(u64 last)
{
    if (!all_ordered(last)) return false;
    Order all = all_but(last);
    bool settled = true;
    for (u32 i = 0; i < stream_count && settled; i++) {
        bool there = i < MOST_DEVICES ? i == 0 || streams[i].before.count
                                      : streams[i].used && !streams[i].closed;
        if (!there || i == last >> 32) continue;
        Order next = { 0 };
        order_join(&next, &streams[i].before);
        join_now(&next, &streams[i]);
        settled = order_has_all(&next, &all);
        order_free(&next);
    }
    order_free(&all);
    return settled;
}

bool clock_after(u64 later, const Order *all) { return order_has_all(clock_before(later), all); }

void clock_issue(Issue *issue, u64 id, bool numbered)
{
    Stream *stream = stream_of(id);
    catch_up(stream);
    *issue = (Issue){ .stream = id, .device = stream->device, .at = host.now, .mark = expected };
    expected = 0;
    if (numbered) issue->operation = next_operation(stream);
    order_join(&issue->before, &stream->before);
    incomplete++;
}

void clock_issue_more(Issue *more, const Issue *issue)
{
    *more = *issue;
    more->before = (Order){ 0 };
    order_join(&more->before, &issue->before);
    incomplete++;
}

void clock_issue_free(Issue *issue)
{
    order_free(&issue->before);
    incomplete--;
}

void clock_take_up(const Issue *issue) { taken = issue; }

void clock_remember(double from) { remembered = from; }

bool clock_order(u64 id, Order *order)
{
    const Stream *stream = stream_of(id);
    if (!stream) return false;
    order_join(order, &stream->before);
    join_now(order, stream);
    return true;
}

bool clock_own_order(u64 id, Order *order)
{
    const Stream *stream = stream_of(id);
    if (!stream) return false;
    order_join(order, &stream->before);
    if (is_default(stream)) join_now(order, stream);
    return true;
}

// The end of the stream's own work. A default stream's work ends when all work that it waits for
// has ended.
static double own_end(const Stream *stream)
{
    return is_default(stream) ? start_of(stream) : later(host.now, stream->done);
}

double clock_start(u64 id) { return start_of(stream_of(id)); }

static double forget_until(void) { return host.now < remembered ? host.now : remembered; }

// ---- Work and waiting for it ----

static void host_reaches(double at, const Order *before)
{
    host.waits++;
    host.now = later(host.now, at);
    order_join(&host.before, before);
}

// Work of lower priority that other streams of the device are executing at `start` ends `ns` later,
// and so do events that were recorded right after it.
static void push_back(const Stream *first, double start, double ns)
{
    for (u32 i = 0; i < stream_count; i++) {
        Stream *stream = &streams[i];
        double before = stream->done;
        if (stream->device != first->device || stream->priority <= first->priority
            || before <= start || before <= host.now)
            continue;
        stream->done += ns;
        marks_push_back(before, ns);
        for (u32 n = 0; n < event_count; n++)
            if (events[n].used && events[n].recorded && events[n].at == before) events[n].at += ns;
    }
}

void clock_work(u64 id, enum engine engine, double share, double ns, bool host_waits)
{
    Stream *stream = stream_of(id);
    int priority = engine == ENGINE_COMPUTE ? stream->priority : 0;
    double pushed, start = engine_begin(stream->device, engine,
                                        (Demand){ start_of(stream), ns, share, priority },
                                        forget_until(), &pushed);
    if (pushed > 0) push_back(stream, start, pushed);
    stream->done = start + ns;
    if (host_waits) host_reaches(stream->done, &stream->before);
}

void clock_join_devices(u64 id, u32 from, u32 to)
{
    Stream *stream = stream_of(id), *both[] = { &streams[from], &streams[to] };
    for (u32 i = 0; i < 2 && is_default(stream); i++) {
        catch_up(both[i]);
        stream->done = later(stream->done, start_of(both[i]));
        order_join(&stream->before, &both[i]->before);
    }
}

void clock_work_between(u64 id, u32 from, u32 to, bool link, double ns, bool host_waits)
{
    Stream *stream = stream_of(id), *both[] = { &streams[from], &streams[to] };
    EngineOf out = { from, link ? ENGINE_LINK_OUT : ENGINE_COPY_OUT };
    EngineOf in = { to, link ? ENGINE_LINK_IN : ENGINE_COPY_IN };
    stream->done = engine_begin_both(out, in, start_of(stream), ns, forget_until()) + ns;
    if (host_waits) host_reaches(stream->done, &stream->before);
    for (u32 i = 0; i < 2 && is_default(stream); i++) {
        both[i]->done = stream->done;
        order_join(&both[i]->before, &stream->before);
    }
}

double clock_now(void) { return host.now; }

double clock_stream_end(u64 id)
{
    const Stream *stream = stream_of(id);
    return stream ? stream->done : host.now;
}

double clock_all_end(void)
{
    double end = host.now;
    for (u32 i = 0; i < stream_count; i++) end = later(end, streams[i].done);
    return end;
}

bool clock_host_knows(u64 operation) { return order_has(&host.before, operation); }

void clock_host(double ns) { host.now += ns; }

void clock_wait_stream(u64 id)
{
    Order before = { 0 };
    if (!clock_own_order(id, &before)) return;
    host_reaches(own_end(stream_of(id)), &before);
    order_free(&before);
}

void clock_wait_device(u32 device)
{
    for (u32 i = 0; i < stream_count; i++)
        if (streams[i].device == device) host_reaches(streams[i].done, &streams[i].before);
}

// Has the host reached the time `at`? If not, its clock advances to the next end of any work, or to
// `at` if that is earlier.
static bool has_come(double at, const Order *before)
{
    host.waits++;
    if (at <= host.now) {
        order_join(&host.before, before);
        return true;
    }
    double next = engine_next_end(host.now);
    if (next && next < at) host.now = next;
    else if (at < INFINITY) // INFINITY: the end is not known yet
        host.now = at;
    return false;
}

bool clock_stream_done(u64 id)
{
    Order before = { 0 };
    clock_own_order(id, &before);
    bool done = has_come(own_end(stream_of(id)), &before);
    order_free(&before);
    return done;
}

// ---- Events ----

u64 clock_event_create(u32 device, bool timed, bool exportable)
{
    u32 index = 0;
    while (index < event_count && events[index].used && !(events[index].closed && !incomplete))
        index++;
    if (index == MOST) return 0;
    if (index == event_count) event_count++;
    clear_event(index);
    events[index] =
        (Event){ .used = true, .timed = timed, .exportable = exportable, .device = device };
    return FIRST_EVENT + index;
}

u32 *clock_event_shared(u64 id)
{
    Event *event = event_of(id);
    return event && (event->exportable || event->shared) ? &event->shared : NULL;
}

u32 clock_event_device(u64 id) { return event_of(id)->device; }

void clock_event_share(u64 id, u32 shared)
{
    Event *event = event_of(id);
    event->shared = shared;
    if (event->recorded) shared_event_record(shared, event->at);
}

// Another process may have recorded the event meanwhile.
static void look_up(Event *event)
{
    if (event->shared && shared_event_at(event->shared, &event->at)) event->recorded = true;
}

bool clock_event_known(u64 id) { return event_of(id) != NULL; }

bool clock_event_timed(u64 id)
{
    const Event *event = event_of(id);
    return event && event->timed;
}

bool clock_event_destroy(u64 id)
{
    Event *event = event_of(id);
    if (!event) return false;
    event->closed = true;
    return true;
}

bool clock_event_expect(u64 id, u64 stream_id)
{
    Event *event = event_of(id);
    Stream *stream = stream_of(stream_id);
    if (!event || !stream || event->device != stream->device) return false;
    catch_up(stream);
    if (!incomplete) marks_forget();
    event->recorded = true;
    event->at = INFINITY;
    event->mark = expected = mark_new(INFINITY);
    event->recorded_at = host.now;
    event->waits = host.waits;
    order_free(&event->before);
    order_join(&event->before, &stream->before);
    return true;
}

bool clock_event_order(u64 id, Order *order)
{
    const Event *event = event_of(id);
    if (event) order_join(order, &event->before);
    return event != NULL;
}

bool clock_event_record(u64 id, u64 stream_id)
{
    Event *event = event_of(id);
    Stream *stream = stream_of(stream_id);
    if (!event || !stream || event->device != stream->device) return false;
    if (!taken) clock_event_expect(id, stream_id);
    u32 mark = taken ? taken->mark : expected;
    double at = *mark_at(mark) = start_of(stream);
    expected = 0;
    if (!is_default(stream)) stream->done = at; // the wait is work of the stream
    if (mark != event->mark) return true;       // the event has been recorded again
    event->at = at;
    if (event->shared) shared_event_record(event->shared, at);
    return true;
}

// A wait for an event that was never recorded returns at once.
bool clock_event_wait(u64 id)
{
    Event *event = event_of(id);
    if (!event) return false;
    look_up(event);
    if (event->recorded) host_reaches(event->at, &event->before);
    return true;
}

bool clock_stream_expect_event(u64 stream_id, u64 id)
{
    Event *event = event_of(id);
    Stream *stream = stream_of(stream_id);
    if (!event || !stream) return false;
    look_up(event);
    if (event->recorded) order_join(&stream->before, &event->before);
    if (event->recorded && !event->shared)
        expected = event->at == INFINITY ? event->mark : mark_new(event->at);
    return true;
}

bool clock_stream_wait_event(u64 stream_id, u64 id)
{
    Event *event = event_of(id);
    Stream *stream = stream_of(stream_id);
    if (!event || !stream) return false;
    look_up(event);
    if (taken && !event->shared) {
        if (taken->mark) stream->done = later(stream->done, *mark_at(taken->mark));
    } else if (event->recorded) {
        stream->done = later(stream->done, event->at);
        if (!taken) order_join(&stream->before, &event->before);
    }
    return true;
}

bool clock_event_done(u64 id)
{
    Event *event = event_of(id);
    look_up(event);
    return !event->recorded || has_come(event->at, &event->before);
}

// Can the host know that the event is complete? Even if no work comes before the event, the device
// takes some time to process it: a query by a host that has neither waited nor spent time since the
// record comes too early.
static bool is_told(const Event *event)
{
    return event->at <= host.now && (event->waits != host.waits || event->recorded_at < host.now);
}

enum clock_elapsed clock_event_elapsed(u64 from, u64 to, double *milliseconds)
{
    const Event *a = event_of(from), *b = event_of(to);
    if (!a || !b || !a->recorded || !b->recorded) return ELAPSED_NEVER_RECORDED;
    if (!a->timed || !b->timed) return ELAPSED_UNTIMED;
    if (a->device != b->device) return ELAPSED_TWO_DEVICES;
    if (!is_told(a) || !is_told(b)) return ELAPSED_NOT_READY;
    order_join(&host.before, &a->before);
    order_join(&host.before, &b->before);
    *milliseconds = (b->at - a->at) / 1e6;
    return ELAPSED_GOOD;
}
