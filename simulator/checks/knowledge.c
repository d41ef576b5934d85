// Sorted runs, joined by merging.
#include <stdlib.h>
#include <string.h>

#include "knowledge.h"
#include "base/need.h"

enum { MOST_RUNS = 512 };

static void push(Knowledge *k, Run r)
{
    Run *last = k->count ? &k->runs[k->count - 1] : NULL;
    if (last && last->warp == r.warp && last->tick == r.tick && last->last + 1 == r.first) {
        last->last = r.last;
        return;
    }
    if (k->count == k->room) {
        k->room = k->room ? 2 * k->room : 8;
        k->runs = need(realloc(k->runs, k->room * sizeof *k->runs));
    }
    k->runs[k->count++] = r;
}

// One run for each warp, as of the latest of its ticks.
static void take_together(Knowledge *k)
{
    u32 kept = 0;
    for (u32 n = 0; n < k->count; n++) {
        Run *last = kept ? &k->runs[kept - 1] : NULL, r = k->runs[n];
        if (!last || last->warp != r.warp) {
            k->runs[kept++] = r;
            continue;
        }
        last->last = r.last;
        if (r.tick > last->tick) last->tick = r.tick;
    }
    k->count = kept;
}

static bool goes_before(const Run *a, const Run *b)
{
    return a->warp < b->warp || (a->warp == b->warp && a->last < b->first);
}

// Takes the blocks up to `last` off a run; the next run when none are left.
static void cut(Run *r, u32 last, const Knowledge *k, u32 *at)
{
    if (r->last > last) r->first = last + 1;
    else if (++*at < k->count) *r = k->runs[*at];
}

static void push_part(Knowledge *k, Run r, u32 last)
{
    r.last = last;
    push(k, r);
}

void knowledge_join(Knowledge *to, const Knowledge *from)
{
    if (!from->count) return;
    Knowledge both = { 0 };
    Run a = to->count ? to->runs[0] : (Run){ 0 }, b = from->runs[0];
    u32 i = 0, k = 0;
    while (i < to->count || k < from->count) {
        if (k == from->count || (i < to->count && goes_before(&a, &b))) {
            push(&both, a);
            cut(&a, a.last, to, &i);
        } else if (i == to->count || goes_before(&b, &a)) {
            push(&both, b);
            cut(&b, b.last, from, &k);
        } else if (a.first < b.first) {
            push_part(&both, a, b.first - 1);
            cut(&a, b.first - 1, to, &i);
        } else if (b.first < a.first) {
            push_part(&both, b, a.first - 1);
            cut(&b, a.first - 1, from, &k);
        } else {
            u32 last = a.last < b.last ? a.last : b.last;
            push_part(&both, a.tick > b.tick ? a : b, last);
            cut(&a, last, to, &i);
            cut(&b, last, from, &k);
        }
    }
    if (both.count > MOST_RUNS) take_together(&both);
    free(to->runs);
    *to = both;
}

void knowledge_add(Knowledge *to, u32 block, u32 warp, u32 tick)
{
    if (!tick) return;
    Run run = { .warp = warp, .first = block, .last = block, .tick = tick };
    knowledge_join(to, &(Knowledge){ .runs = &run, .count = 1 });
}

static u32 tick_of(const Knowledge *k, u32 block, u32 warp)
{
    u32 low = 0, high = k->count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        const Run *r = &k->runs[middle];
        if (r->warp < warp || (r->warp == warp && r->last < block)) low = middle + 1;
        else high = middle;
    }
    if (low == k->count || k->runs[low].warp != warp || k->runs[low].first > block) return 0;
    return k->runs[low].tick;
}

u32 knowledge_of(const Knowledge *k, u32 block, u32 warp)
{
    if (!k->count) return 0;
    u32 every = tick_of(k, block, EVERY_WARP), one = tick_of(k, block, warp);
    return every > one ? every : one;
}

bool knowledge_has(const Knowledge *k, u32 first, u64 count)
{
    u32 n = 0;
    while (n < k->count && (k->runs[n].last < first || k->runs[n].first >= first + count)) n++;
    return n < k->count;
}

void knowledge_clear(Knowledge *k) { k->count = 0; }

void knowledge_free(Knowledge *k)
{
    free(k->runs);
    *k = (Knowledge){ 0 };
}
