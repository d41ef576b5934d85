// Each engine has a list of spans in which a share of it is taken, by their beginnings.
#include "engine.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SPANS = 512 };             // of an engine: beyond, the oldest are forgotten

typedef struct Span { double from, to, share; } Span;

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

// The earliest moment after `from` at which the share may be free; `from` itself: it is, for so long.
static double try_at(const Span *spans, u32 count, double from, double ns, double share)
{
    static const double ROUNDING = 1e-9;
    for (u32 i = 0; i < count; i++) {
        double at = spans[i].from > from ? spans[i].from : from, taken = 0, next = 0;
        if (spans[i].to <= from || spans[i].from >= from + ns) continue;
        for (u32 n = 0; n < count; n++) {
            if (spans[n].from > at || spans[n].to <= at) continue;
            taken += spans[n].share;
            if (!next || spans[n].to < next) next = spans[n].to;
        }
        if (taken + share > 1 + ROUNDING) return next;
    }
    return from;
}

static void take(u32 device, enum engine engine, Span span)
{
    Span *spans = engines[device][engine].spans;
    u32 *count = &engines[device][engine].count, at = *count;
    for (u32 i = 0; i < *count; i++)                    // work after work makes one span
        if (spans[i].to == span.from && spans[i].share == span.share) {
            spans[i].to = span.to;
            return;
        }
    if (*count == engines[device][engine].room) {
        u32 more = *count ? 2 * *count : 16;
        spans = realloc(spans, more * sizeof *spans);
        if (!spans) {
            perror("simulator: no memory left for the clock");
            exit(1);
        }
        engines[device][engine].spans = spans;
        engines[device][engine].room = more;
    }
    while (at && spans[at - 1].from > span.from) at--;
    memmove(spans + at + 1, spans + at, (*count - at) * sizeof *spans);
    spans[at] = span;
    ++*count;
}

static double first_gap(EngineOf of, double ready, double ns, double share, double now)
{
    Span *spans = engines[of.device][of.engine].spans;
    u32 *count = &engines[of.device][of.engine].count;
    forget(spans, count, now);
    double at = ready, next;
    while ((next = try_at(spans, *count, at, ns, share)) > at) at = next;
    return at;
}

double engine_begin(u32 device, enum engine engine, double ready, double ns, double share, double now)
{
    if (engine == ENGINE_NONE || ns <= 0) return ready;
    double at = first_gap((EngineOf){ device, engine }, ready, ns, share, now);
    take(device, engine, (Span){ at, at + ns, share });
    return at;
}

double engine_begin_both(EngineOf a, EngineOf b, double ready, double ns, double now)
{
    double at = ready, before;
    do {
        before = at;
        at = first_gap(b, first_gap(a, at, ns, 1, now), ns, 1, now);
    } while (at > before);
    take(a.device, a.engine, (Span){ at, at + ns, 1 });
    take(b.device, b.engine, (Span){ at, at + ns, 1 });
    return at;
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
