// Adds work and calls to the timeline, and work to the JSON report.
#include "activity.h"
#include "trace.h"
#include "streams/clock.h"
#include "report/timeline.h"
#include <string.h>

u64 activity_row(u64 stream)
{
    u64 number = clock_stream_facts(stream).number;
    return number <= MOST_DEVICES ? 0 : number - MOST_DEVICES;
}

static TimelineRow row_of(u64 stream)
{
    return (TimelineRow){ true, clock_stream_facts(stream).device, activity_row(stream) };
}

void activity_work(u64 stream, const char *kind, const char *name, double ns, u64 bytes)
{
    if (!timeline_is_on()) return;
    double end = clock_stream_end(stream);
    TimelineRow row = row_of(stream);
    timeline_span(row, kind, name, end - ns, end, bytes);
    bool works = strcmp(kind, "kernel") == 0 || strcmp(kind, "copy") == 0;
    if (works && device.count == 1)
        report_work(kind, row.device, (int)row.stream, end - ns, end, false, NULL, 0);
}

void activity_call(const Call *call, double start)
{
    if (timeline_is_on() && !call->by_owner)
        timeline_span((TimelineRow){ 0 }, "call", trace_name(call), start, clock_now(), 0);
}

void activity_event(u64 stream, const char *name, u64 event)
{
    if (timeline_is_on()) timeline_moment(row_of(stream), name, clock_stream_end(stream), event);
}
