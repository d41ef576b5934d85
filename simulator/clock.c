// One moment a stream, at which its work is done; events note such moments. All work runs in the
// order in which it was issued, so the only question is when, never whether.

#include "clock.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };                // streams or events at a time
static const u64 FIRST_STREAM = 0x1000, FIRST_EVENT = 0x1000000;    // ids like no other number

typedef struct {
    bool used, non_blocking;
    u32 device;
    double done;                        // ns: when its last work ends
} Stream;

typedef struct {
    bool used, timed, recorded;
    u32 device;
    double at;                          // ns
} Event;

static Stream streams[MOST];            // the first are the devices' default streams
static Event events[MOST];
static u32 stream_count = MOST_DEVICES, event_count;       // ever used; destroyed ones are used again
static double now;                      // ns: where the host is

static bool is_default(const Stream *stream)
{
    return stream < streams + MOST_DEVICES;
}

void clock_reset(void)
{
    memset(streams, 0, sizeof *streams * stream_count);
    memset(events, 0, sizeof *events * event_count);
    stream_count = MOST_DEVICES;
    event_count = 0;
    now = 0;
    for (u32 i = 0; i < MOST_DEVICES; i++)
        streams[i].device = i;
}

void clock_reset_device(u32 device)
{
    clock_wait_device(device);
    for (u32 i = MOST_DEVICES; i < stream_count; i++)
        streams[i].used &= streams[i].device != device;
    for (u32 i = 0; i < event_count; i++)
        events[i].used &= events[i].device != device;
}

static Stream *stream_of(u64 id)
{
    if (id < MOST_DEVICES)
        return &streams[id];
    u64 index = id - FIRST_STREAM;
    return index >= MOST_DEVICES && index < stream_count && streams[index].used ? &streams[index] : NULL;
}

static Event *event_of(u64 id)
{
    u64 index = id - FIRST_EVENT;
    return index < event_count && events[index].used ? &events[index] : NULL;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

u64 clock_stream_create(u32 device, bool non_blocking)
{
    u32 index = MOST_DEVICES;
    while (index < stream_count && streams[index].used)
        index++;
    if (index == MOST)
        return 0;
    if (index == stream_count)
        stream_count++;
    streams[index] = (Stream){ .used = true, .non_blocking = non_blocking, .device = device };
    return FIRST_STREAM + index;
}

bool clock_stream_known(u64 id)
{
    return stream_of(id) != NULL;
}

u32 clock_stream_device(u64 id)
{
    return stream_of(id)->device;
}

bool clock_stream_destroy(u64 id)
{
    Stream *stream = stream_of(id);
    if (!stream || is_default(stream))
        return false;
    stream->used = false;
    return true;
}

// When work issued now to the stream can start.
static double start_of(const Stream *stream)
{
    double start = later(now, stream->done);
    if (stream->non_blocking)
        return start;
    if (!is_default(stream))
        return later(start, streams[stream->device].done);
    for (u32 i = MOST_DEVICES; i < stream_count; i++)
        if (streams[i].device == stream->device && !streams[i].non_blocking)
            start = later(start, streams[i].done);
    return start;
}

void clock_work(u64 id, double ns, bool host_waits)
{
    Stream *stream = stream_of(id);
    if (!stream)
        return;
    stream->done = start_of(stream) + ns;
    if (host_waits)
        now = stream->done;
}

void clock_work_between(u64 id, u32 a, u32 b, double ns, bool host_waits)
{
    Stream *stream = stream_of(id);
    if (!stream || !is_default(stream)) {
        clock_work(id, ns, host_waits);
        return;
    }
    stream->done = later(start_of(&streams[a]), start_of(&streams[b]));
    clock_work(id, ns, host_waits);
    streams[a].done = streams[b].done = stream->done;
}

double clock_now(void)
{
    return now;
}

double clock_stream_end(u64 id)
{
    const Stream *stream = stream_of(id);
    return stream ? stream->done : now;
}

void clock_host(double ns)
{
    now += ns;
}

void clock_wait_stream(u64 id)
{
    Stream *stream = stream_of(id);
    if (stream)
        now = start_of(stream);
}

void clock_wait_device(u32 device)
{
    for (u32 i = 0; i < stream_count; i++)
        if (streams[i].device == device)
            now = later(now, streams[i].done);
}

u64 clock_event_create(u32 device, bool timed)
{
    u32 index = 0;
    while (index < event_count && events[index].used)
        index++;
    if (index == MOST)
        return 0;
    if (index == event_count)
        event_count++;
    events[index] = (Event){ .used = true, .timed = timed, .device = device };
    return FIRST_EVENT + index;
}

bool clock_event_destroy(u64 id)
{
    Event *event = event_of(id);
    if (!event)
        return false;
    event->used = false;
    return true;
}

bool clock_event_record(u64 id, u64 stream_id)
{
    Event *event = event_of(id);
    Stream *stream = stream_of(stream_id);
    if (!event || !stream || event->device != stream->device)
        return false;
    event->recorded = true;
    event->at = start_of(stream);
    return true;
}

// Waiting for an event that was never recorded is no wait.
bool clock_event_wait(u64 id)
{
    Event *event = event_of(id);
    if (!event)
        return false;
    if (event->recorded)
        now = later(now, event->at);
    return true;
}

bool clock_stream_wait_event(u64 stream_id, u64 id)
{
    Event *event = event_of(id);
    Stream *stream = stream_of(stream_id);
    if (!event || !stream)
        return false;
    if (event->recorded)
        stream->done = later(stream->done, event->at);
    return true;
}

bool clock_event_elapsed(u64 from, u64 to, double *milliseconds)
{
    const Event *a = event_of(from), *b = event_of(to);
    if (!a || !b || !a->recorded || !b->recorded || !a->timed || !b->timed || a->device != b->device)
        return false;
    *milliseconds = (b->at - a->at) / 1e6;
    return true;
}
