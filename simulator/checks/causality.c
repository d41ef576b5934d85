// Vector clocks in the manner of FastTrack (Flanagan and Freund, PLDI 2009), with a clock for each
// warp instead of each thread: what one lane acquires counts for all lanes of its warp. Some races
// within a warp go unreported for that; no race is reported that is none.
//
// A location that was written strongly holds the clock that its writer released.
#include <stdlib.h>
#include <string.h>

#include "causality.h"
#include "machine/cluster.h"
#include "base/need.h"
#include "sync_location.h"

static void clear_each(VectorClock of[SYNC_SCOPES])
{
    for (u32 scope = SYNC_CTA; scope < SYNC_SCOPES; scope++) vector_clock_clear(&of[scope]);
}

static void free_each(VectorClock of[SYNC_SCOPES])
{
    for (u32 scope = SYNC_CTA; scope < SYNC_SCOPES; scope++) vector_clock_free(&of[scope]);
}

static void join_each(VectorClock *to, const VectorClock from[SYNC_SCOPES])
{
    for (u32 scope = SYNC_CTA; scope < SYNC_SCOPES; scope++) vector_clock_join(to, &from[scope]);
}

static u32 number_of(const Block *b) { return race_grid(b->grid)->first_block + b->number; }

// The number of the first block of its cluster. Without clusters each block is its own.
static u32 cluster_of(const Block *b)
{
    return race_grid(b->grid)->first_block
         + (b->grid->cluster_blocks > 1
                ? (u32)cluster_first(b->grid->launch->grid, b->grid->launch->cluster, b->number)
                : b->number);
}

void causality_reset(void) { sync_locations_clear(); }

// ---- Blocks ----

void causality_block_make(Block *b, BlockClocks *o)
{
    o->warps = need(calloc(b->warp_count, sizeof *o->warps));
}

static void free_clocks(BlockClocks *o, u32 warps)
{
    for (u32 n = 0; n < warps; n++) {
        vector_clock_free(&o->warps[n].clock);
        free_each(o->warps[n].unfenced);
        vector_clock_free(&o->warps[n].if_fenced);
        vector_clock_free(&o->warps[n].loads);
    }
    vector_clock_free(&o->clock);
    vector_clock_free(&o->if_fenced);
    vector_clock_free(&o->loads);
}

void causality_block_free(BlockClocks *o, u32 warps)
{
    free_clocks(o, warps);
    free(o->warps);
}

void causality_block_start(BlockClocks *o, u32 warps)
{
    WarpClocks *w = o->warps;
    if (o->has_warp_clocks) {
        free_clocks(o, warps);
        memset(w, 0, warps * sizeof *w);
    }
    *o = (BlockClocks){ .epoch = 1, .warps = w };
}

void causality_block_end(BlockClocks *o, u32 warps, VectorClock *clock)
{
    vector_clock_join(clock, &o->clock);
    for (u32 n = 0; o->has_warp_clocks && n < warps; n++) {
        vector_clock_join(clock, &o->warps[n].clock);
        join_each(clock, o->warps[n].unfenced);
    }
}

static u32 larger(u32 a, u32 b) { return a > b ? a : b; }

// The epoch of warp v up to which this warp has synchronised with it.
static u32 own_epoch(const BlockClocks *o, const WarpClocks *w, u32 v)
{
    return larger(o->barrier_epoch, w->own[v]);
}

// ---- Barriers ----

static void note_observed(Observed to[MOST_OBSERVED], Observed what)
{
    u32 n = 0;
    while (n < MOST_OBSERVED - 1 && to[n].key != what.key) n++;
    if (to[n].key == what.key) what.version = larger(what.version, to[n].version);
    memmove(to + 1, to, n * sizeof *to);
    to[0] = what;
}

static void join_observed(Observed to[MOST_OBSERVED], const Observed from[MOST_OBSERVED])
{
    for (u32 n = MOST_OBSERVED; n-- > 0;)
        if (from[n].key) note_observed(to, from[n]);
}

// The block's barrier acts as a fence after the flags that its threads read. The last block of a
// reduction relies on this when it goes on.
static void merge_into_block(BlockClocks *o, WarpClocks *w)
{
    vector_clock_join(&o->clock, &w->clock);
    join_each(&o->clock, w->unfenced);
    vector_clock_join(&o->if_fenced, &w->if_fenced);
    vector_clock_join(&o->loads, &w->loads);
    join_observed(o->observed, w->observed);
    memset(w->observed, 0, sizeof w->observed);
    vector_clock_clear(&w->clock);
    clear_each(w->unfenced);
    vector_clock_clear(&w->if_fenced);
    vector_clock_clear(&w->loads);
}

void causality_barrier(Block *b, BlockClocks *o)
{
    for (u32 n = 0; o->has_warp_clocks && n < b->warp_count; n++) merge_into_block(o, &o->warps[n]);
    o->barrier_epoch = o->epoch++;
}

void causality_partial_barrier(Block *b, BlockClocks *o, u32 arrived, u32 freed)
{
    u32 latest[LANES] = { 0 };
    o->has_warp_clocks = true;
    VectorClock clock = { 0 }, if_fenced = { 0 }, reads = { 0 };
    Observed observed[MOST_OBSERVED] = { { 0 } };
    for (u32 p = arrived; p; p &= p - 1) {
        u32 warp = __builtin_ctz(p);
        WarpClocks *w = &o->warps[warp];
        for (u32 v = 0; v < b->warp_count; v++)
            latest[v] = larger(latest[v], v == warp ? o->epoch : w->own[v]);
        vector_clock_join(&clock, &w->clock);
        join_each(&clock, w->unfenced);
        vector_clock_join(&if_fenced, &w->if_fenced);
        vector_clock_join(&reads, &w->loads);
        join_observed(observed, w->observed);
    }
    for (u32 t = freed; t; t &= t - 1) {
        WarpClocks *w = &o->warps[__builtin_ctz(t)];
        for (u32 v = 0; v < b->warp_count; v++) w->own[v] = larger(w->own[v], latest[v]);
        vector_clock_join(&w->clock, &clock);
        vector_clock_join(&w->if_fenced, &if_fenced);
        vector_clock_join(&w->loads, &reads);
        join_observed(w->observed, observed);
    }
    vector_clock_free(&clock);
    vector_clock_free(&if_fenced);
    vector_clock_free(&reads);
    o->epoch++;
}

// Each of the lanes has now synchronised with everything that one of them had.
void causality_warp_barrier(BlockClocks *o, const Warp *w, u32 lanes)
{
    u32(*synced)[LANES] = o->warps[w->number].synced, latest[LANES];
    o->has_warp_clocks = true;
    o->warps[w->number].latest_synced = o->sequence;
    if (lanes == ~0u) o->warps[w->number].all_synced = o->sequence;
    for (u32 y = 0; y < LANES; y++) latest[y] = o->sequence;
    for (u32 others = ~lanes; others; others &= others - 1) {
        u32 y = __builtin_ctz(others);
        latest[y] = 0;
        for (u32 rest = lanes; rest; rest &= rest - 1)
            latest[y] = larger(latest[y], synced[__builtin_ctz(rest)][y]);
    }
    for (u32 rest = lanes; rest; rest &= rest - 1)
        memcpy(synced[__builtin_ctz(rest)], latest, sizeof latest);
}

u32 causality_unsynchronised(const BlockClocks *o, const Warp *w, u32 lane, u32 others,
                             u32 sequence)
{
    u32 lanes = 0;
    for (u32 rest = others & ~(1u << lane); rest; rest &= rest - 1) {
        u32 other = __builtin_ctz(rest);
        if (o->warps[w->number].synced[lane][other] < sequence) lanes |= 1u << other;
    }
    return lanes;
}

// ---- Fences ----

static void acquire_own(u32 to[LANES], const VectorClock *k, const Block *b)
{
    for (u32 v = 0; k->count && v < b->warp_count; v++)
        to[v] = larger(to[v], vector_clock_at(k, number_of(b), v));
}

static u32 sync_scope(enum scope scope)
{
    return scope == SCOPE_CTA ? SYNC_CTA : scope == SCOPE_CLUSTER ? SYNC_CLUSTER : SYNC_WIDE;
}

// A fence makes everything before it in causality order ready for release, and turns what the
// thread has read from flags so far into an acquire.
void causality_fence(BlockClocks *o, const Warp *warp, const Insn *i)
{
    WarpClocks *w = &o->warps[warp->number];
    o->has_warp_clocks = true;
    for (u32 scope = SYNC_CTA; scope <= sync_scope(i->scope); scope++) {
        for (u32 v = 0; v < warp->block->warp_count; v++)
            o->fenced[scope][v] = larger(o->fenced[scope][v], own_epoch(o, w, v));
        o->fenced[scope][warp->number] = o->epoch;
    }
    for (u32 scope = SYNC_CTA; scope <= sync_scope(i->scope); scope++) {
        for (u32 v = 0; v < LANES; v++) w->own[v] = larger(w->own[v], w->own_unfenced[scope][v]);
        vector_clock_join(&w->clock, &w->unfenced[scope]);
        vector_clock_clear(&w->unfenced[scope]);
    }
    o->epoch++;
}

// ---- Messages ----

static bool acquires(const Insn *i)
{
    return i->order == ORDER_ACQUIRE || i->order == ORDER_ACQ_REL || i->order == ORDER_SC;
}
static bool releases(const Insn *i)
{
    return i->order == ORDER_RELEASE || i->order == ORDER_ACQ_REL || i->order == ORDER_SC;
}

// The narrowest scope that holds this block and the location's latest writer.
static u32 scope_to(const SyncLocation *p, const Block *b)
{
    return p->block == number_of(b)    ? SYNC_CTA
         : p->cluster == cluster_of(b) ? SYNC_CLUSTER
                                       : SYNC_WIDE;
}

static bool acquire(BlockClocks *o, const Access *a, SyncLocation *p)
{
    const Block *b = a->warp->block;
    WarpClocks *w = &o->warps[a->warp->number];
    const u32 scope = scope_to(p, b);
    bool acquire = acquires(a->insn);
    if (w->last_read == p->key && w->last_read_version == p->version
        && (w->last_read_acquired || !acquire))
        return false;
    w->last_read = p->key;
    w->last_read_version = p->version;
    w->last_read_acquired = acquire;
    o->has_warp_clocks = true;
    if (scope <= sync_scope(a->insn->scope)) {
        if (!a->insn->reduces)
            note_observed(
                w->observed,
                (Observed){ p->key,
                            p->version }); // a reduction returns nothing, so it observes nothing
        const VectorClock *released = &p->released[scope];
        acquire_own(acquire ? w->own : w->own_unfenced[scope], released, b);
        vector_clock_join(acquire ? &w->clock : &w->unfenced[scope], released);
    }
    acquire_own(w->own_if_fenced, &p->if_fenced, b);
    vector_clock_join(&w->if_fenced, &p->if_fenced);
    vector_clock_join(&w->loads, &p->loads);
    return true;
}

// Each location that the lanes touch; neighbouring lanes with one address count once.
#define EACH_LOCATION(a, address, statement)                                                       \
    for (u32 l_ = 0, any_ = 0; l_ < LANES; l_++) {                                                 \
        u64 address = (a)->address[l_];                                                            \
        if (!((a)->mask >> l_ & 1) || (any_ && address == last_)) continue;                        \
        last_ = address, any_ = 1;                                                                 \
        statement;                                                                                 \
    }

bool causality_strong_read(BlockClocks *o, const Access *a)
{
    u64 last_ = 0;
    bool acquired = false;
    if (!sync_locations_count()) return false;
    EACH_LOCATION(a, address, SyncLocation *p = sync_location_find(a, address, false);
                  if (p) acquired |= acquire(o, a, p))
    return acquired;
}

// The clock that a strong write releases. If the access is a release, it covers all that the warp
// has synchronised with, up to now; otherwise, of each warp, what a fence has followed.
static void release_clock(const BlockClocks *o, const Warp *warp, VectorClock *m, const u32 *fenced)
{
    const Block *b = warp->block;
    const WarpClocks *w = &o->warps[warp->number];
    u32 released_epoch[LANES], every = ~0u;
    for (u32 v = 0; v < b->warp_count; v++) {
        u32 known = v == warp->number ? o->epoch : own_epoch(o, w, v);
        released_epoch[v] = fenced && fenced[v] < known ? fenced[v] : known;
        if (released_epoch[v] < every) every = released_epoch[v];
    }
    vector_clock_add(m, number_of(b), EVERY_WARP, every);
    for (u32 v = 0; v < b->warp_count; v++)
        if (released_epoch[v] > every) vector_clock_add(m, number_of(b), v, released_epoch[v]);
    if (fenced && !fenced[warp->number]) return;
    vector_clock_join(m, &o->clock);
    vector_clock_join(m, &w->clock);
}

// The loads that the write releases: those of the block that a barrier has completed, and those
// that the warp knows of other blocks.
static void release_loads(const BlockClocks *o, const Access *a, VectorClock *m)
{
    const Block *b = a->warp->block;
    const WarpClocks *w = &o->warps[a->warp->number];
    vector_clock_add(m, number_of(b), EVERY_WARP, o->barrier_epoch);
    for (u32 v = 0; v < b->warp_count; v++)
        if (w->own[v] > o->barrier_epoch) vector_clock_add(m, number_of(b), v, w->own[v]);
    vector_clock_join(m, &w->loads);
    vector_clock_join(m, &o->loads);
}

// A read-modify-write continues the release sequence: it passes on what earlier writers released.
static void continue_release(SyncLocation *p, u32 from, u32 to)
{
    vector_clock_clear(&p->released[to]);
    vector_clock_join(&p->released[to], &p->released[from]);
}

// A store replaces what was released at the location; an atomic adds to it.
static void publish(SyncLocation *p, const Access *a, u32 epoch,
                    const VectorClock released[SYNC_SCOPES], const VectorClock *if_fenced,
                    const VectorClock *reads)
{
    const Block *b = a->warp->block;
    const u32 scope = scope_to(p, b);
    if (scope > SYNC_CTA) continue_release(p, scope, SYNC_CTA);
    if (scope > SYNC_CLUSTER) continue_release(p, scope, SYNC_CLUSTER);
    p->block = number_of(b);
    p->cluster = cluster_of(b);
    if (!a->atomic) {
        clear_each(p->released);
        vector_clock_clear(&p->written);
        vector_clock_clear(&p->if_fenced);
        vector_clock_clear(&p->loads);
    }
    vector_clock_add(&p->written, p->block, a->warp->number, epoch);
    for (u32 to = SYNC_CTA; to <= sync_scope(a->insn->scope); to++)
        vector_clock_join(&p->released[to], &released[to]);
    vector_clock_join(&p->if_fenced, if_fenced);
    vector_clock_join(&p->loads, reads);
    p->version++;
    p->writer[p->version % WRITERS] = (Writer){ p->block, a->warp->number, epoch };
}

// Lanes of one atomic with the same address run one after another, so the later lanes acquire what
// the earlier ones released.
static void acquire_within_access(BlockClocks *o, const Access *a)
{
    for (u32 rest = a->mask; rest; rest &= rest - 1) {
        u64 address = a->address[__builtin_ctz(rest)];
        bool again = false;
        for (u32 later = rest & (rest - 1); later && !again; later &= later - 1)
            again = a->address[__builtin_ctz(later)] == address;
        if (again) acquire(o, a, sync_location_find(a, address, false));
    }
}

// An access to many locations is no flag. Then only what is released is noted, and not what fences
// would add.
bool causality_strong_write(BlockClocks *o, const Access *a)
{
    bool flag = a->span_count == 1 && a->span[0].bytes == a->bytes;
    const u32 number = a->warp->number;
    const WarpClocks *w = &o->warps[number];
    u64 last_ = 0;
    if (flag || releases(a->insn) || o->fenced[SYNC_CTA][number]) {
        VectorClock released[SYNC_SCOPES] = { { 0 } }, if_fenced = { 0 }, reads = { 0 };
        for (u32 scope = SYNC_CTA; scope <= sync_scope(a->insn->scope); scope++)
            release_clock(o, a->warp, &released[scope],
                          releases(a->insn) ? NULL : o->fenced[scope]);
        if (flag) {
            release_clock(o, a->warp, &if_fenced, NULL);
            vector_clock_join(&if_fenced, &w->if_fenced);
            vector_clock_join(&if_fenced, &o->if_fenced);
            release_loads(o, a, &reads);
        }
        EACH_LOCATION(a, address,
                      publish(sync_location_find(a, address, true), a, o->epoch, released,
                              &if_fenced, &reads))
        if (a->atomic && !a->insn->reduces) acquire_within_access(o, a);
        free_each(released);
        vector_clock_free(&if_fenced);
        vector_clock_free(&reads);
    }
    o->epoch++;
    return releases(a->insn);
}

// ---- mbarriers ----
// `released[SYNC_CTA]` collects what arrivals of the current phase release; `released[SYNC_WIDE]`
// holds what those of completed phases released.

void causality_mbarrier_init(const Access *a)
{
    u64 last_ = 0;
    EACH_LOCATION(a, address, SyncLocation *p = sync_location_find(a, address, false);
                  if (p) clear_each(p->released))
}

void causality_mbarrier_arrive(BlockClocks *o, const Access *a, bool completes)
{
    VectorClock released = { 0 };
    SyncLocation *p = sync_location_find(a, a->address[__builtin_ctz(a->mask)], true);
    release_clock(o, a->warp, &released, releases(a->insn) ? NULL : o->fenced[SYNC_CTA]);
    vector_clock_join(&p->released[SYNC_CTA], &released);
    vector_clock_free(&released);
    o->epoch++;
    if (!completes) return;
    vector_clock_join(&p->released[SYNC_WIDE], &p->released[SYNC_CTA]);
    vector_clock_clear(&p->released[SYNC_CTA]);
}

void causality_mbarrier_wait(BlockClocks *o, const Access *a)
{
    WarpClocks *w = &o->warps[a->warp->number];
    bool acquire = acquires(a->insn);
    u64 last_ = 0;
    o->has_warp_clocks = true;
    EACH_LOCATION(
        a, address, SyncLocation *p = sync_location_find(a, address, false); if (p) {
            acquire_own(acquire ? w->own : w->own_unfenced[SYNC_CTA], &p->released[SYNC_WIDE],
                        a->warp->block);
            vector_clock_join(acquire ? &w->clock : &w->unfenced[SYNC_CTA],
                              &p->released[SYNC_WIDE]);
        })
}

// ---- The barrier of a cluster ----

void causality_cluster_arrive(BlockClocks *o, const Warp *w, const Insn *i, VectorClock *released,
                              VectorClock *if_fenced)
{
    release_clock(o, w, released, releases(i) ? NULL : o->fenced[SYNC_CLUSTER]);
    release_clock(o, w, if_fenced, NULL);
    o->epoch++;
}

void causality_cluster_wait(BlockClocks *o, const Warp *warp, const VectorClock *released,
                            const VectorClock *if_fenced)
{
    WarpClocks *w = &o->warps[warp->number];
    o->has_warp_clocks = true;
    acquire_own(w->own, released, warp->block);
    acquire_own(w->own_if_fenced, if_fenced, warp->block);
    vector_clock_join(&w->clock, released);
    vector_clock_join(&w->if_fenced, if_fenced);
}

// ---- The question ----

static bool is_unfenced(const WarpClocks *w, u32 block, u32 v, u32 epoch)
{
    for (u32 scope = SYNC_CTA; scope < SYNC_SCOPES; scope++)
        if (epoch <= vector_clock_at(&w->unfenced[scope], block, v)) return true;
    return false;
}

static bool is_unfenced_own(const WarpClocks *w, u32 v, u32 epoch)
{
    return epoch <= w->own_unfenced[SYNC_CTA][v] || epoch <= w->own_unfenced[SYNC_CLUSTER][v]
        || epoch <= w->own_unfenced[SYNC_WIDE][v];
}

static u32 version_observed(const Observed of[MOST_OBSERVED], u64 key)
{
    for (u32 n = 0; n < MOST_OBSERVED; n++)
        if (of[n].key == key) return of[n].version;
    return 0;
}

static bool is_observed(const BlockClocks *o, const Access *a, const SyncLocation *p, Writer w)
{
    u32 version = larger(version_observed(o->warps[a->warp->number].observed, p->key),
                         version_observed(o->observed, p->key));
    if (!version || p->version - version >= WRITERS
        || vector_clock_at(&p->written, w.block, w.warp) < w.epoch)
        return false;
    for (u32 later = version + 1; later <= p->version; later++) {
        const Writer *l = &p->writer[later % WRITERS];
        if (l->block == w.block && l->warp == w.warp && l->epoch == w.epoch) return false;
    }
    return true;
}

bool causality_observed(const BlockClocks *o, const Access *a, u64 address, u32 block, u32 warp,
                        u32 epoch)
{
    const SyncLocation *p = sync_location_find(a, address, false);
    return p && is_observed(o, a, p, (Writer){ block, warp, epoch });
}

bool causality_is_flag(const Access *a, u64 address, u32 block, u32 warp, u32 epoch)
{
    const SyncLocation *p = sync_location_find(a, address, false);
    return p && epoch <= vector_clock_at(&p->if_fenced, block, warp);
}

bool causality_reaches_block(const BlockClocks *o, const Warp *warp, u32 block)
{
    const WarpClocks *w = &o->warps[warp->number];
    const VectorClock *all[] = { &o->clock,
                                 &w->clock,
                                 &w->unfenced[SYNC_CTA],
                                 &w->unfenced[SYNC_CLUSTER],
                                 &w->unfenced[SYNC_WIDE],
                                 &w->if_fenced,
                                 &o->if_fenced };
    for (u32 n = 0; n < sizeof all / sizeof *all; n++)
        if (vector_clock_has(all[n], block, 1)) return true;
    return false;
}

// A fence orders stores, and loads. A load that a barrier has completed has its value, so no store
// that waits for a later flag can change it, with or without a fence. (CUB's in-place compaction
// relies on this: each block has read what the one before it may overwrite.)
enum causality causality_before(const BlockClocks *o, const Warp *warp, u32 block, u32 v, u32 epoch,
                                bool store)
{
    const WarpClocks *w = &o->warps[warp->number];
    if (block == number_of(warp->block)) {
        if (epoch <= own_epoch(o, w, v)) return BEFORE;
        return is_unfenced_own(w, v, epoch) || epoch <= w->own_if_fenced[v] ? FENCE_MISSING
                                                                            : UNORDERED;
    }
    if (epoch <= vector_clock_at(&o->clock, block, v)
        || epoch <= vector_clock_at(&w->clock, block, v))
        return BEFORE;
    if (!store
        && (epoch <= vector_clock_at(&o->loads, block, v)
            || epoch <= vector_clock_at(&w->loads, block, v)))
        return BEFORE;
    if (is_unfenced(w, block, v, epoch) || epoch <= vector_clock_at(&w->if_fenced, block, v)
        || epoch <= vector_clock_at(&o->if_fenced, block, v))
        return FENCE_MISSING;
    return UNORDERED;
}
