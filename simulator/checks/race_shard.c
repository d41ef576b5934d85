// Defers what a shard does in global memory until every earlier block of the grid has been checked;
// redundant reads are dropped. The deferred accesses are then checked with a stand-in for the
// shard's block, which has only what race.c reads.
#include <stdlib.h>
#include <string.h>

#include "machine/access_pattern.h"
#include "race.h"
#include "shard_reads.h"
#include "base/need.h"

static struct {
    Block block;
    struct RaceBlock race;
    u32 grid;
} replayed_block;

// Most accesses are contiguous, or all lanes have one address. Other accesses are followed by their
// spans, and, where spans do not determine each lane's address, by all addresses.
enum deferred_kind { DEFERRED_SAME, DEFERRED_CONTIGUOUS, DEFERRED_SPANS, DEFERRED_EACH };
typedef struct DeferredAccess {
    u64 base;
    u32 mask, unchanged, pc;
    u16 bytes;
    u8 warp;
    u8 kind : 2, store : 1, regular : 1;
} DeferredAccess;
typedef struct DeferredSpans {
    s64 stride;
    u64 count;
    Span span[];
} DeferredSpans;

static enum deferred_kind kind_of(const Access *a, const Span *spans)
{
    bool each = false;
    for (const Span *s = spans; s < spans + a->span_count; s++)
        each |= s->bytes != a->bytes && s->bytes != (u32)__builtin_popcount(s->lanes) * a->bytes;
    return each                     ? DEFERRED_EACH
         : a->span_count > 1        ? DEFERRED_SPANS
         : spans->bytes == a->bytes ? DEFERRED_SAME
                                    : DEFERRED_CONTIGUOUS;
}

// Most accesses are the first to their lines. (Whether several lanes store to one address is
// checked elsewhere.)
static bool is_first(Block *b, const DeferredAccess *s)
{
    BlockClocks *o = &race_block(b)->order;
    bool row = s->kind == DEFERRED_CONTIGUOUS;
    if (s->kind > DEFERRED_CONTIGUOUS || race_global.desaturated
        || (!row && s->store && s->mask & (s->mask - 1)))
        return false;
    u32 first = (u32)__builtin_ctz(s->mask);
    const Site site = { .base = row ? s->base - first * s->bytes : s->base,
                        .stride = row ? s->bytes : 0,
                        .lanes = s->mask,
                        .bytes = s->bytes,
                        .operation = race_grid(b->grid)->operation,
                        .block = b->number,
                        .epoch = o->epoch,
                        .sequence = o->sequence + 1,
                        .pc = s->pc,
                        .warp = s->warp,
                        .store = s->store };
    if (!shadow_note_first(&race_global, &site, 1)) return false;
    o->sequence++;
    return true;
}

static void check_deferred(Block *b, const DeferredAccess *s)
{
    const DeferredSpans *more = (const DeferredSpans *)(s + 1);
    const u32 unchanged = s->unchanged;
    if (is_first(b, s)) return;
    Access a;
    memset(&a, 0, offsetof(Access, address));
    a.grid = b->grid;
    a.warp = &b->warps[s->warp];
    a.insn = &b->grid->kernel->code[s->pc];
    a.pc = s->pc;
    a.mask = s->mask;
    a.first = (u32)__builtin_ctz(s->mask);
    a.space = SPACE_GLOBAL;
    a.store = s->store;
    a.bytes = s->bytes;
    a.base = s->base;
    a.unchanged = &unchanged;
    a.regular = s->regular;
    a.filled = true;
    if (s->kind <= DEFERRED_CONTIGUOUS) {
        a.stride = s->kind == DEFERRED_CONTIGUOUS ? s->bytes : 0;
        a.span_count = 1;
        a.span[0] =
            (Span){ s->base,
                    s->kind == DEFERRED_CONTIGUOUS ? (u32)__builtin_popcount(s->mask) * s->bytes
                                                   : s->bytes,
                    s->mask };
    } else {
        a.stride = more->stride;
        a.span_count = (u32)more->count;
        memcpy(a.span, more->span, more->count * sizeof *more->span);
        if (s->kind == DEFERRED_EACH) memcpy(a.address, more->span + more->count, sizeof a.address);
    }
    race_access(&a);
}

static void access_deferred(Grid *g, void *what, bool dropped)
{
    (void)g;
    if (!dropped) check_deferred(&replayed_block.block, what);
}

// ---- Warp after warp does the same: then its rows are put off together ----

// Does the warp's access cover whole lines?
static bool is_contiguous(const Access *a, enum deferred_kind kind)
{
    return kind == DEFERRED_CONTIGUOUS && a->mask == ~0u && !(a->base % LINE_BYTES)
        && !(LANES * a->bytes % LINE_BYTES);
}

static bool note_first_sweep(Block *b, const Sweep *r)
{
    BlockClocks *o = &race_block(b)->order;
    Site site[MOST_SWEEP_ACCESSES];
    if (race_global.desaturated) return false;
    for (u32 n = 0; n < r->rows; n++) {
        const SweepAccess *row = &r->row[n];
        site[n] = (Site){ .base = row->base,
                          .stride = row->bytes,
                          .lanes = ~0u,
                          .repeats = 1,
                          .bytes = row->bytes,
                          .operation = race_grid(b->grid)->operation,
                          .block = b->number,
                          .epoch = o->epoch,
                          .sequence = o->sequence + 1 + n,
                          .pc = row->pc,
                          .warp = r->first,
                          .store = row->store,
                          .warps = (u8)((r->count - n + r->rows - 1) / r->rows) };
    }
    if (!shadow_note_first(&race_global, site, r->rows)) return false;
    o->sequence += r->count;
    return true;
}

static void check_sweep(Block *b, const Sweep *r)
{
    if (note_first_sweep(b, r)) return;
    for (u32 n = 0; n < r->count; n++) {
        const SweepAccess *row = &r->row[n % r->rows];
        u32 warp = n / r->rows;
        check_deferred(b, &(DeferredAccess){ .base = row->base + (u64)warp * LANES * row->bytes,
                                             .mask = ~0u,
                                             .unchanged = r->unchanged[n],
                                             .pc = row->pc,
                                             .bytes = row->bytes,
                                             .warp = (u8)(r->first + warp),
                                             .kind = DEFERRED_CONTIGUOUS,
                                             .store = row->store,
                                             .regular = true });
    }
}

static void sweep_deferred(Grid *g, void *what, bool dropped)
{
    (void)g;
    if (!dropped) check_sweep(&replayed_block.block, what);
}

// To be called before anything else is deferred.
void race_defer_sweep(Grid *shard, Sweep *r)
{
    if (!r->count) return;
    size_t bytes = offsetof(Sweep, unchanged) + r->count * sizeof *r->unchanged;
    memcpy(grid_defer(shard, sweep_deferred, bytes), r, bytes);
    r->count = 0;
}

// Outside a shard the sweep is checked at once.
static void flush_sweep(Block *b, Sweep *r)
{
    if (b->grid->shard) race_defer_sweep(b->grid, r);
    else if (r->count) check_sweep(b, r);
    r->count = 0;
}

static void add_to_sweep(Block *b, Sweep *r, u32 warp, const SweepAccess *now, u32 unchanged)
{
    bool fits = r->count && r->count < MOST_SWEEP_ACCESSES * MOST_WARPS;
    if (fits && warp == r->first && r->rows == r->count) {
        fits = r->rows < MOST_SWEEP_ACCESSES;
        if (fits) r->row[r->rows++] = *now;
    } else if (fits) {
        const u32 before = r->count / r->rows;
        const SweepAccess *row = &r->row[r->count % r->rows];
        fits = warp == r->first + before && now->pc == row->pc && now->bytes == row->bytes
            && now->base == row->base + (u64)before * LANES * row->bytes;
    }
    if (!fits) {
        flush_sweep(b, r);
        r->first = (u8)warp;
        r->rows = 1;
        r->row[0] = *now;
    }
    r->unchanged[r->count++] = unchanged;
}

static bool spans_overlap(const Access *a)
{
    for (const Span *s = a->span; s < a->span + a->span_count; s++)
        for (const Span *t = a->span; t < s; t++)
            if (s->address < t->address + t->bytes && t->address < s->address + s->bytes)
                return true;
    return false;
}

// The lanes that store what is there already. Two lanes that store different values to one address
// are a race, which must be reported in order; hence all lanes of one deferred access that share an
// address store the same value.
static u32 lanes_unchanged(const Access *a)
{
    if (!a->atomic && !(a->regular && a->stride) && spans_overlap(a)) shard_abort(a->grid);
    u32 unchanged = 0;
    for (u32 rest = a->mask; rest; rest &= rest - 1) {
        u32 lane = (u32)__builtin_ctz(rest);
        unchanged |= (u32)race_stores_same(a, lane, LANES) << lane;
    }
    for (const Span *s = a->span; s < a->span + a->span_count; s++) {
        u32 last = (u32)__builtin_ctz(s->lanes);
        for (u32 rest = s->lanes & (s->lanes - 1);
             rest && s->bytes != (u32)__builtin_popcount(s->lanes) * a->bytes; rest &= rest - 1) {
            u32 lane = (u32)__builtin_ctz(rest);
            if (a->address[lane] == a->address[last] && !race_stores_same(a, lane, last))
                shard_abort(a->grid);
            last = lane;
        }
    }
    return unchanged;
}

// The same for the common case of contiguous words.
static u32 words_unchanged(const Access *a)
{
    const u32 *row = row_of(a->warp, a->vector[0]), *memory = (const u32 *)(a->base - 4 * a->first);
    u32 unchanged = 0;
    if (a->mask == ~0u)
        for (u32 l = 0; l < LANES; l++) unchanged |= (u32)(row[l] == memory[l]) << l;
    else
        for (u32 rest = a->mask; rest; rest &= rest - 1)
            unchanged |= (u32)(row[__builtin_ctz(rest)] == memory[__builtin_ctz(rest)])
                      << __builtin_ctz(rest);
    return unchanged;
}

bool race_defer(Access *a)
{
    u64 from;
    const Span *spans = access_spans(a, &from);
    Grid *g = a->grid;
    if (!a->store && !shard_may_store(g, a->base)
        && shard_reads_are_redundant(race_grid(g)->reads, a, spans, from))
        return true;
    if (a->warp->arrived)
        shard_abort(
            g); // a barrier in a branch: divergent_barrier_of() reads the warp's present state
    enum deferred_kind kind = kind_of(a, spans);
    bool words = kind == DEFERRED_CONTIGUOUS && a->elements == 1 && a->bytes == 4
              && a->register_width == 4 && !a->values;
    if (kind == DEFERRED_EACH || (a->store && !words))
        access_fill(a), spans = access_spans(a, &from);
    const u32 unchanged = !a->store ? 0 : words ? words_unchanged(a) : lanes_unchanged(a);
    Sweep *rows = &race_block(a->warp->block)->sweep;
    if (is_contiguous(a, kind)) {
        add_to_sweep(a->warp->block, rows, a->warp->number,
                     &(SweepAccess){ a->base, a->pc, (u16)a->bytes, a->store }, unchanged);
        return true;
    }
    race_defer_sweep(g, rows);
    size_t bytes = sizeof(DeferredAccess);
    if (kind >= DEFERRED_SPANS)
        bytes += sizeof(DeferredSpans) + a->span_count * sizeof(Span)
               + (kind == DEFERRED_EACH ? sizeof a->address : 0);
    DeferredAccess *s = grid_defer(g, access_deferred, bytes);
    *s = (DeferredAccess){ .base = a->base,
                           .mask = a->mask,
                           .unchanged = unchanged,
                           .pc = a->pc,
                           .bytes = a->bytes,
                           .warp = a->warp->number,
                           .kind = kind,
                           .store = a->store,
                           .regular = a->regular };
    if (kind < DEFERRED_SPANS) return true;
    DeferredSpans *more = (DeferredSpans *)(s + 1);
    more->stride = a->stride;
    more->count = a->span_count;
    for (u32 n = 0; n < a->span_count; n++)
        more->span[n] = (Span){ from + spans[n].address, spans[n].bytes, spans[n].lanes };
    if (kind == DEFERRED_EACH) memcpy(more->span + more->count, a->address, sizeof a->address);
    return true;
}

// Extends the sweep that the warp before them has deferred, if these warps continue all of it and
// are not redundant.
static bool extend_sweep(Block *b, const bool told[MOST_SWEEP_STEPS], u32 bit)
{
    const AccessSweep *f = &b->sweep;
    Sweep *r = &race_block(b)->sweep;
    if (r->count != f->step_count || r->rows != f->step_count || r->first != f->first
        || r->count + f->count > MOST_SWEEP_ACCESSES * MOST_WARPS)
        return false;
    for (u32 k = 0; k < f->step_count; k++)
        if (r->row[k].base != f->access[k].base || r->row[k].pc != f->access[k].pc
            || !(f->access[k].rest & bit))
            return false;
    for (u32 k = 0; k < f->step_count; k++) {
        const SweepStep *l = &f->access[k];
        if (!told[k]
            && !shard_reads_note_first(race_grid(b->grid)->reads, b->number, l->base + l->bytes,
                                       l->next - l->base - l->bytes))
            return false;
    }
    memcpy(r->unchanged + r->count, f->unchanged, f->count * sizeof *f->unchanged);
    r->count += f->count;
    return true;
}

// Outside a shard each access is checked at once; in a shard it is deferred.
void race_swept(Block *b, u32 bit)
{
    const AccessSweep *f = &b->sweep;
    Grid *g = b->grid;
    Sweep now, *rows = g->shard ? &race_block(b)->sweep : &now;
    now.count = 0;
    for (u32 n = 0; n * f->step_count < f->count; n++)
        race_block(b)->latest[f->first + 1 + n] = race_block(b)->order.epoch;
    bool told[MOST_SWEEP_STEPS]; // not a load of memory that the kernel does not store to
    for (u32 k = 0; k < f->step_count; k++)
        told[k] = !g->shard || f->access[k].store || shard_may_store(g, f->access[k].base);
    if (g->shard && extend_sweep(b, told, bit)) return;
    for (u32 n = 0, at = 0, behind = 1; n < f->count; n++) {
        const SweepStep *l = &f->access[at];
        const SweepAccess row = { l->base + (u64)behind * l->bytes, l->pc, (u16)(l->bytes / LANES),
                                  l->store };
        if (l->rest & bit
            && (told[at] || !shard_reads_note(race_grid(g)->reads, b->number, row.base, l->bytes)))
            add_to_sweep(b, rows, f->first + behind, &row, f->unchanged[n]);
        if (++at == f->step_count) at = 0, behind++;
    }
    if (!g->shard) flush_sweep(b, rows);
}

void race_free_replayed_block(void)
{
    if (!replayed_block.grid) return;
    causality_block_free(&replayed_block.race.order, replayed_block.block.warp_count);
    free(replayed_block.block.warps);
    replayed_block.grid = 0;
}

static void make_replayed_block(Grid *g)
{
    if (replayed_block.grid == g->number) return;
    race_free_replayed_block();
    replayed_block.grid = g->number;
    replayed_block.race = (struct RaceBlock){ 0 };
    replayed_block.block = (Block){ .grid = g,
                                    .warp_count = (g->threads + LANES - 1) / LANES,
                                    .kept[BLOCK_RACE] = &replayed_block.race };
    replayed_block.block.warps =
        need(calloc(replayed_block.block.warp_count, sizeof *replayed_block.block.warps));
    for (u32 n = 0; n < replayed_block.block.warp_count; n++)
        replayed_block.block.warps[n].block = &replayed_block.block,
        replayed_block.block.warps[n].number = n;
    causality_block_make(&replayed_block.block, &replayed_block.race.order);
}

static void event_deferred(Grid *g, void *of, bool dropped)
{
    const Event *e = of;
    Block *b = &replayed_block.block;
    BlockClocks *o = &replayed_block.race.order;
    if (dropped) return;
    switch (e->kind) {
    case EVENT_START:
        make_replayed_block(g);
        b->number = e->what;
        b->index[0] = e->what % g->launch->grid[0];
        b->index[1] = e->what / g->launch->grid[0] % g->launch->grid[1];
        b->index[2] = e->what / g->launch->grid[0] / g->launch->grid[1];
        causality_block_start(o, b->warp_count);
        break;
    case EVENT_BARRIER: causality_barrier(b, o); break;
    case EVENT_PARTIAL_BARRIER: causality_partial_barrier(b, o, e->what, e->freed); break;
    case EVENT_WARP_BARRIER: causality_warp_barrier(o, &b->warps[e->freed], e->what); break;
    }
}

void race_defer_event(const Block *b, Event e)
{
    if (!b->grid->shard) return;
    race_defer_sweep(b->grid, &race_block(b)->sweep);
    *(Event *)grid_defer(b->grid, event_deferred, sizeof e) = e;
}

void race_shard_make(Grid *shard)
{
    RaceGrid *kept = need(malloc(sizeof *kept));
    *kept = *race_grid(shard);
    kept->reads = shard_reads_make(shard);
    shard->kept[GRID_RACE] = kept;
}

void race_shard_free(Grid *shard)
{
    shard_reads_free(race_grid(shard)->reads);
    free(race_grid(shard));
}

void race_shard_rollback(Grid *shard) { shard_reads_reset(race_grid(shard)->reads, shard); }
