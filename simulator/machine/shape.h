// The shape of a memory access: what its lanes want, from the address of the lowest of them on. An instruction mostly has
// the shape that it had before, which one comparison tells; only a new one is worked out lane by lane.
#pragma once
#include "observer.h"

enum { MOST_OBSERVERS = 8, FEW_LINES = 4 };

typedef struct Pass { u64 from, span; } Pass;

typedef struct Shape {
    u32 mask;               // 0: nothing is remembered
    u32 first;              // as in Access
    bool regular;
    s64 stride;
    _Alignas(64) u64 offset[LANES];     // of each lane's address from the first's; lanes that take no part too
    u32 span_count;
    Span span[LANES];       // addresses from the first's on
    Pass access[MOST_OBSERVERS], loaded[MOST_OBSERVERS];    // what each observer promised
    struct { u32 phase, wavefronts, conflicts; } banks;     // coalesce.c: for this address % BANK_BYTES + 1
    struct { u32 phase, count, sectors[FEW_LINES]; u64 line[FEW_LINES]; } lines;    // for this address % LINE_BYTES + 1
} Shape;

// Fills in the shape of `a` and remembers it.
void shape_learn(Access *a, Shape *s);

// Takes back what observers promised in this launch.
void shape_forget_passes(Grid *g);

// Where `a` has the shape that is remembered, fills it in. False: it has another.
static inline bool shape_recall(Access *a, const Shape *s)
{
    if (a->mask != s->mask) return false;
    u64 differs = 0, first = a->address[s->first];
    for (u32 l = 0; l < LANES; l++) differs |= (a->address[l] - first) ^ s->offset[l];
    if (differs) return false;
    a->first = s->first;
    a->sectors = 0;
    a->regular = s->regular;
    a->stride = s->stride;
    a->span_count = s->span_count;
    for (u32 n = 0; n < s->span_count; n++)
        a->span[n] = (Span){ .address = first + s->span[n].address, .bytes = s->span[n].bytes, .lanes = s->span[n].lanes };
    return true;
}
