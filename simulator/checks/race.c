// Races: two accesses to one place by different threads, at least one of them a store and not both strong, of which neither
// comes before the other (happens.h). In shared memory, between threads of one block; in global memory, between
// any threads of a grid, and between operations on streams that nothing puts in order. The order in which the simulator
// happens to run warps and blocks plays no part.
//
// Threads that store what is there already do not race: which of them comes last makes no difference. Nor does a plain load
// with a compare-and-swap, which is how a loop around one begins: the swap sees whether the value was old.
#include <stdlib.h>
#include <string.h>

#include "machine/cluster.h"
#include "machine/shape.h"
#include "machine/spread.h"
#include "runtime/clock.h"
#include "race.h"
#include "reads.h"
#include "need.h"

enum { MOST_RACES = 1000 };     // of one launch: who has been told of so many knows
enum { MOST_BLOCKS = 1 << 30 }; // in several threads

// What whole warps did in global memory, one after the other, and each the same to the bytes right behind those of the warp
// before it: the accesses of the first of them, and how many it were. The last warp may not have done all.
enum { MOST_ROWS = 8 };
typedef struct Row { u64 base; u32 pc; u16 bytes; bool store; } Row;
typedef struct Rows {
    u32 count;                  // accesses, warp by warp
    u8 first, rows;             // warp; accesses of each
    Row row[MOST_ROWS];
    u32 alike[MOST_ROWS * MOST_WARPS];  // of each access: Seen.alike
} Rows;
typedef struct Visit { u32 tick; Side side; } Visit;       // tick 0: there was none

struct RaceBlock {
    BlockOrder order;
    Shadow shared;
    u64 shared_span;            // bytes, whole lines
    Rows rows;                  // in a part of a grid: what is not put off yet
    Visit *visits;              // in a cluster: for each warp of each other block, its latest to this one's shared memory; NULL: none
    u32 phase;                  // of the block of rank 0: the latest of the cluster's barrier
    Knowledge message[2], hint[2];      // what those learn who wait there: by phase, of which two are under way
};

static Shadow global;
static Operation *operations;   // Site.operation is the index; 0: none
static u32 operation_count = 1, operation_room;
static u32 races_found;
static u32 block_count;         // of all launches that are remembered
static u32 running;             // grids that have begun and not ended
static u32 transfer;            // the latest copy or fill
static bool transfer_alone;     // nothing that is at work now, or begins before it is over, can conflict with the transfer

// ---- Operations ----

void race_forget(void)
{
    if (global.lines) shadow_forget(&global);
    happens_forget();
    for (u32 n = 1; n < operation_count; n++) knowledge_free(&operations[n].known), order_free(&operations[n].before);
    operation_count = 1;
    block_count = 0;
}

// The number of an operation that begins.
static u32 begin(const Operation *o)
{
    if (!global.lines) shadow_make(&global, MEMORY_BASE, MEMORY_SPAN), shadow_make_chunks(&global, MEMORY_SPAN);
    if (!running && (!o->number || clock_settled(o->number))) race_forget();
    if (operation_count >= operation_room) {
        operation_room = operation_room ? 2 * operation_room : 64;
        operations = need(realloc(operations, operation_room * sizeof *operations));
    }
    operations[operation_count] = *o;
    if (o->number) order_join(&operations[operation_count].before, clock_before(o->number));
    return operation_count++;
}

static bool comes_before(u32 earlier, u32 operation)
{
    Operation *now = &operations[operation];
    if (earlier == now->over) return true;
    if (!clock_ordered(operations[earlier].number, now->number)) return false;
    now->over = earlier;
    return true;
}

static bool is_over(Look *k, const Site *earlier) { return comes_before(earlier->operation, k->site.operation); }

// The number of the block that touched it, among those of all launches.
static u32 block_of(const Site *s) { return operations[s->operation].first_block + s->block; }

// ---- What flags tell, and the ends of kernels hand on ----

enum { MOST_HANDS = 4 };        // through which it went

static bool is_known(const Knowledge *, const Site *, u32 hands);

// Does the earlier access lie before the beginning of an operation: by stream order, or as a kernel there was told of it?
static bool lies_before(u32 operation, const Site *s, u32 hands)
{
    const Order *before = &operations[operation].before;
    if (order_has(before, operations[s->operation].number)) return true;
    for (u32 n = 1; n < operation_count; n++)
        if (n != operation && operations[n].known.count && order_has(before, operations[n].number)
            && is_known(&operations[n].known, s, hands)) return true;
    return false;
}

// Who knows something of a block knows what lies before the beginning of its launch.
static bool is_known(const Knowledge *k, const Site *s, u32 hands)
{
    const Operation *o = &operations[s->operation];
    if (o->kernel && s->tick <= knowledge_of(k, block_of(s), s->warp)) return true;
    for (u32 n = 1; n < operation_count && hands; n++)
        if (n != s->operation && operations[n].kernel && knowledge_has(k, operations[n].first_block, operations[n].blocks)
            && lies_before(n, s, hands - 1)) return true;
    return false;
}

static bool was_handed_on(const Access *a, const Site *s, u32 operation)
{
    const BlockOrder *o = a ? &a->warp->block->race->order : NULL;
    return lies_before(operation, s, MOST_HANDS)
        || (o && (is_known(&o->known, s, MOST_HANDS) || is_known(&o->warps[a->warp->number].known, s, MOST_HANDS)));
}

static bool is_transfer(const Site *s) { return !operations[s->operation].kernel; }

// A copy or fill may set a flag that a kernel looks at strongly.
static bool may_be_flag(const Site *of_kernel) { return of_kernel->strong && !of_kernel->block_only; }

// ---- Is it a race? ----

static bool same_cluster(const Site *a, const Site *b)
{
    const Operation *o = &operations[a->operation];
    return a->operation == b->operation && cluster_first(o->grid, o->cluster, a->block) == cluster_first(o->grid, o->cluster, b->block);
}

static bool reach_each_other(const Site *a, const Site *b)
{
    if (!a->strong || !b->strong) return false;
    if (a->operation == b->operation && a->block == b->block) return true;
    if (a->block_only || b->block_only) return false;
    if (a->cluster_only || b->cluster_only) return same_cluster(a, b);
    bool afar = operations[a->operation].device != operations[b->operation].device;
    return !afar || (!a->device_only && !b->device_only);
}

// The bytes that a lane stores are there already, or, for another lane of the same instruction, are stored by that as well.
static bool stores_alike(const Access *a, u32 lane, u32 other)
{
    const u8 *memory = a->space == SPACE_SHARED ? a->owner->shared + a->address[lane] : (const u8 *)a->address[lane];
    if (a->alike) return other < LANES || *a->alike >> lane & 1;        // of lanes, lanes_alike() has made sure
    if (a->values) return !memcmp(a->values + VALUE_BYTES * lane, other < LANES ? a->values + VALUE_BYTES * other : memory, a->bytes);
    for (u32 e = 0; e < a->elements; e++) {
        const u8 *row = row_of(a->warp, a->vector[e]), *there = other < LANES ? row + other * a->register_width : memory + e * a->width;
        if (memcmp(row + lane * a->register_width, there, a->width)) return false;
    }
    return true;
}

static bool swaps(const Site *s)
{
    const Kernel *kernel = operations[s->operation].kernel;
    return kernel && strstr(isa_rows[kernel->code[s->pc].row].name, "_cas_");
}

// A plain load and a compare-and-swap.
static bool looks_before_swap(const Site *a, const Site *b)
{
    return (!a->store && swaps(b)) || (!b->store && swaps(a));
}

// The barrier at which the warp's lane `other` stands, to which `lane` has not come.
static const Insn *parted_at(const Warp *w, u32 lane, u32 other)
{
    return w->arrived >> other & ~w->arrived >> lane & 1 ? &w->block->grid->kernel->code[w->arrived_pc] : NULL;
}

static bool tell(const Access *a, const Look *k, const Site *s, u32 lane, u32 other, enum before order)
{
    const Site *now = &k->site;
    Grid *g = a->warp->block->grid;
    if (g->part) {
        grid_in_order(g);
        return true;
    }
    u64 address = a->alike ? now->base + lane * now->stride : a->address[lane];     // not all of what has happened are kept
    Race race = { .space = a->space, .owner = a->owner, .address = address, .order = order,
                  .block_only = now->strong && s->strong && (now->block_only || s->block_only) };
    race.cluster_only = now->strong && s->strong && !race.block_only && (now->cluster_only || s->cluster_only);
    race.device_only = now->strong && s->strong && !race.block_only && !race.cluster_only
        && operations[now->operation].device != operations[s->operation].device;
    if (now->operation == s->operation && now->block == s->block && now->warp == s->warp) race.parted = parted_at(a->warp, lane, other);
    race.now = (Side){ &operations[now->operation], now->block, now->warp, lane, now->pc, now->store };
    race.before = (Side){ &operations[s->operation], s->block, s->warp, other, s->pc, s->store };
    race_report(&race);
    __atomic_fetch_add(&races_found, 1, __ATOMIC_RELAXED);
    return true;
}

// Lanes that touch the same bytes as an earlier access that nothing puts before them.
static bool collide(const Look *k, const Site *s, u64 from, u64 to, enum before order)
{
    const Access *a = k->context;
    const BlockOrder *o = &a->warp->block->race->order;
    const Site *now = &k->site;
    bool same_warp = s->operation == now->operation && s->block == now->block && s->warp == now->warp;
    bool same_access = same_warp && s->visit == now->visit, both_store = s->store && now->store && !a->atomic;
    for (u32 rest = site_lanes(now, from, to); rest; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        u64 low = now->base + lane * now->stride, high = low + now->bytes;
        u32 others = site_lanes(s, low > from ? low : from, high < to ? high : to);
        if (same_access) others &= ~(1u << lane);
        else if (same_warp) others = happens_unmet(o, a->warp, lane, others, s->visit);
        if (!others) continue;
        u32 other = __builtin_ctz(others);
        if (both_store && stores_alike(a, lane, same_access ? other : LANES)) continue;
        if (s->operation != now->operation && was_handed_on(a, s, now->operation)) return false;
        return tell(a, k, s, lane, other, order);
    }
    return false;
}

// Cooperative groups keep what they pass between warps in the system's part of shared memory, where they rely on shuffles to
// keep the accesses of one warp in order.
static bool is_reserved(const Access *a, u64 address) { return a->space == SPACE_SHARED && address >= a->owner->reserved_at; }

static bool races(Look *k, const Site *s, u64 from, u64 to)
{
    const Access *a = k->context;
    const Site *now = &k->site;
    if (reach_each_other(s, now) || __atomic_load_n(&races_found, __ATOMIC_RELAXED) >= MOST_RACES) return false;
    if (s->operation != now->operation && comes_before(s->operation, now->operation)) return false;
    if (is_transfer(s)) return !may_be_flag(now) && collide(k, s, from, to, UNORDERED);
    bool same_warp = s->operation == now->operation && s->block == now->block && s->warp == now->warp;
    if (same_warp && s->base == now->base && s->stride == now->stride && (u64)llabs(now->stride) >= now->bytes
        && s->bytes == now->bytes) return false;        // each lane where it was
    if (same_warp && (a->mbarrier || is_reserved(a, from))) return false;
    enum before order = happens_before(&a->warp->block->race->order, a->warp, block_of(s), s->warp, s->tick, s->store);
    if (order == BEFORE || looks_before_swap(s, now)) return false;
    return collide(k, s, from, to, order);
}

// ---- What a warp touches, in regular parts ----

extern const Observer race_observer;

static void look(Shadow *s, Look *k, u64 base, s64 stride, u32 lanes)
{
    k->number = 0;
    k->site.base = base;
    k->site.stride = stride;
    k->site.lanes = lanes;
    shadow_look(s, k);
}

// Lanes of one weak store instruction at one place, with different values: which one stays is not said. (Of a volatile one it is not
// either, but that is no race: so lanes elect one of them.)
static void look_at_same(const Access *a, Shadow *s, Look *k, u64 address, u32 lanes)
{
    u32 first = __builtin_ctz(lanes);
    for (u32 rest = lanes & (lanes - 1); rest && a->store && !a->atomic && !k->site.strong; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        if (!stores_alike(a, lane, first)) {
            tell(a, k, &k->site, lane, first, UNORDERED);
            break;
        }
    }
    look(s, k, address, 0, lanes);
}

static void look_at_span(const Access *a, Shadow *s, Look *k, const Span *span)
{
    u32 first = __builtin_ctz(span->lanes), count = __builtin_popcount(span->lanes);
    if (span->bytes == a->bytes) {
        look_at_same(a, s, k, span->address, span->lanes);
    } else if (span->bytes == count * a->bytes) {
        look(s, k, span->address - first * a->bytes, a->bytes, span->lanes);
    } else {
        for (u32 rest = span->lanes; rest;) {
            u64 address = a->address[__builtin_ctz(rest)];
            u32 same = 0;
            for (u32 on = rest; on && a->address[__builtin_ctz(on)] == address; on &= on - 1) same |= on & -on;
            look_at_same(a, s, k, address, same);
            rest &= ~same;
        }
    }
}

// A copy in bulk is weak, but what it tells its mbarrier is not.
static bool is_strong(const Access *a) { return a->insn->strong || (a->mbarrier && a->atomic); }

static u32 quiet_of(const Access *a) { return a->store ? 0 : a->space == SPACE_SHARED ? 1 : a->grid->number; }

static Look look_of(const Access *a)
{
    const Block *b = a->warp->block;
    const BlockOrder *o = &b->race->order;
    const Insn *i = a->insn;
    bool shared = a->space == SPACE_SHARED, strong = is_strong(a);
    return (Look){
        .site = { .bytes = a->bytes, .operation = b->grid->raced, .block = b->number, .tick = o->tick, .visit = o->visit,
                  .pc = i - b->grid->kernel->code, .warp = a->warp->number, .store = a->store, .strong = strong, .adds = a->atomic && i->reduces,
                  .block_only = strong && i->scope == SCOPE_CTA,
                  .cluster_only = strong && i->scope == SCOPE_CLUSTER, .device_only = strong && i->scope != SCOPE_SYS },
        .quiet = quiet_of(a), .by_warp = shared,
        .races = races, .is_over = is_over, .context = (void *)a,
    };
}

// As long as all that it touches lies in quiet lines, and nobody stores there.
static void promise(Access *a, const Span *spans, u64 from, u32 quiet)
{
    u64 low = a->base, high = low, first, end;
    for (const Span *s = spans; s < spans + a->span_count; s++) {
        if (from + s->address < low) low = from + s->address;
        if (from + s->address + s->bytes > high) high = from + s->address + s->bytes;
    }
    shadow_quiet_range(&global, low, quiet, &first, &end);
    if (low < first || high > end) return;
    a->pass_from = first + (a->base - low);
    a->pass_to = end - (high - a->base) + 1;
}

// Reads that are nothing new, and that a few comparisons tell. False: it must be looked at.
static bool is_nothing_new(Access *a, Shadow *s, u32 quiet)
{
    u64 from;
    bool shared = s != &global, each = shared && !(a->regular && a->span_count > 1 && a->stride);
    u32 warp = a->warp->number, tick = a->warp->block->race->order.tick, me = shared ? 1 + warp : 0, n = 0;
    const Span *spans = access_spans(a, &from);
    while (n < a->span_count && shadow_quiet(s, from + spans[n].address, spans[n].bytes, quiet, me)) n++;
    if (n == a->span_count && !shared) promise(a, spans, from, quiet);
    for (; n < a->span_count; n++) {
        const Span *span = &spans[n];
        if (!each) return false;
        if (shadow_quiet(s, from + span->address, span->bytes, quiet, me)) continue;
        if (span->bytes != a->bytes || !shadow_read_on(s, span, from + span->address, warp, tick)) return false;
    }
    return true;
}

static bool put_off(Access *a);

// ---- Other blocks of a cluster ----
// Their shared memory is there from when they begin until they end. That a block has begun is known to whoever has heard of
// it; and all that others do there must come before its end.

static Side side_of(const Access *a) { return (Side){ &operations[a->grid->raced], a->warp->block->number, a->warp->number, a->first, a->pc, a->store }; }

static void look_abroad(const Access *a)
{
    Block *b = a->owner;
    struct RaceBlock *r = b->race;
    const Warp *w = a->warp;
    if (!r->visits) r->visits = need(calloc(MOST_CLUSTER_BLOCKS * LANES, sizeof *r->visits));
    Visit *v = &r->visits[w->block->rank * LANES + w->number];
    if (!v->tick && !happens_heard_of(&w->block->race->order, w, a->grid->first_block + b->number)) {
        const Side side = side_of(a);
        race_report_absent(&side, b, false);
    }
    *v = (Visit){ .tick = w->block->race->order.tick, .side = side_of(a) };
}

static void race_cluster_arrive(Warp *w, const Insn *i)
{
    const Cluster *c = w->block->cluster;
    struct RaceBlock *of_all = c->blocks[0]->race;
    u32 now = c->phase % 2;
    if (of_all->phase != c->phase) {
        of_all->phase = c->phase;
        knowledge_clear(&of_all->message[now]);
        knowledge_clear(&of_all->hint[now]);
    }
    happens_cluster_arrive(&w->block->race->order, w, i, &of_all->message[now], &of_all->hint[now]);
}

static void race_cluster_wait(Warp *w)
{
    const Cluster *c = w->block->cluster;
    const struct RaceBlock *of_all = c->blocks[0]->race;
    u32 before = (c->phase - 1) % 2;
    happens_cluster_wait(&w->block->race->order, w, &of_all->message[before], &of_all->hint[before]);
}

static bool comes_before_end(const Block *b, const Visit *v)
{
    const BlockOrder *o = &b->race->order;
    for (u32 n = 0; n < b->warp_count; n++)
        if (happens_before(o, &b->warps[n], b->grid->first_block + v->side.block, v->side.warp, v->tick, v->side.store) != UNORDERED) return true;
    return false;
}

static void look_at_visits(const Block *b)
{
    const Visit *all = b->race->visits;
    for (u32 n = 0; all && n < MOST_CLUSTER_BLOCKS * LANES; n++) {
        if (!all[n].tick || comes_before_end(b, &all[n])) continue;
        race_report_absent(&all[n].side, b, true);
        return;
    }
}

static bool race_access(Access *a)
{
    if (a->space == SPACE_LOCAL || a->told) return true;
    if (a->space == SPACE_GLOBAL && a->grid->part) return put_off(a);
    struct RaceBlock *r = a->warp->block->race;
    Shadow *s = a->space == SPACE_SHARED ? &a->owner->race->shared : &global;
    u32 quiet = quiet_of(a);
    r->order.visit++;
    if (a->space == SPACE_SHARED && a->owner != a->warp->block) look_abroad(a);
    if (quiet && is_nothing_new(a, s, quiet)) return true;
    access_fill(a);
    bool strong = is_strong(a);
    if (strong && !a->mbarrier && (a->atomic || !a->store)) happens_read(&r->order, a);
    Look k = look_of(a);
    if (a->regular && a->span_count > 1 && a->stride) {
        look(s, &k, a->base - a->first * a->stride, a->stride, a->mask);
    } else {
        for (u32 n = 0; n < a->span_count; n++) look_at_span(a, s, &k, &a->span[n]);
    }
    if (strong && !a->mbarrier && a->store) happens_write(&r->order, a);
    Grid *g = a->warp->block->grid;
    if (!g->part && global.loud) {
        shape_forget_passes_of(g, &race_observer);
        global.loud = false;
    }
    return true;
}

// An asynchronous copy writes some time between its beginning and the wait for it: both ends are looked at.
static void race_copied(Access *a) { race_access(a); }

// ---- Copies and fills ----

// A byte of a copy belongs to no thread.
static bool transfer_races(Look *k, const Site *s, u64 from, u64 to)
{
    const Site *now = &k->site;
    u64 low = now->base > from ? now->base : from, end = now->base + now->bytes, high = end < to ? end : to;
    if (may_be_flag(s) || comes_before(s->operation, now->operation) || !site_lanes(s, low, high) || s->operation == now->operation) return false;
    if (was_handed_on(NULL, s, now->operation)) return false;
    Race race = { .space = SPACE_GLOBAL, .address = low, .order = UNORDERED };
    race.now = (Side){ .operation = &operations[now->operation], .store = now->store };
    race.before = (Side){ &operations[s->operation], s->block, s->warp, __builtin_ctz(site_lanes(s, low, high)), s->pc, s->store };
    race_report(&race);
    return true;
}

void race_transfer(const Operation *o, bool lasts)
{
    transfer = begin(o);
    transfer_alone = global.site_count == 1 && !running && !lasts;
}

void race_range(u64 address, u64 bytes, bool store)
{
    enum { MOST = 1 << 30 };
    for (u64 n; bytes && !transfer_alone; address += n, bytes -= n) {
        n = bytes < MOST ? bytes : MOST;
        Look k = { .site = { .base = address, .bytes = n, .lanes = 1, .operation = transfer, .pc = ~0u, .store = store },
                   .races = transfer_races, .is_over = is_over };
        shadow_look(&global, &k);
    }
}

// ---- In a part of a grid ----
// What it does in global memory is looked at when its turn among all blocks has come, but for reads that would tell nothing
// new: then with a block in the place of the part's, of which no more is there than what this file looks at.

static struct { Block block; struct RaceBlock race; u32 grid; } stand_in;

// Most accesses are of a ROW: lanes side by side, or all at the same place. Of others the spans follow, and where those do
// not tell the address of each lane, all addresses.
enum seen_kind { SEEN_SAME, SEEN_ROW, SEEN_SPANS, SEEN_EACH };
typedef struct Seen { u64 base; u32 mask, alike, pc; u16 bytes; u8 warp; u8 kind : 2, store : 1, regular : 1; } Seen;
typedef struct SeenSpans { s64 stride; u64 count; Span span[]; } SeenSpans;

static enum seen_kind kind_of(const Access *a, const Span *spans)
{
    bool each = false;
    for (const Span *s = spans; s < spans + a->span_count; s++)
        each |= s->bytes != a->bytes && s->bytes != (u32)__builtin_popcount(s->lanes) * a->bytes;
    return each ? SEEN_EACH : a->span_count > 1 ? SEEN_SPANS : spans->bytes == a->bytes ? SEEN_SAME : SEEN_ROW;
}

// Most are the first to their lines. (Whether several lanes store the same to one place is asked below.)
static bool is_first(const Grid *g, const Seen *s)
{
    BlockOrder *o = &stand_in.race.order;
    bool row = s->kind == SEEN_ROW;
    if (s->kind > SEEN_ROW || global.loud || (!row && s->store && s->mask & (s->mask - 1))) return false;
    u32 first = (u32)__builtin_ctz(s->mask);
    const Site site = { .base = row ? s->base - first * s->bytes : s->base, .stride = row ? s->bytes : 0, .lanes = s->mask,
                        .bytes = s->bytes, .operation = g->raced, .block = stand_in.block.number, .tick = o->tick,
                        .visit = o->visit + 1, .pc = s->pc, .warp = s->warp, .store = s->store };
    if (!shadow_begin(&global, &site, 1)) return false;
    o->visit++;
    return true;
}

static void look_at_seen(Grid *g, const Seen *s)
{
    const SeenSpans *more = (const SeenSpans *)(s + 1);
    const u32 alike = s->alike;
    if (is_first(g, s)) return;
    Access a;
    memset(&a, 0, offsetof(Access, address));
    a.grid = g;
    a.warp = &stand_in.block.warps[s->warp];
    a.insn = &g->kernel->code[s->pc];
    a.pc = s->pc;
    a.mask = s->mask;
    a.first = (u32)__builtin_ctz(s->mask);
    a.space = SPACE_GLOBAL;
    a.store = s->store;
    a.bytes = s->bytes;
    a.base = s->base;
    a.alike = &alike;
    a.regular = s->regular;
    a.filled = true;
    if (s->kind <= SEEN_ROW) {
        a.stride = s->kind == SEEN_ROW ? s->bytes : 0;
        a.span_count = 1;
        a.span[0] = (Span){ s->base, s->kind == SEEN_ROW ? (u32)__builtin_popcount(s->mask) * s->bytes : s->bytes, s->mask };
    } else {
        a.stride = more->stride;
        a.span_count = (u32)more->count;
        memcpy(a.span, more->span, more->count * sizeof *more->span);
        if (s->kind == SEEN_EACH) memcpy(a.address, more->span + more->count, sizeof a.address);
    }
    race_access(&a);
}

static void seen_later(Grid *g, void *what, bool dropped)
{
    if (!dropped) look_at_seen(g, what);
}

// ---- Warp after warp does the same: then its rows are put off together ----

// All that a warp's row takes is lines of its own.
static bool is_row(const Access *a, enum seen_kind kind)
{
    return kind == SEEN_ROW && a->mask == ~0u && !(a->base % LINE_BYTES) && !(LANES * a->bytes % LINE_BYTES);
}

static bool rows_begin(Grid *g, const Rows *r)
{
    BlockOrder *o = &stand_in.race.order;
    Site site[MOST_ROWS];
    if (global.loud) return false;
    for (u32 n = 0; n < r->rows; n++) {
        const Row *row = &r->row[n];
        site[n] = (Site){ .base = row->base, .stride = row->bytes, .lanes = ~0u, .bytes = row->bytes, .operation = g->raced,
                          .block = stand_in.block.number, .tick = o->tick, .visit = o->visit + 1 + n, .pc = row->pc, .warp = r->first,
                          .store = row->store, .warps = (u8)((r->count - n + r->rows - 1) / r->rows) };
    }
    if (!shadow_begin(&global, site, r->rows)) return false;
    o->visit += r->count;
    return true;
}

static void rows_later(Grid *g, void *what, bool dropped)
{
    const Rows *r = what;
    if (dropped || rows_begin(g, r)) return;
    for (u32 n = 0; n < r->count; n++) {
        const Row *row = &r->row[n % r->rows];
        u32 warp = n / r->rows;
        look_at_seen(g, &(Seen){ .base = row->base + (u64)warp * LANES * row->bytes, .mask = ~0u, .alike = r->alike[n], .pc = row->pc,
                                 .bytes = row->bytes, .warp = (u8)(r->first + warp), .kind = SEEN_ROW, .store = row->store, .regular = true });
    }
}

// What follows comes behind them.
static void put_off_rows(Grid *part, Rows *r)
{
    if (!r->count) return;
    size_t bytes = offsetof(Rows, alike) + r->count * sizeof *r->alike;
    memcpy(grid_later(part, rows_later, bytes), r, bytes);
    r->count = 0;
}

static void add_row(Rows *r, const Access *a, u32 alike)
{
    const u32 warp = a->warp->number;
    bool fits = r->count && r->count < MOST_ROWS * MOST_WARPS;
    if (fits && warp == r->first && r->rows == r->count) {
        fits = r->rows < MOST_ROWS;
        if (fits) r->row[r->rows++] = (Row){ a->base, a->pc, (u16)a->bytes, a->store };
    } else if (fits) {
        const u32 before = r->count / r->rows;
        const Row *row = &r->row[r->count % r->rows];
        fits = warp == r->first + before && a->pc == row->pc && a->bytes == row->bytes && a->base == row->base + (u64)before * LANES * row->bytes;
    }
    if (!fits) {
        put_off_rows(a->grid, r);
        r->first = (u8)warp;
        r->rows = 1;
        r->row[0] = (Row){ a->base, a->pc, (u16)a->bytes, a->store };
    }
    r->alike[r->count++] = alike;
}

static bool spans_overlap(const Access *a)
{
    for (const Span *s = a->span; s < a->span + a->span_count; s++)
        for (const Span *t = a->span; t < s; t++)
            if (s->address < t->address + t->bytes && t->address < s->address + s->bytes) return true;
    return false;
}

// Lanes that store what is there already. Two lanes that store differently to one place are a race, which has to be told:
// behind this, what lanes of one access store to one place is alike.
static u32 lanes_alike(const Access *a)
{
    if (!a->atomic && !(a->regular && a->stride) && spans_overlap(a)) grid_in_order(a->grid);
    u32 alike = 0;
    for (u32 rest = a->mask; rest; rest &= rest - 1) {
        u32 lane = (u32)__builtin_ctz(rest);
        alike |= (u32)stores_alike(a, lane, LANES) << lane;
    }
    for (const Span *s = a->span; s < a->span + a->span_count; s++) {
        u32 last = (u32)__builtin_ctz(s->lanes);
        for (u32 rest = s->lanes & (s->lanes - 1); rest && s->bytes != (u32)__builtin_popcount(s->lanes) * a->bytes; rest &= rest - 1) {
            u32 lane = (u32)__builtin_ctz(rest);
            if (a->address[lane] == a->address[last] && !stores_alike(a, lane, last)) grid_in_order(a->grid);
            last = lane;
        }
    }
    return alike;
}

// The same, of the case that is worth being quick about.
static u32 words_alike(const Access *a)
{
    const u32 *row = row_of(a->warp, a->vector[0]), *memory = (const u32 *)(a->base - 4 * a->first);
    u32 alike = 0;
    if (a->mask == ~0u) for (u32 l = 0; l < LANES; l++) alike |= (u32)(row[l] == memory[l]) << l;
    else for (u32 rest = a->mask; rest; rest &= rest - 1) alike |= (u32)(row[__builtin_ctz(rest)] == memory[__builtin_ctz(rest)]) << __builtin_ctz(rest);
    return alike;
}

static bool put_off(Access *a)
{
    u64 from;
    const Span *spans = access_spans(a, &from);
    Grid *g = a->grid;
    if (!a->store && !grid_stores_there(g, a->base) && reads_tell_nothing(g->reads, a, spans, from)) return true;
    if (a->warp->arrived) grid_in_order(g);     // at a barrier in a branch: parted_at() looks at the warp as it is now
    enum seen_kind kind = kind_of(a, spans);
    bool words = kind == SEEN_ROW && a->elements == 1 && a->bytes == 4 && a->register_width == 4 && !a->values;
    if (kind == SEEN_EACH || (a->store && !words)) access_fill(a), spans = access_spans(a, &from);
    const u32 alike = !a->store ? 0 : words ? words_alike(a) : lanes_alike(a);
    Rows *rows = &a->warp->block->race->rows;
    if (is_row(a, kind)) {
        add_row(rows, a, alike);
        return true;
    }
    put_off_rows(g, rows);
    size_t bytes = sizeof(Seen);
    if (kind >= SEEN_SPANS) bytes += sizeof(SeenSpans) + a->span_count * sizeof(Span) + (kind == SEEN_EACH ? sizeof a->address : 0);
    Seen *s = grid_later(g, seen_later, bytes);
    *s = (Seen){ .base = a->base, .mask = a->mask, .alike = alike, .pc = a->pc,
                 .bytes = a->bytes, .warp = a->warp->number, .kind = kind, .store = a->store, .regular = a->regular };
    if (kind < SEEN_SPANS) return true;
    SeenSpans *more = (SeenSpans *)(s + 1);
    more->stride = a->stride;
    more->count = a->span_count;
    for (u32 n = 0; n < a->span_count; n++) more->span[n] = (Span){ from + spans[n].address, spans[n].bytes, spans[n].lanes };
    if (kind == SEEN_EACH) memcpy(more->span + more->count, a->address, sizeof a->address);
    return true;
}

static void free_stand_in(void)
{
    if (!stand_in.grid) return;
    happens_block_free(&stand_in.race.order, stand_in.block.warp_count);
    free(stand_in.block.warps);
    stand_in.grid = 0;
}

static void make_stand_in(Grid *g)
{
    if (stand_in.grid == g->number) return;
    free_stand_in();
    stand_in.grid = g->number;
    stand_in.race = (struct RaceBlock){ 0 };
    stand_in.block = (Block){ .grid = g, .warp_count = (g->threads + LANES - 1) / LANES, .race = &stand_in.race };
    stand_in.block.warps = need(calloc(stand_in.block.warp_count, sizeof *stand_in.block.warps));
    for (u32 n = 0; n < stand_in.block.warp_count; n++)
        stand_in.block.warps[n].block = &stand_in.block, stand_in.block.warps[n].number = n;
    happens_block_make(&stand_in.block, &stand_in.race.order);
}

typedef struct Event { enum { STARTS, MEETS, PART_MEETS, WARP_MEETS } kind; u32 what, freed; } Event;

static void event_later(Grid *g, void *of, bool dropped)
{
    const Event *e = of;
    Block *b = &stand_in.block;
    BlockOrder *o = &stand_in.race.order;
    if (dropped) return;
    switch (e->kind) {
    case STARTS:
        make_stand_in(g);
        b->number = e->what;
        b->index[0] = e->what % g->launch->grid[0];
        b->index[1] = e->what / g->launch->grid[0] % g->launch->grid[1];
        b->index[2] = e->what / g->launch->grid[0] / g->launch->grid[1];
        happens_block_start(o, b->warp_count);
        break;
    case MEETS: happens_barrier(b, o); break;
    case PART_MEETS: happens_part_barrier(b, o, e->what, e->freed); break;
    case WARP_MEETS: happens_warp_barrier(o, &b->warps[e->freed], e->what); break;
    }
}

static void put_off_event(const Block *b, Event e)
{
    if (!b->grid->part) return;
    put_off_rows(b->grid, &b->race->rows);
    *(Event *)grid_later(b->grid, event_later, sizeof e) = e;
}

static void race_part_make(Grid *part) { part->reads = reads_take(part); }
static void race_part_free(Grid *part) { reads_give_back(part->reads); }
static void race_put_back(Grid *part) { reads_forget(part->reads, part); }

// Beside other operations more than its own blocks may conflict with it.
static bool race_one_order(Grid *g) { return operation_count != 2 || running != 1 || g->blocks > MOST_BLOCKS; }

// ---- Hooks ----

static void race_grid_start(Grid *g)
{
    const Launch *l = g->launch;
    Operation o = { .number = l->operation, .kernel = g->kernel, .device = l->device,
                    .sees_others = spread_sees_others(g->kernel) };
    memcpy(o.grid, l->grid, sizeof o.grid);
    memcpy(o.block, l->block, sizeof o.block);
    for (u32 n = 0; n < 3; n++) o.cluster[n] = l->cluster[0] ? l->cluster[n] : 1;
    g->raced = begin(&o);
    g->first_block = operations[g->raced].first_block = block_count;
    operations[g->raced].blocks = g->blocks;
    block_count += g->blocks;
    running++;
    races_found = 0;
}

static void race_grid_end(Grid *g)
{
    (void)g;
    running--;
    free_stand_in();
}

static void race_block_make(Block *b)
{
    struct RaceBlock *r = b->race = need(calloc(1, sizeof *r));
    r->shared_span = (b->shared_span / LINE_BYTES + 1) * LINE_BYTES;
    shadow_make(&r->shared, 0, r->shared_span);
    happens_block_make(b, &r->order);
}

static void race_block_free(Block *b)
{
    for (u32 n = 0; n < 2; n++) knowledge_free(&b->race->message[n]), knowledge_free(&b->race->hint[n]);
    free(b->race->visits);
    happens_block_free(&b->race->order, b->warp_count);
    shadow_free(&b->race->shared, b->race->shared_span);
    free(b->race);
}

static void race_block_start(Block *b)
{
    happens_block_start(&b->race->order, b->warp_count);
    shadow_forget(&b->race->shared);
    b->race->rows.count = 0;
    if (b->race->visits) memset(b->race->visits, 0, MOST_CLUSTER_BLOCKS * LANES * sizeof *b->race->visits);
    for (u32 n = 0; n < 2; n++) knowledge_clear(&b->race->message[n]), knowledge_clear(&b->race->hint[n]);
    b->race->phase = 0;
    put_off_event(b, (Event){ STARTS, b->number, 0 });
}

static void race_block_end(Block *b)
{
    look_at_visits(b);
    bool others = operation_count > 2 && !b->grid->part;        // that nothing puts before all that follows
    if (b->grid->part) put_off_rows(b->grid, &b->race->rows);
    if (others) happens_block_end(&b->race->order, b->warp_count, &operations[b->grid->raced].known);
}

static void race_barrier(Block *b)
{
    happens_barrier(b, &b->race->order);
    if (b->grid->cluster_blocks == 1) shadow_forget(&b->race->shared);      // else it orders nothing that others do there
    put_off_event(b, (Event){ MEETS, 0, 0 });
}

static void race_part_barrier(Block *b, u32 arrived, u32 freed)
{
    happens_part_barrier(b, &b->race->order, arrived, freed);
    put_off_event(b, (Event){ PART_MEETS, arrived, freed });
}

static void race_warp_barrier(Warp *w, u32 lanes)
{
    happens_warp_barrier(&w->block->race->order, w, lanes);
    put_off_event(w->block, (Event){ WARP_MEETS, lanes, w->number });
}

static void race_mbarrier_made(Access *a) { happens_mbarrier_made(a); }
static void race_mbarrier_arrived(Access *a, bool completes) { happens_mbarrier_arrived(&a->warp->block->race->order, a, completes); }
static void race_mbarrier_waited(Access *a) { happens_mbarrier_waited(&a->warp->block->race->order, a); }
static void race_fence(Warp *w, const Insn *i) { happens_fence(&w->block->race->order, w, i); }

const Observer race_observer = {
    .one_order = race_one_order, .part_make = race_part_make, .part_free = race_part_free, .put_back = race_put_back,
    .grid_start = race_grid_start, .block_make = race_block_make, .block_free = race_block_free, .block_start = race_block_start,
    .block_end = race_block_end, .access = race_access, .frugal = true, .copied = race_copied, .barrier = race_barrier,
    .cluster_arrive = race_cluster_arrive, .cluster_wait = race_cluster_wait,
    .part_barrier = race_part_barrier, .warp_barrier = race_warp_barrier,
    .mbarrier_made = race_mbarrier_made, .mbarrier_arrived = race_mbarrier_arrived, .mbarrier_waited = race_mbarrier_waited,
    .fence = race_fence, .grid_end = race_grid_end,
};
