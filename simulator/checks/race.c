// Races: two accesses to one location by different threads, at least one of them a store and not
// both strong, that are unordered in causality order (causality.h). In shared memory they are of
// one block; in global memory they are of any threads of a grid, or of operations on streams that
// nothing orders. The order in which the simulator happens to run warps and blocks plays no part.
//
// Threads that store the value which is there already do not race, because their order makes no
// difference. Nor does a plain load race with a compare-and-swap: loops around one begin with such
// a load, and the swap detects an old value.
#include <stdlib.h>
#include <string.h>

#include "machine/cluster.h"
#include "machine/access_pattern.h"
#include "machine/atomic.h"
#include "machine/shard.h"
#include "streams/clock.h"
#include "race.h"
#include "base/need.h"

enum { MOST_BLOCKS = 1 << 30 }; // of a launch that runs in several threads

extern const Observer race_observer;

Shadow race_global;

static u32 sync_count; // changes whenever a warp may have acquired or released something
static const u32 SYNC_STAMP = 1u << 31;
static u32 running;         // grids that have begun and not ended
static u32 transfer;        // the latest copy or fill
static bool transfer_alone; // nothing can conflict with the transfer that runs, or may begin, while
                            // it lasts

void race_forget(void)
{
    if (race_global.lines) shadow_reset(&race_global);
    causality_reset();
    operations_forget();
}

// Records an operation that begins. Returns its number.
static u32 begin(const Operation *o)
{
    if (!race_global.lines)
        shadow_make(&race_global, MEMORY_BASE, MEMORY_SPAN),
            shadow_make_chunks(&race_global, MEMORY_SPAN);
    if (!running && (!o->number || clock_settled(o->number))) race_forget();
    return operation_add(o);
}

void race_synchronised(Grid *g)
{
    if (g->shard || !kernel_order(g->kernel)->synchronises) return;
    sync_count = (sync_count + 1) % SYNC_STAMP;
    access_pattern_reset_passes_of(g, &race_observer);
}

static bool is_over(ShadowCheck *k, const Site *earlier)
{
    return operation_before(earlier->operation, k->site.operation);
}

// ---- What a warp touches, in regular parts ----

static void check_lanes(Shadow *s, ShadowCheck *k, u64 base, s64 stride, u32 lanes)
{
    k->number = 0;
    k->site.base = base;
    k->site.stride = stride;
    k->site.lanes = lanes;
    shadow_check(s, k);
}

// Lanes of one weak store that write different values to one address: it is undefined which value
// remains. (With a volatile store it is undefined too, but no race: lanes elect one of them that
// way.)
static void check_same_address(const Access *a, Shadow *s, ShadowCheck *k, u64 address, u32 lanes)
{
    u32 first = __builtin_ctz(lanes);
    for (u32 rest = lanes & (lanes - 1); rest && a->store && !a->atomic && !k->site.strong;
         rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        if (!race_stores_same(a, lane, first)) {
            race_found(a, k, &k->site, lane, first, UNORDERED);
            break;
        }
    }
    check_lanes(s, k, address, 0, lanes);
}

// The spans that read the same bytes as the first of them. In a tile of 16 columns there are two.
static u32 spans_equal(const Access *a, u32 spans)
{
    const Span *first = &a->span[__builtin_ctz(spans)];
    u32 equal = spans & -spans;
    for (u32 rest = a->store ? 0 : spans & (spans - 1); rest; rest &= rest - 1) {
        const Span *s = &a->span[__builtin_ctz(rest)];
        if (s->address == first->address && s->bytes == first->bytes) equal |= rest & -rest;
    }
    return equal;
}

// Are their lanes consecutive groups of the same size?
static bool repeat_contiguously(const Access *a, u32 equal)
{
    u64 next = a->span[__builtin_ctz(equal)].lanes, lanes = __builtin_popcountll(next);
    for (; equal && a->span[__builtin_ctz(equal)].lanes == next; equal &= equal - 1) next <<= lanes;
    return !equal;
}

// Checks the first span, together with those that read the same bytes. Returns which spans those
// are.
static u32 check_spans(const Access *a, Shadow *s, ShadowCheck *k, u32 spans)
{
    const Span *span = &a->span[__builtin_ctz(spans)];
    u32 first = __builtin_ctz(span->lanes), count = __builtin_popcount(span->lanes),
        equal = spans_equal(a, spans), lanes = 0;
    if (span->bytes == count * a->bytes && count > 1) {
        if (!repeat_contiguously(a, equal)) equal = spans & -spans;
        k->site.repeats = __builtin_popcount(equal);
        check_lanes(s, k, span->address - first * a->bytes, a->bytes, span->lanes);
        k->site.repeats = 1;
        return equal;
    }
    for (u32 rest = equal; rest; rest &= rest - 1) lanes |= a->span[__builtin_ctz(rest)].lanes;
    if (span->bytes == a->bytes) {
        check_same_address(a, s, k, span->address, lanes);
        return equal;
    }
    while (lanes) {
        u64 address = a->address[__builtin_ctz(lanes)];
        u32 same = 0;
        for (u32 on = lanes; on; on &= on - 1) {
            if (a->address[__builtin_ctz(on)] == address) same |= on & -on;
            else if (!(equal & (equal - 1))) break; // within one span equal addresses are adjacent
        }
        check_same_address(a, s, k, address, same);
        lanes &= ~same;
    }
    return equal;
}

// A copy in bulk is weak; its arrival at the mbarrier is strong.
static bool is_strong(const Access *a) { return a->insn->strong || (a->mbarrier && a->atomic); }

// A line of global memory stays saturated for the launch, or, in a kernel that synchronises, until
// a warp acquires or releases something: later reads may be ordered differently with respect to
// other threads' stores.
static u32 saturation_of(const Access *a)
{
    const Grid *g = a->warp->block->grid;
    if (a->store) return 0;
    return a->space == SPACE_SHARED              ? 1
         : kernel_order(g->kernel)->synchronises ? SYNC_STAMP | sync_count
                                                 : g->number;
}

static bool warps_only_full_barriers(const Kernel *k)
{
    return !kernel_order(k)->synchronises && !kernel_order(k)->has_partial_barriers;
}

static bool only_full_barriers(const Kernel *k, enum space space)
{
    return space == SPACE_SHARED ? warps_only_full_barriers(k) : !kernel_order(k)->synchronises;
}

// An atomic that only asks for a value may ask for a flag, as a strong load does.
static bool changes(const Access *a)
{
    bool may_ask = a->space == SPACE_GLOBAL && isa_rows[a->insn->row].shape == ATOMIC;
    return a->atomic && !(may_ask && atomic_asks(a));
}

static ShadowCheck check_of(const Access *a)
{
    const Block *b = a->warp->block;
    const BlockClocks *o = &race_block(b)->order;
    const Insn *i = a->insn;
    bool shared = a->space == SPACE_SHARED, strong = is_strong(a);
    return (ShadowCheck){
        .site = { .bytes = a->bytes,
                  .repeats = 1,
                  .operation = race_grid(b->grid)->operation,
                  .block = b->number,
                  .epoch = o->epoch,
                  .sequence = o->sequence,
                  .pc = i - b->grid->kernel->code,
                  .warp = a->warp->number,
                  .store = a->store,
                  .strong = strong,
                  .adds = a->atomic && i->reduces,
                  .changes = changes(a),
                  .block_only = strong && i->scope == SCOPE_CTA,
                  .cluster_only = strong && i->scope == SCOPE_CLUSTER,
                  .device_only = strong && i->scope != SCOPE_SYS },
        .synced = o->warps[a->warp->number].latest_synced,
        .all_synced = o->warps[a->warp->number].all_synced,
        .saturation = saturation_of(a),
        .by_warp = shared,
        .only_full_barriers = only_full_barriers(b->grid->kernel, a->space),
        .warps_only_full_barriers = warps_only_full_barriers(b->grid->kernel),
        .races = race_conflicts,
        .is_over = is_over,
        .follows = race_follows,
        .context = (void *)a,
    };
}

// Sets the access's pass to the saturated lines around it, in which reads need no check.
static void extend_pass(Access *a, const Span *spans, u64 from, u32 saturation)
{
    u64 low = a->base, high = low, first, end;
    for (const Span *s = spans; s < spans + a->span_count; s++) {
        if (from + s->address < low) low = from + s->address;
        if (from + s->address + s->bytes > high) high = from + s->address + s->bytes;
    }
    shadow_saturated_range(&race_global, low, saturation, &first, &end);
    if (low < first || high > end) return;
    a->pass_from = first + (a->base - low);
    a->pass_to = end - (high - a->base) + 1;
}

// Recognises a redundant read by a few comparisons. False: the access must be checked.
static bool is_redundant_read(Access *a, Shadow *s, u32 saturation)
{
    u64 from;
    bool shared = s != &race_global,
         each = shared && !(a->regular && a->span_count > 1 && a->stride);
    const BlockClocks *o = &race_block(a->warp->block)->order;
    u32 block = a->warp->block->number, warp = a->warp->number, epoch = o->epoch,
        met = o->warps[warp].latest_synced, n = 0;
    const Span *spans = access_spans(a, &from);
    while (n < a->span_count
           && shadow_saturated(s, from + spans[n].address, spans[n].bytes, saturation))
        n++;
    if (n == a->span_count && !shared) extend_pass(a, spans, from, saturation);
    for (; n < a->span_count; n++) {
        const Span *span = &spans[n];
        if (!each) return false;
        if (shadow_saturated(s, from + span->address, span->bytes, saturation)) continue;
        if (span->bytes != a->bytes
            || !shadow_extend_read(s, span, from + span->address, block, warp, epoch, met))
            return false;
    }
    return true;
}

bool race_access(Access *a)
{
    struct RaceBlock *r = race_block(a->warp->block);
    if (a->space == SPACE_LOCAL || a->told) return true;
    r->latest[a->warp->number] = r->order.epoch;
    if (a->space == SPACE_GLOBAL && a->grid->shard) return race_defer(a);
    Shadow *s = a->space == SPACE_SHARED ? &race_block(a->owner)->shared : &race_global;
    u32 saturation = saturation_of(a);
    r->order.sequence++;
    if (a->sequence && !*a->sequence) *a->sequence = r->order.sequence;
    if (a->space == SPACE_SHARED && a->owner != a->warp->block) race_remote_access(a);
    if (saturation && is_redundant_read(a, s, saturation)) return true;
    access_fill(a);
    bool strong = is_strong(a);
    if (strong && !a->mbarrier && (a->atomic || !a->store) && causality_strong_read(&r->order, a))
        race_synchronised(a->warp->block->grid);
    ShadowCheck k = check_of(a);
    if (a->regular && a->span_count > 1 && a->stride) {
        check_lanes(s, &k, a->base - a->first * a->stride, a->stride, a->mask);
    } else {
        for (u32 spans = a->span_count ? ~0u >> (LANES - a->span_count) : 0; spans;)
            spans &= ~check_spans(a, s, &k, spans);
    }
    Grid *g = a->warp->block->grid;
    if (strong && !a->mbarrier && a->store && causality_strong_write(&r->order, a))
        race_synchronised(g);
    if (!g->shard && race_global.desaturated) {
        access_pattern_reset_passes_of(g, &race_observer);
        race_global.desaturated = false;
    }
    return true;
}

// An asynchronous copy writes at some time between its beginning and the wait for it, so both ends
// are checked.
static void race_copy_completed(Access *a) { race_access(a); }

// ---- Copies and fills ----

// The bytes of a copy or fill belong to no thread.
static bool transfer_races(ShadowCheck *k, const Site *s, u64 from, u64 to)
{
    const Site *now = &k->site;
    u64 low = now->base > from ? now->base : from, end = now->base + now->bytes,
        high = end < to ? end : to;
    if (race_may_be_flag(s) || operation_before(s->operation, now->operation)
        || !site_lanes(s, low, high) || s->operation == now->operation)
        return false;
    if (operation_clock_covers(now->operation, NULL, 0, s)) return false;
    Race race = { .space = SPACE_GLOBAL, .address = low, .order = UNORDERED };
    race.now = (Side){ .operation = &operations[now->operation], .store = now->store };
    race.before = (Side){ &operations[s->operation],
                          s->block,
                          s->warp,
                          __builtin_ctz(site_lanes(s, low, high)),
                          s->pc,
                          s->store };
    race_report(&race);
    return true;
}

void race_transfer(const Operation *o, bool lasts)
{
    transfer = begin(o);
    transfer_alone = race_global.site_count == 1 && !running && !lasts;
}

void race_range(u64 address, u64 bytes, bool store)
{
    enum { MOST = 1 << 30 };
    for (u64 n; bytes && !transfer_alone; address += n, bytes -= n) {
        n = bytes < MOST ? bytes : MOST;
        ShadowCheck k = { .site = { .base = address,
                                    .bytes = n,
                                    .lanes = 1,
                                    .operation = transfer,
                                    .pc = ~0u,
                                    .store = store },
                          .races = transfer_races,
                          .is_over = is_over,
                          .follows = is_over };
        shadow_check(&race_global, &k);
    }
}

// ---- Hooks ----

// Beside other operations more than the grid's own blocks may conflict.
static bool race_one_order(Grid *g)
{
    return operation_count != 2 || running != 1 || g->blocks > MOST_BLOCKS;
}

static void race_grid_start(Grid *g)
{
    const Launch *l = g->launch;
    Operation o = { .number = l->operation,
                    .kernel = g->kernel,
                    .device = l->device,
                    .blocks = g->blocks,
                    .communicates = kernel_communicates(g->kernel) };
    memcpy(o.grid, l->grid, sizeof o.grid);
    memcpy(o.block, l->block, sizeof o.block);
    for (u32 n = 0; n < 3; n++) o.cluster[n] = l->cluster[0] ? l->cluster[n] : 1;
    RaceGrid *kept = g->kept[GRID_RACE] = need(calloc(1, sizeof *kept));
    kept->operation = begin(&o);
    kept->first_block = operations[kept->operation].first_block;
    operation_classify_kernel(g->kernel);
    running++;
    race_conflicts_reset();
}

static void race_grid_end(Grid *g)
{
    (void)g;
    running--;
    race_free_replayed_block();
}

static void race_grid_free(Grid *g) { free(race_grid(g)); }

static void race_block_make(Block *b)
{
    struct RaceBlock *r = b->kept[BLOCK_RACE] = need(calloc(1, sizeof *r));
    r->shared_span = (b->shared_span / LINE_BYTES + 1) * LINE_BYTES;
    shadow_make(&r->shared, 0, r->shared_span);
    causality_block_make(b, &r->order);
}

static void race_block_free(Block *b)
{
    for (u32 n = 0; n < 2; n++)
        vector_clock_free(&race_block(b)->released[n]),
            vector_clock_free(&race_block(b)->if_fenced[n]);
    free(race_block(b)->remote_accesses);
    exchanges_free(race_block(b)->exchanges);
    causality_block_free(&race_block(b)->order, b->warp_count);
    shadow_free(&race_block(b)->shared, race_block(b)->shared_span);
    free(race_block(b));
}

static void race_block_start(Block *b)
{
    causality_block_start(&race_block(b)->order, b->warp_count);
    race_block(b)->serial++;
    shadow_reset(&race_block(b)->shared);
    race_block(b)->sweep.count = race_block(b)->missed = race_block(b)->misread = 0;
    memset(race_block(b)->latest, 0, sizeof race_block(b)->latest);
    if (race_block(b)->remote_accesses)
        memset(race_block(b)->remote_accesses, 0,
               MOST_CLUSTER_BLOCKS * LANES * sizeof *race_block(b)->remote_accesses);
    for (u32 n = 0; n < 2; n++)
        vector_clock_clear(&race_block(b)->released[n]),
            vector_clock_clear(&race_block(b)->if_fenced[n]);
    race_block(b)->phase = 0;
    race_defer_event(b, (Event){ EVENT_START, b->number, 0 });
}

static void race_block_end(Block *b)
{
    race_check_remote_accesses(b);
    bool others = operation_count > 2
               && !b->grid->shard; // operations that do not come before everything that follows
    if (b->grid->shard) race_defer_sweep(b->grid, &race_block(b)->sweep);
    if (others)
        causality_block_end(&race_block(b)->order, b->warp_count,
                            &operations[race_grid(b->grid)->operation].clock);
}

static void race_partial_barrier(Block *b, u32 arrived, u32 freed)
{
    causality_partial_barrier(b, &race_block(b)->order, arrived, freed);
    race_defer_event(b, (Event){ EVENT_PARTIAL_BARRIER, arrived, freed });
}

static u32 ended(const Block *b)
{
    u32 warps = 0;
    for (u32 n = 0; n < b->warp_count; n++) warps |= (u32)!b->warps[n].live << n;
    return warps;
}

// Has one of these ended warps touched memory since the latest barrier? No barrier orders that
// access.
static bool accessed_since_barrier(const Block *b, u32 warps)
{
    for (; warps; warps &= warps - 1)
        if (race_block(b)->latest[__builtin_ctz(warps)] > race_block(b)->order.barrier_epoch)
            return true;
    return false;
}

static void race_barrier(Block *b, u32 arrived)
{
    const u32 gone = ended(b);
    const Warp *met = &b->warps[__builtin_ctz(arrived)];
    race_block(b)->missed = gone;
    race_block(b)->missed_barrier = &b->grid->kernel->code[met->arrival[0].pc];
    if (accessed_since_barrier(b, gone)) {
        race_partial_barrier(b, arrived, arrived & ~gone);
        return;
    }
    causality_barrier(b, &race_block(b)->order);
    if (b->grid->cluster_blocks == 1)
        shadow_reset(&race_block(b)->shared); // a cluster's other blocks may have touched it, which
                                              // this barrier does not order
    race_defer_event(b, (Event){ EVENT_BARRIER, 0, 0 });
}

static void race_warp_barrier(Warp *w, u32 lanes)
{
    causality_warp_barrier(&race_block(w->block)->order, w, lanes);
    race_defer_event(w->block, (Event){ EVENT_WARP_BARRIER, lanes, w->number });
}

static void race_shuffled(Warp *w, const Insn *i, u32 here, const u8 *from)
{
    (void)i;
    struct RaceBlock *r = race_block(w->block);
    exchanges_note(&r->exchanges, w, r->serial, r->order.sequence, here, from);
}

static void race_mbarrier_init(Access *a) { causality_mbarrier_init(a); }
static void race_mbarrier_arrived(Access *a, bool completes)
{
    causality_mbarrier_arrive(&race_block(a->warp->block)->order, a, completes);
}
static void race_mbarrier_waited(Access *a)
{
    causality_mbarrier_wait(&race_block(a->warp->block)->order, a),
        race_synchronised(a->warp->block->grid);
}
static void race_grid_turn(Grid *g) { race_synchronised(g); }
static void race_fence(Warp *w, const Insn *i)
{
    causality_fence(&race_block(w->block)->order, w, i), race_synchronised(w->block->grid);
}

const Observer race_observer = {
    .needs_block_order = race_one_order,
    .shard_make = race_shard_make,
    .shard_free = race_shard_free,
    .shard_rollback = race_shard_rollback,
    .grid_start = race_grid_start,
    .grid_turn = race_grid_turn,
    .block_make = race_block_make,
    .block_free = race_block_free,
    .block_start = race_block_start,
    .block_end = race_block_end,
    .access = race_access,
    .swept = race_swept,
    .frugal = true,
    .copy_completed = race_copy_completed,
    .barrier = race_barrier,
    .cluster_arrive = race_cluster_arrive,
    .cluster_wait = race_cluster_wait,
    .partial_barrier = race_partial_barrier,
    .warp_barrier = race_warp_barrier,
    .shuffled = race_shuffled,
    .mbarrier_init = race_mbarrier_init,
    .mbarrier_arrived = race_mbarrier_arrived,
    .mbarrier_waited = race_mbarrier_waited,
    .fence = race_fence,
    .grid_end = race_grid_end,
    .grid_free = race_grid_free,
};
