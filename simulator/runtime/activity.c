// Adds work and calls to the timeline, and work to the JSON report.
#include "activity.h"
#include "trace.h"
#include "streams/clock.h"
#include "machine/dynamic_launch.h"
#include "report/origin.h"
#include "report/timeline.h"
#include <string.h>

u64 activity_row(u64 stream)
{
    u64 number = clock_stream_facts(stream).number;
    return number <= MOST_DEVICES ? 0 : number - MOST_DEVICES;
}

static TimelineRow line_of(u64 stream)
{
    return (TimelineRow){ true, clock_stream_facts(stream).device, activity_row(stream) };
}

// ---- Who has issued the work

static ActivityCall latest, taken_up;

void activity_begin(const Call *call, double at)
{
    if (!timeline_is_on()) return;
    latest = (ActivityCall){ .known = !call->by_owner, .at = at };
    memcpy(latest.caller, call->request.caller, sizeof latest.caller);
}

ActivityCall activity_issuer(void) { return taken_up.known ? taken_up : latest; }

void activity_take_up(const ActivityCall *issuer)
{
    taken_up = issuer ? *issuer : (ActivityCall){ 0 };
}

// The source line of a place of calls. It takes long to find, and is found once.
static const Place *place_of(const u64 *caller)
{
    enum { MOST_PLACES = 512 };
    static struct {
        u64 caller[WIRE_CALLERS];
        Place place;
    } known[MOST_PLACES];
    static u32 count;
    u32 n = 0;
    while (n < count && memcmp(known[n].caller, caller, sizeof known[n].caller) != 0) n++;
    if (n == MOST_PLACES) return NULL;
    if (n == count) {
        memcpy(known[n].caller, caller, sizeof known[n].caller);
        origin_place(caller, ORIGIN_CALLERS, &known[n].place);
        count++;
    }
    return known[n].place.line ? &known[n].place : NULL;
}

// ---- What is recorded

static void record(u64 stream, const char *kind, const char *name, double ns, TimelineFacts facts)
{
    if (!timeline_is_on()) return;
    const ActivityCall issuer = activity_issuer();
    double end = clock_stream_end(stream);
    TimelineRow row = line_of(stream);
    if (issuer.known) {
        facts.place = place_of(issuer.caller);
        facts.issued = true;
        facts.issued_ns = issuer.at;
    }
    timeline_span(row, kind, name, end - ns, end, &facts);
    bool works = strcmp(kind, "kernel") == 0 || strcmp(kind, "copy") == 0;
    if (works && device.count == 1)
        report_work(kind, row.device, (int)row.stream, end - ns, end, false, NULL, 0);
}

void activity_work(u64 stream, const char *kind, const char *name, double ns, u64 bytes)
{
    record(stream, kind, name, ns, (TimelineFacts){ .bytes = bytes });
}

void activity_kernel(u64 stream, const char *name, const Launch *l)
{
    record(stream, "kernel", name, l->seconds * 1e9,
           (TimelineFacts){ .grid = l->grid, .block = l->block, .shared = l->dynamic_shared });
}

// A query whose answer is "not yet" has not failed.
void activity_call(const Call *call, double start)
{
    const int error = call->reply.error;
    if (!timeline_is_on() || call->by_owner) return;
    const TimelineFacts facts = { .place = place_of(call->request.caller),
                                  .error =
                                      error && error != WIRE_NOT_READY ? error_name(error) : NULL };
    timeline_span((TimelineRow){ 0 }, "call", trace_name(call), start, clock_now(), &facts);
}

void activity_event(u64 stream, const char *name, u64 event)
{
    if (timeline_is_on()) timeline_moment(line_of(stream), name, clock_stream_end(stream), event);
}
