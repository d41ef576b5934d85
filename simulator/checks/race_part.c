// In a part of a grid: what it does in global memory is looked at when its turn among all blocks
// has come, but for reads that would tell nothing new: then with a block in the place of the
// part's, of which no more is there than what race.c looks at.
#include <stdlib.h>
#include <string.h>

#include "machine/shape.h"
#include "race.h"
#include "reads.h"
#include "base/need.h"

static struct {
    Block block;
    struct RaceBlock race;
    u32 grid;
} stand_in;

// Most accesses are of a ROW: lanes side by side, or all at the same place. Of others the spans
// follow, and where those do not tell the address of each lane, all addresses.
enum seen_kind { SEEN_SAME, SEEN_ROW, SEEN_SPANS, SEEN_EACH };
typedef struct Seen {
    u64 base;
    u32 mask, alike, pc;
    u16 bytes;
    u8 warp;
    u8 kind : 2, store : 1, regular : 1;
} Seen;
typedef struct SeenSpans {
    s64 stride;
    u64 count;
    Span span[];
} SeenSpans;

static enum seen_kind kind_of(const Access *a, const Span *spans)
{
    bool each = false;
    for (const Span *s = spans; s < spans + a->span_count; s++)
        each |= s->bytes != a->bytes && s->bytes != (u32)__builtin_popcount(s->lanes) * a->bytes;
    return each                     ? SEEN_EACH
         : a->span_count > 1        ? SEEN_SPANS
         : spans->bytes == a->bytes ? SEEN_SAME
                                    : SEEN_ROW;
}

// Most are the first to their lines. (Whether several lanes store the same to one place is asked
// below.)
static bool is_first(Block *b, const Seen *s)
{
    BlockOrder *o = &race_block(b)->order;
    bool row = s->kind == SEEN_ROW;
    if (s->kind > SEEN_ROW || race_global.loud || (!row && s->store && s->mask & (s->mask - 1)))
        return false;
    u32 first = (u32)__builtin_ctz(s->mask);
    const Site site = { .base = row ? s->base - first * s->bytes : s->base,
                        .stride = row ? s->bytes : 0,
                        .lanes = s->mask,
                        .bytes = s->bytes,
                        .operation = race_grid(b->grid)->operation,
                        .block = b->number,
                        .tick = o->tick,
                        .visit = o->visit + 1,
                        .pc = s->pc,
                        .warp = s->warp,
                        .store = s->store };
    if (!shadow_begin(&race_global, &site, 1)) return false;
    o->visit++;
    return true;
}

static void look_at_seen(Block *b, const Seen *s)
{
    const SeenSpans *more = (const SeenSpans *)(s + 1);
    const u32 alike = s->alike;
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
    a.alike = &alike;
    a.regular = s->regular;
    a.filled = true;
    if (s->kind <= SEEN_ROW) {
        a.stride = s->kind == SEEN_ROW ? s->bytes : 0;
        a.span_count = 1;
        a.span[0] =
            (Span){ s->base,
                    s->kind == SEEN_ROW ? (u32)__builtin_popcount(s->mask) * s->bytes : s->bytes,
                    s->mask };
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
    (void)g;
    if (!dropped) look_at_seen(&stand_in.block, what);
}

// ---- Warp after warp does the same: then its rows are put off together ----

// All that a warp's row takes is lines of its own.
static bool is_row(const Access *a, enum seen_kind kind)
{
    return kind == SEEN_ROW && a->mask == ~0u && !(a->base % LINE_BYTES)
        && !(LANES * a->bytes % LINE_BYTES);
}

static bool rows_begin(Block *b, const Rows *r)
{
    BlockOrder *o = &race_block(b)->order;
    Site site[MOST_ROWS];
    if (race_global.loud) return false;
    for (u32 n = 0; n < r->rows; n++) {
        const Row *row = &r->row[n];
        site[n] = (Site){ .base = row->base,
                          .stride = row->bytes,
                          .lanes = ~0u,
                          .rows = 1,
                          .bytes = row->bytes,
                          .operation = race_grid(b->grid)->operation,
                          .block = b->number,
                          .tick = o->tick,
                          .visit = o->visit + 1 + n,
                          .pc = row->pc,
                          .warp = r->first,
                          .store = row->store,
                          .warps = (u8)((r->count - n + r->rows - 1) / r->rows) };
    }
    if (!shadow_begin(&race_global, site, r->rows)) return false;
    o->visit += r->count;
    return true;
}

static void look_at_rows(Block *b, const Rows *r)
{
    if (rows_begin(b, r)) return;
    for (u32 n = 0; n < r->count; n++) {
        const Row *row = &r->row[n % r->rows];
        u32 warp = n / r->rows;
        look_at_seen(b, &(Seen){ .base = row->base + (u64)warp * LANES * row->bytes,
                                 .mask = ~0u,
                                 .alike = r->alike[n],
                                 .pc = row->pc,
                                 .bytes = row->bytes,
                                 .warp = (u8)(r->first + warp),
                                 .kind = SEEN_ROW,
                                 .store = row->store,
                                 .regular = true });
    }
}

static void rows_later(Grid *g, void *what, bool dropped)
{
    (void)g;
    if (!dropped) look_at_rows(&stand_in.block, what);
}

// What follows comes behind them.
void race_put_off_rows(Grid *part, Rows *r)
{
    if (!r->count) return;
    size_t bytes = offsetof(Rows, alike) + r->count * sizeof *r->alike;
    memcpy(grid_later(part, rows_later, bytes), r, bytes);
    r->count = 0;
}

// What is not in a part is looked at now.
static void hand_on_rows(Block *b, Rows *r)
{
    if (b->grid->part) race_put_off_rows(b->grid, r);
    else if (r->count) look_at_rows(b, r);
    r->count = 0;
}

static void add_row(Block *b, Rows *r, u32 warp, const Row *now, u32 alike)
{
    bool fits = r->count && r->count < MOST_ROWS * MOST_WARPS;
    if (fits && warp == r->first && r->rows == r->count) {
        fits = r->rows < MOST_ROWS;
        if (fits) r->row[r->rows++] = *now;
    } else if (fits) {
        const u32 before = r->count / r->rows;
        const Row *row = &r->row[r->count % r->rows];
        fits = warp == r->first + before && now->pc == row->pc && now->bytes == row->bytes
            && now->base == row->base + (u64)before * LANES * row->bytes;
    }
    if (!fits) {
        hand_on_rows(b, r);
        r->first = (u8)warp;
        r->rows = 1;
        r->row[0] = *now;
    }
    r->alike[r->count++] = alike;
}

static bool spans_overlap(const Access *a)
{
    for (const Span *s = a->span; s < a->span + a->span_count; s++)
        for (const Span *t = a->span; t < s; t++)
            if (s->address < t->address + t->bytes && t->address < s->address + s->bytes)
                return true;
    return false;
}

// Lanes that store what is there already. Two lanes that store differently to one place are a race,
// which has to be told: behind this, what lanes of one access store to one place is alike.
static u32 lanes_alike(const Access *a)
{
    if (!a->atomic && !(a->regular && a->stride) && spans_overlap(a)) grid_in_order(a->grid);
    u32 alike = 0;
    for (u32 rest = a->mask; rest; rest &= rest - 1) {
        u32 lane = (u32)__builtin_ctz(rest);
        alike |= (u32)race_stores_alike(a, lane, LANES) << lane;
    }
    for (const Span *s = a->span; s < a->span + a->span_count; s++) {
        u32 last = (u32)__builtin_ctz(s->lanes);
        for (u32 rest = s->lanes & (s->lanes - 1);
             rest && s->bytes != (u32)__builtin_popcount(s->lanes) * a->bytes; rest &= rest - 1) {
            u32 lane = (u32)__builtin_ctz(rest);
            if (a->address[lane] == a->address[last] && !race_stores_alike(a, lane, last))
                grid_in_order(a->grid);
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
    if (a->mask == ~0u)
        for (u32 l = 0; l < LANES; l++) alike |= (u32)(row[l] == memory[l]) << l;
    else
        for (u32 rest = a->mask; rest; rest &= rest - 1)
            alike |= (u32)(row[__builtin_ctz(rest)] == memory[__builtin_ctz(rest)])
                  << __builtin_ctz(rest);
    return alike;
}

bool race_put_off(Access *a)
{
    u64 from;
    const Span *spans = access_spans(a, &from);
    Grid *g = a->grid;
    if (!a->store && !grid_stores_there(g, a->base)
        && reads_tell_nothing(race_grid(g)->reads, a, spans, from))
        return true;
    if (a->warp->arrived)
        grid_in_order(g); // at a barrier in a branch: parted_at() looks at the warp as it is now
    enum seen_kind kind = kind_of(a, spans);
    bool words = kind == SEEN_ROW && a->elements == 1 && a->bytes == 4 && a->register_width == 4
              && !a->values;
    if (kind == SEEN_EACH || (a->store && !words)) access_fill(a), spans = access_spans(a, &from);
    const u32 alike = !a->store ? 0 : words ? words_alike(a) : lanes_alike(a);
    Rows *rows = &race_block(a->warp->block)->rows;
    if (is_row(a, kind)) {
        add_row(a->warp->block, rows, a->warp->number,
                &(Row){ a->base, a->pc, (u16)a->bytes, a->store }, alike);
        return true;
    }
    race_put_off_rows(g, rows);
    size_t bytes = sizeof(Seen);
    if (kind >= SEEN_SPANS)
        bytes += sizeof(SeenSpans) + a->span_count * sizeof(Span)
               + (kind == SEEN_EACH ? sizeof a->address : 0);
    Seen *s = grid_later(g, seen_later, bytes);
    *s = (Seen){ .base = a->base,
                 .mask = a->mask,
                 .alike = alike,
                 .pc = a->pc,
                 .bytes = a->bytes,
                 .warp = a->warp->number,
                 .kind = kind,
                 .store = a->store,
                 .regular = a->regular };
    if (kind < SEEN_SPANS) return true;
    SeenSpans *more = (SeenSpans *)(s + 1);
    more->stride = a->stride;
    more->count = a->span_count;
    for (u32 n = 0; n < a->span_count; n++)
        more->span[n] = (Span){ from + spans[n].address, spans[n].bytes, spans[n].lanes };
    if (kind == SEEN_EACH) memcpy(more->span + more->count, a->address, sizeof a->address);
    return true;
}

// Do they go on behind what the warp before them has just put off, all of it, and tell something
// new? They have been put off then.
static bool rows_go_on(Block *b, const bool told[MOST_LED], u32 bit)
{
    const Followers *f = &b->followers;
    Rows *r = &race_block(b)->rows;
    if (r->count != f->led || r->rows != f->led || r->first != f->first
        || r->count + f->count > MOST_ROWS * MOST_WARPS)
        return false;
    for (u32 k = 0; k < f->led; k++)
        if (r->row[k].base != f->access[k].base || r->row[k].pc != f->access[k].pc
            || !(f->access[k].rest & bit))
            return false;
    for (u32 k = 0; k < f->led; k++) {
        const Led *l = &f->access[k];
        if (!told[k]
            && !reads_begin(race_grid(b->grid)->reads, b->number, l->base + l->bytes,
                            l->next - l->base - l->bytes))
            return false;
    }
    memcpy(r->alike + r->count, f->alike, f->count * sizeof *f->alike);
    r->count += f->count;
    return true;
}

// In one order, each is looked at now; in a part, put off.
void race_followed(Block *b, u32 bit)
{
    const Followers *f = &b->followers;
    Grid *g = b->grid;
    Rows now, *rows = g->part ? &race_block(b)->rows : &now;
    now.count = 0;
    for (u32 n = 0; n * f->led < f->count; n++)
        race_block(b)->latest[f->first + 1 + n] = race_block(b)->order.tick;
    bool told[MOST_LED]; // it is no load of memory that the kernel does not store to
    for (u32 k = 0; k < f->led; k++)
        told[k] = !g->part || f->access[k].store || grid_stores_there(g, f->access[k].base);
    if (g->part && rows_go_on(b, told, bit)) return;
    for (u32 n = 0, at = 0, behind = 1; n < f->count; n++) {
        const Led *l = &f->access[at];
        const Row row = { l->base + (u64)behind * l->bytes, l->pc, (u16)(l->bytes / LANES),
                          l->store };
        if (l->rest & bit
            && (told[at] || !reads_say_nothing(race_grid(g)->reads, b->number, row.base, l->bytes)))
            add_row(b, rows, f->first + behind, &row, f->alike[n]);
        if (++at == f->led) at = 0, behind++;
    }
    if (!g->part) hand_on_rows(b, rows);
}

void race_free_stand_in(void)
{
    if (!stand_in.grid) return;
    happens_block_free(&stand_in.race.order, stand_in.block.warp_count);
    free(stand_in.block.warps);
    stand_in.grid = 0;
}

static void make_stand_in(Grid *g)
{
    if (stand_in.grid == g->number) return;
    race_free_stand_in();
    stand_in.grid = g->number;
    stand_in.race = (struct RaceBlock){ 0 };
    stand_in.block = (Block){ .grid = g,
                              .warp_count = (g->threads + LANES - 1) / LANES,
                              .kept[BLOCK_RACE] = &stand_in.race };
    stand_in.block.warps = need(calloc(stand_in.block.warp_count, sizeof *stand_in.block.warps));
    for (u32 n = 0; n < stand_in.block.warp_count; n++)
        stand_in.block.warps[n].block = &stand_in.block, stand_in.block.warps[n].number = n;
    happens_block_make(&stand_in.block, &stand_in.race.order);
}

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

void race_put_off_event(const Block *b, Event e)
{
    if (!b->grid->part) return;
    race_put_off_rows(b->grid, &race_block(b)->rows);
    *(Event *)grid_later(b->grid, event_later, sizeof e) = e;
}

void race_part_make(Grid *part)
{
    RaceGrid *kept = need(malloc(sizeof *kept));
    *kept = *race_grid(part);
    kept->reads = reads_take(part);
    part->kept[GRID_RACE] = kept;
}

void race_part_free(Grid *part)
{
    reads_give_back(race_grid(part)->reads);
    free(race_grid(part));
}

void race_put_back(Grid *part) { reads_forget(race_grid(part)->reads, part); }
