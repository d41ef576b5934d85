// Adds work and calls to the timeline and to the JSON report.
#include "activity.h"
#include "streams/clock.h"
#include "report/timeline.h"
#include <string.h>

// Rows are numbered in the order in which the program made its streams; the default stream is row
// 0.
static TimelineRow row_of(u64 stream)
{
    StreamFacts facts = clock_stream_facts(stream);
    bool is_default = facts.number <= MOST_DEVICES;
    return (TimelineRow){ true, facts.device, is_default ? 0 : facts.number - MOST_DEVICES };
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
    if (!timeline_is_on() || call->by_owner) return;
    const char *name =
        strcmp(call->request.call, "a launch") ? call->request.call : "cudaLaunchKernel"; // <<<>>>
    timeline_span((TimelineRow){ 0 }, "call", name, start, clock_now(), 0);
    report_call(name, start, clock_now());
}

void activity_event(u64 stream, const char *name, u64 event)
{
    if (timeline_is_on()) timeline_moment(row_of(stream), name, clock_stream_end(stream), event);
}
