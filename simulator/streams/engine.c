// Each engine has a list of spans of time in which a share of it is occupied, sorted by their
// beginnings.
#include "engine.h"
#include "base/need.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_SPANS = 512 }; // of an engine; the oldest are dropped first

typedef struct Span {
    double from, to, share;
    int priority;
} Span;

static struct {
    Span *spans;
    u32 count, room;
} engines[MOST_DEVICES][ENGINE_COUNT];

static void forget(Span *spans, u32 *count, double now)
{
    u32 kept = 0, spare = *count < MOST_SPANS ? 0 : *count - MOST_SPANS / 2;
    for (u32 i = 0; i < *count; i++)
        if (spans[i].to > now && i >= spare) spans[kept++] = spans[i];
    *count = kept;
}

// The earliest time from `from` on at which the demand's share may be free of work of the same or a
// higher priority. `from` itself: the share is free for the whole demand.
static double try_at(const Span *spans, u32 count, double from, const Demand *d)
{
    static const double ROUNDING = 1e-9;
    for (u32 i = 0; i < count; i++) {
        double at = spans[i].from > from ? spans[i].from : from, taken = 0, next = 0;
        if (spans[i].to <= from || spans[i].from >= from + d->ns || spans[i].priority > d->priority)
            continue;
        for (u32 n = 0; n < count; n++) {
            if (spans[n].from > at || spans[n].to <= at || spans[n].priority > d->priority)
                continue;
            taken += spans[n].share;
            if (!next || spans[n].to < next) next = spans[n].to;
        }
        if (taken + d->share > 1 + ROUNDING) return next;
    }
    return from;
}

// Work of lower priority gives up its share for the length of the demand: when one of its blocks
// ends, a block of the higher priority begins. Returns the delay.
static double push(Span *spans, u32 count, double at, const Demand *d)
{
    double pushed = 0;
    for (u32 i = 0; i < count; i++) {
        if (spans[i].priority <= d->priority || spans[i].to <= at || spans[i].from >= at + d->ns)
            continue;
        double over = spans[i].share + d->share - 1;
        if (over <= 0) continue;
        double until = spans[i].to < at + d->ns ? spans[i].to : at + d->ns,
               by = (until - at) * over / spans[i].share;
        spans[i].to += by;
        if (by > pushed) pushed = by;
    }
    return pushed;
}

static void take(u32 device, enum engine engine, Span span)
{
    Span *spans = engines[device][engine].spans;
    u32 *count = &engines[device][engine].count, at = *count;
    for (u32 i = 0; i < *count; i++) // adjacent spans of one share are joined
        if (spans[i].to == span.from && spans[i].share == span.share
            && spans[i].priority == span.priority) {
            spans[i].to = span.to;
            return;
        }
    if (*count == engines[device][engine].room) {
        u32 more = *count ? 2 * *count : 16;
        spans = need(realloc(spans, more * sizeof *spans));
        engines[device][engine].spans = spans;
        engines[device][engine].room = more;
    }
    while (at && spans[at - 1].from > span.from) at--;
    memmove(spans + at + 1, spans + at, (*count - at) * sizeof *spans);
    spans[at] = span;
    ++*count;
}

static double first_gap(EngineOf of, const Demand *d, double now)
{
    Span *spans = engines[of.device][of.engine].spans;
    u32 *count = &engines[of.device][of.engine].count;
    forget(spans, count, now);
    double at = d->ready, next;
    while ((next = try_at(spans, *count, at, d)) > at) at = next;
    return at;
}

double engine_begin(u32 device, enum engine engine, Demand d, double now, double *pushed)
{
    *pushed = 0;
    if (engine == ENGINE_NONE || d.ns <= 0) return d.ready;
    double at = first_gap((EngineOf){ device, engine }, &d, now);
    *pushed = push(engines[device][engine].spans, engines[device][engine].count, at, &d);
    take(device, engine, (Span){ at, at + d.ns, d.share, d.priority });
    return at;
}

double engine_begin_both(EngineOf a, EngineOf b, double ready, double ns, double now)
{
    Demand d = { ready, ns, 1, 0 };
    double before;
    do {
        before = d.ready;
        d.ready = first_gap(a, &d, now);
        d.ready = first_gap(b, &d, now);
    } while (d.ready > before);
    take(a.device, a.engine, (Span){ d.ready, d.ready + ns, 1, 0 });
    take(b.device, b.engine, (Span){ d.ready, d.ready + ns, 1, 0 });
    return d.ready;
}

double engine_next_end(double now)
{
    double next = 0;
    for (u32 d = 0; d < MOST_DEVICES; d++)
        for (u32 e = 0; e < ENGINE_COUNT; e++)
            for (u32 i = 0; i < engines[d][e].count; i++) {
                double end = engines[d][e].spans[i].to;
                if (end > now && (!next || end < next)) next = end;
            }
    return next;
}

void engine_reset(void)
{
    for (u32 d = 0; d < MOST_DEVICES; d++)
        for (u32 e = 0; e < ENGINE_COUNT; e++) engines[d][e].count = 0;
}
