// One moment a stream, at which its work is done; events note such moments. All work runs in the
// order in which it was issued, so the only question is when, never whether.

#include "clock.h"
#include "stream_order.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 16 };                // streams or events at a time
static const u64 FIRST_STREAM = 0x1000, FIRST_EVENT = 0x1000000;    // ids like no other number

typedef struct {
    bool used, non_blocking;
    u32 device;
    double done;                        // ns: when its last work ends
    Order order;                        // what comes before the work that is issued to it next
} Stream;

typedef struct {
    bool used, timed, recorded;
    u32 device;
    double at;                          // ns
    Order order;                        // what it stands for
} Event;

static Stream streams[MOST];            // the first are the devices' default streams
static Event events[MOST];
static u32 stream_count = MOST_DEVICES, event_count;       // ever used; destroyed ones are used again
static double now;                      // ns: where the host is
static Order host;                      // what the host has waited for

static bool is_default(const Stream *stream)
{
    return stream < streams + MOST_DEVICES;
}

void clock_reset(void)
{
    for (u32 i = 0; i < stream_count; i++)
        order_free(&streams[i].order);
    for (u32 i = 0; i < event_count; i++)
        order_free(&events[i].order);
    order_free(&host);
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
    // What was issued to a stream that had the place before may still be waited for.
    streams[index] = (Stream){ .used = true, .non_blocking = non_blocking, .device = device,
                               .order = streams[index].order };
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

// What comes before work issued now to the stream.
static void put_in_order(Stream *stream)
{
    order_join(&stream->order, &host);
    if (stream->non_blocking)
        return;
    if (!is_default(stream)) {
        order_join(&stream->order, &streams[stream->device].order);
        return;
    }
    for (u32 i = MOST_DEVICES; i < stream_count; i++)
        if (streams[i].device == stream->device && !streams[i].non_blocking)
            order_join(&stream->order, &streams[i].order);
}

u64 clock_operation(u64 id)
{
    Stream *stream = stream_of(id);
    if (!stream)
        return 0;
    put_in_order(stream);
    return order_next(&stream->order, (u32)(stream - streams));
}

bool clock_ordered(u64 earlier, u64 later)
{
    return order_has(&streams[later >> 32].order, earlier);
}

bool clock_all_ordered(u64 later)
{
    for (u32 i = 0; i < stream_count; i++)
        if (!order_has_all(&streams[later >> 32].order, &streams[i].order))
            return false;
    return true;
}

void clock_work(u64 id, double ns, bool host_waits)
{
    Stream *stream = stream_of(id);
    if (!stream)
        return;
    stream->done = start_of(stream) + ns;
    if (!host_waits)
        return;
    now = stream->done;
    order_join(&host, &stream->order);
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
    if (!stream)
        return;
    now = start_of(stream);
    put_in_order(stream);
    order_join(&host, &stream->order);
}

void clock_wait_device(u32 device)
{
    for (u32 i = 0; i < stream_count; i++) {
        if (streams[i].device != device)
            continue;
        now = later(now, streams[i].done);
        order_join(&host, &streams[i].order);
    }
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
    order_free(&event->order);
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
    put_in_order(stream);
    order_free(&event->order);
    order_join(&event->order, &stream->order);
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
    order_join(&host, &event->order);
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
    order_join(&stream->order, &event->order);
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
