// The runs of both clocks are sorted, so a join merges them.
#include <stdlib.h>
#include <string.h>

#include "vector_clock.h"
#include "base/need.h"

enum { MOST_CLOCK_RUNS = 512 };

static void push(VectorClock *k, ClockRun r)
{
    ClockRun *last = k->count ? &k->runs[k->count - 1] : NULL;
    if (last && last->warp == r.warp && last->epoch == r.epoch && last->last + 1 == r.first) {
        last->last = r.last;
        return;
    }
    if (k->count == k->room) {
        k->room = k->room ? 2 * k->room : 8;
        k->runs = need(realloc(k->runs, k->room * sizeof *k->runs));
    }
    k->runs[k->count++] = r;
}

// Coarsens the clock to one run for each warp, with the latest epoch.
static void merge_runs(VectorClock *k)
{
    u32 kept = 0;
    for (u32 n = 0; n < k->count; n++) {
        ClockRun *last = kept ? &k->runs[kept - 1] : NULL, r = k->runs[n];
        if (!last || last->warp != r.warp) {
            k->runs[kept++] = r;
            continue;
        }
        last->last = r.last;
        if (r.epoch > last->epoch) last->epoch = r.epoch;
    }
    k->count = kept;
}

static bool goes_before(const ClockRun *a, const ClockRun *b)
{
    return a->warp < b->warp || (a->warp == b->warp && a->last < b->first);
}

// Removes the blocks up to `last` from a run. When none are left, moves on to the next run.
static void drop_up_to(ClockRun *r, u32 last, const VectorClock *k, u32 *at)
{
    if (r->last > last) r->first = last + 1;
    else if (++*at < k->count) *r = k->runs[*at];
}

static void push_up_to(VectorClock *k, ClockRun r, u32 last)
{
    r.last = last;
    push(k, r);
}

void vector_clock_join(VectorClock *to, const VectorClock *from)
{
    if (!from->count) return;
    VectorClock both = { 0 };
    ClockRun a = to->count ? to->runs[0] : (ClockRun){ 0 }, b = from->runs[0];
    u32 i = 0, k = 0;
    while (i < to->count || k < from->count) {
        if (k == from->count || (i < to->count && goes_before(&a, &b))) {
            push(&both, a);
            drop_up_to(&a, a.last, to, &i);
        } else if (i == to->count || goes_before(&b, &a)) {
            push(&both, b);
            drop_up_to(&b, b.last, from, &k);
        } else if (a.first < b.first) {
            push_up_to(&both, a, b.first - 1);
            drop_up_to(&a, b.first - 1, to, &i);
        } else if (b.first < a.first) {
            push_up_to(&both, b, a.first - 1);
            drop_up_to(&b, a.first - 1, from, &k);
        } else {
            u32 last = a.last < b.last ? a.last : b.last;
            push_up_to(&both, a.epoch > b.epoch ? a : b, last);
            drop_up_to(&a, last, to, &i);
            drop_up_to(&b, last, from, &k);
        }
    }
    if (both.count > MOST_CLOCK_RUNS) merge_runs(&both);
    free(to->runs);
    *to = both;
}

void vector_clock_add(VectorClock *to, u32 block, u32 warp, u32 epoch)
{
    if (!epoch) return;
    ClockRun run = { .warp = warp, .first = block, .last = block, .epoch = epoch };
    vector_clock_join(to, &(VectorClock){ .runs = &run, .count = 1 });
}

static u32 epoch_of(const VectorClock *k, u32 block, u32 warp)
{
    u32 low = 0, high = k->count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        const ClockRun *r = &k->runs[middle];
        if (r->warp < warp || (r->warp == warp && r->last < block)) low = middle + 1;
        else high = middle;
    }
    if (low == k->count || k->runs[low].warp != warp || k->runs[low].first > block) return 0;
    return k->runs[low].epoch;
}

u32 vector_clock_at(const VectorClock *k, u32 block, u32 warp)
{
    if (!k->count) return 0;
    u32 every = epoch_of(k, block, EVERY_WARP), one = epoch_of(k, block, warp);
    return every > one ? every : one;
}

bool vector_clock_has(const VectorClock *k, u32 first, u64 count)
{
    u32 n = 0;
    while (n < k->count && (k->runs[n].last < first || k->runs[n].first >= first + count)) n++;
    return n < k->count;
}

void vector_clock_clear(VectorClock *k) { k->count = 0; }

void vector_clock_free(VectorClock *k)
{
    free(k->runs);
    *k = (VectorClock){ 0 };
}
