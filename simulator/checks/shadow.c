// Lines, sites and cells. Where there is no room for what a line would have to remember, it forgets the older: a race may
// then go unseen, and none is reported that is none.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shadow.h"
#include "need.h"

enum { AHEAD = 8 };             // sites that the host is to have at hand by then
enum { MOST_SITES = 1 << 22, MOST_CELLS = 1 << 25, WORD = 4 };

void shadow_make(Shadow *s, u64 base, u64 bytes)
{
    *s = (Shadow){ .base = base, .era = 1, .site_count = 1, .cell_count = 1 };
    s->lines = need(mmap(NULL, bytes / LINE_BYTES * sizeof *s->lines, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

void shadow_make_chunks(Shadow *s, u64 bytes)
{
    s->chunks = need(mmap(NULL, bytes / CHUNK_BYTES * sizeof *s->chunks, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

void shadow_free(Shadow *s, u64 bytes)
{
    munmap(s->lines, bytes / LINE_BYTES * sizeof *s->lines);
    free(s->sites);
    free(s->cells);
}

void shadow_forget(Shadow *s)
{
    s->era++;
    s->loud = true;
    s->site_count = s->cell_count = 1;
    s->free_words = s->free_bytes = 0;
}

// ---- Sites ----

static bool is_full(const Shadow *s) { return s->site_count >= MOST_SITES || s->cell_count >= MOST_CELLS; }

static u32 add_site(Shadow *s, const Site *site)
{
    if (s->site_count >= s->site_room) {
        s->site_room = s->site_room ? 2 * s->site_room : 64;
        s->sites = need(realloc(s->sites, s->site_room * sizeof *s->sites));
    }
    __builtin_prefetch(&s->sites[s->site_count + AHEAD], 1);
    s->sites[s->site_count] = *site;
    return s->site_count++;
}

static u32 number_of(Shadow *s, Look *k) { return k->number ? k->number : (k->number = add_site(s, &k->site)); }

static s64 floor_of(s64 a, s64 b) { return a / b - (a % b && (a < 0) != (b < 0)); }

u32 site_lanes(const Site *s, u64 from, u64 to)
{
    if (s->stride == 0) return s->base < to && from < s->base + s->bytes ? s->lanes : 0;
    u32 lanes = 0;
    if (s->stride < 0) {
        for (u32 rest = s->lanes; rest; rest &= rest - 1) {
            u64 at = s->base + __builtin_ctz(rest) * s->stride;
            if (at < to && from < at + s->bytes) lanes |= rest & -rest;
        }
        return lanes;
    }
    s64 low = floor_of((s64)(from - s->base - s->bytes), s->stride) + 1, high = floor_of((s64)(to - 1 - s->base), s->stride);
    if (low < 0) low = 0;
    if (high > LANES - 1) high = LANES - 1;
    if (low > high) return 0;
    return s->lanes & (~0u << low) & (~0u >> (LANES - 1 - high));
}

// What of a line a site touches: from its first byte to its last, and whether all between as well.
typedef struct Part { u64 from, to; bool solid; } Part;

static Part part_of(const Site *s, u64 line)
{
    Part p = { s->base, s->base + s->bytes, true };
    if (s->stride) {
        u32 lanes = site_lanes(s, line, line + LINE_BYTES);
        if (!lanes) return (Part){ line, line, true };
        u32 low = __builtin_ctz(lanes), high = 31 - __builtin_clz(lanes);
        u32 first = s->stride > 0 ? low : high, last = s->stride > 0 ? high : low;
        u32 holes = (lanes >> low) + 1;
        p = (Part){ s->base + first * s->stride, s->base + last * s->stride + s->bytes, true };
        p.solid = first == last || ((u64)llabs(s->stride) <= s->bytes && !(holes & (holes - 1)));
    }
    if (p.from < line) p.from = line;
    if (p.to > line + LINE_BYTES) p.to = line + LINE_BYTES;
    return p;
}

static bool same_bytes(const Site *a, const Site *b)
{
    return a->base == b->base && a->stride == b->stride && a->bytes == b->bytes && a->lanes == b->lanes;
}

// Does it touch all of the line that the other touches?
static bool covers(const Site *a, const Site *b, u64 line)
{
    if (same_bytes(a, b)) return true;
    Part x = part_of(a, line), y = part_of(b, line);
    return x.solid && x.from <= y.from && y.to <= x.to;
}

static bool same_warp(const Site *a, const Site *b)
{
    return a->operation == b->operation && a->block == b->block && a->warp == b->warp;
}

// A warp that reads on, each lane right behind what it read: one site for all of it.
static bool extend(Site *s, const Site *on)
{
    if (!same_warp(s, on) || s->tick != on->tick || s->strong || on->strong || s->stride != on->stride || s->lanes != on->lanes
        || on->base != s->base + s->bytes) return false;
    if (s->stride && (u64)llabs(s->stride) < (u64)s->bytes + on->bytes) return false;
    s->bytes += on->bytes;
    return true;
}

// ---- Cells ----

static u32 count_of(u32 granule) { return LINE_BYTES / granule; }

static u32 take_cells(Shadow *s, u32 granule)
{
    u32 *list = granule == WORD ? &s->free_words : &s->free_bytes, count = count_of(granule), n = *list;
    if (n) {
        *list = s->cells[n].write;
    } else {
        if (s->cell_count + count > s->cell_room) {
            s->cell_room = s->cell_room ? 2 * s->cell_room : 1024;
            s->cells = need(realloc(s->cells, s->cell_room * sizeof *s->cells));
        }
        n = s->cell_count;
        s->cell_count += count;
    }
    memset(&s->cells[n], 0, count * sizeof *s->cells);
    return n;
}

static void give_cells(Shadow *s, Line *n)
{
    u32 *list = n->granule == WORD ? &s->free_words : &s->free_bytes;
    s->cells[n->cells].write = *list;
    *list = n->cells;
    n->cells = 0;
}

static void take_apart(Shadow *s, Line *n, u64 line, u32 granule)
{
    u32 at = take_cells(s, granule);
    for (u32 c = 0; c < count_of(granule); c++) {
        Cell *cell = &s->cells[at + c];
        u64 from = line + c * granule, to = from + granule;
        for (u32 k = 0; k < 2; k++) {
            if (n->write[k] && site_lanes(&s->sites[n->write[k]], from, to)) cell->write = n->write[k];
            if (n->read[k] && site_lanes(&s->sites[n->read[k]], from, to)) cell->read[k] = n->read[k];
        }
    }
    *n = (Line){ .era = n->era, .cells = at, .granule = granule };
}

static void take_further_apart(Shadow *s, Line *n)
{
    u32 at = take_cells(s, 1), words = n->cells;
    for (u32 c = 0; c < count_of(1); c++) s->cells[at + c] = s->cells[words + c / WORD];
    give_cells(s, n);
    n->cells = at;
    n->granule = 1;
}

// ---- Quiet lines ----

static void make_quiet(Shadow *s, Line *n, u32 quiet)
{
    if (n->quiet == quiet) return;
    n->quiet = quiet;
    if (!s->chunks) return;
    Chunk *c = &s->chunks[(n - s->lines) / CHUNK_LINES];
    if (c->era != s->era || c->quiet != quiet) *c = (Chunk){ .era = s->era, .quiet = quiet };
    c->lines++;
}

// The line was as quiet as that.
static void make_loud(Shadow *s, const Line *n, u32 quiet)
{
    if (!s->chunks) return;
    Chunk *c = &s->chunks[(n - s->lines) / CHUNK_LINES];
    if (c->era != s->era || c->quiet != quiet) return;
    if (c->lines-- == CHUNK_LINES) s->loud = true;
}

void shadow_quiet_range(const Shadow *s, u64 address, u32 quiet, u64 *from, u64 *to)
{
    enum { MOST = 64 };
    const Chunk *here = &s->chunks[(address - s->base) / CHUNK_BYTES], *low = here, *high = here;
    const Chunk *first = here - s->chunks > MOST ? here - MOST : s->chunks;
    while (low >= first && low->lines == CHUNK_LINES && low->quiet == quiet && low->era == s->era) low--;
    while (high < here + MOST && high->lines == CHUNK_LINES && high->quiet == quiet && high->era == s->era) high++;
    *from = s->base + (low + 1 - s->chunks) * CHUNK_BYTES;
    *to = s->base + (high - s->chunks) * CHUNK_BYTES;
}

// ---- Remembering ----

static bool is_over(Look *k, const Site *earlier) { return earlier->operation != k->site.operation && k->is_over(k, earlier); }

// Which of two reads gives way to a new one; 2: none. Readers of two blocks tell more than two of one.
static u32 read_slot(Shadow *s, const u32 read[2], Look *k, u64 line)
{
    const Site *now = &k->site;
    for (u32 n = 0; n < 2; n++) {
        Site *old = &s->sites[read[n]];
        if (!read[n]) continue;
        if (same_warp(old, now) && old->tick == now->tick && old->strong == now->strong && covers(old, now, line)) return 2;
        if (extend(old, now)) return 2;
    }
    for (u32 n = 0; n < 2; n++) {
        const Site *old = &s->sites[read[n]];
        if (!read[n] || (same_warp(old, now) && covers(now, old, line))) return n;
    }
    for (u32 n = 0; n < 2; n++)
        if (is_over(k, &s->sites[read[n]])) return n;
    const Site *first = &s->sites[read[0]], *second = &s->sites[read[1]];
    return first->block == second->block && now->block != first->block ? 1 : 2;
}

static void remember_read(Shadow *s, Line *n, Look *k, u64 line)
{
    u32 slot = read_slot(s, n->read, k, line);
    if (slot < 2) {
        u32 number = number_of(s, k);
        n->read[slot] = number;
    }
    if (!k->quiet || !n->read[0] || !n->read[1]) return;
    const Site *a = &s->sites[n->read[0]], *b = &s->sites[n->read[1]];
    for (u32 w = 0; w < 2; w++)     // a read that it may race with has to be looked at
        if (n->write[w] && !is_over(k, &s->sites[n->write[w]])) return;
    if (a->operation == k->site.operation && b->operation == k->site.operation && !same_warp(a, b)
        && (a->block != b->block || k->by_warp)) make_quiet(s, n, k->quiet);
    else if (k->by_warp && same_warp(a, b)) n->full = 1 + a->warp;
}

bool shadow_read_on(Shadow *s, const Span *span, u64 address, u32 warp, u32 tick)
{
    Line *n = shadow_line(s, address);
    if (n->era != s->era || n->cells || n->write[0] || n->write[1] || n != shadow_line(s, address + span->bytes - 1)) return false;
    if (n->read[1] && s->sites[n->read[1]].warp != warp) return false;
    for (u32 r = 0; r < 2 && n->read[r]; r++) {
        Site *old = &s->sites[n->read[r]];
        if (old->warp != warp || old->tick != tick || old->strong || old->stride) return false;
        if (old->base <= address && address + span->bytes <= old->base + old->bytes) return true;
        if (old->lanes == span->lanes && address == old->base + old->bytes) {
            old->bytes += span->bytes;
            return true;
        }
    }
    return false;
}

// Do two blocks add, one after the other?
static bool both_add(const Site *old, const Site *now)
{
    return old->adds && now->adds && (old->operation != now->operation || old->block != now->block);
}

// False: it does not fit beside what is there.
static bool remember_write(Shadow *s, Line *n, Look *k, u64 line)
{
    u32 slot = 2;
    for (u32 w = 0; w < 2; w++)
        if (n->write[w] && both_add(&s->sites[n->write[w]], &k->site)) return false;
    for (u32 w = 0; w < 2; w++) {
        if (n->write[w] && !covers(&k->site, &s->sites[n->write[w]], line)) continue;
        n->write[w] = 0;
        if (slot == 2) slot = w;
    }
    if (slot == 2) return false;
    n->write[slot] = number_of(s, k);
    for (u32 r = 0; r < 2; r++)
        if (n->read[r] && covers(&k->site, &s->sites[n->read[r]], line)) n->read[r] = 0;
    n->quiet = n->full = 0;
    return true;
}

// ---- Looking ----

// What another block has added, which the addition that is looked at does not undo.
static u32 added_before(const Shadow *s, const Cell *c, const Site *now)
{
    if (!c->write || !now->adds || !s->sites[c->write].adds) return 0;
    return both_add(&s->sites[c->write], now) ? c->write : c->added;
}

static bool look_at_cell(Shadow *s, Cell *c, Look *k, u64 from, u64 to)
{
    bool raced = c->write && k->races(k, &s->sites[c->write], from, to);
    raced = raced || (c->added && k->races(k, &s->sites[c->added], from, to));
    for (u32 n = 0; n < 2 && k->site.store && !raced; n++)
        raced = c->read[n] && k->races(k, &s->sites[c->read[n]], from, to);
    if (k->site.store) {
        u32 added = added_before(s, c, &k->site);
        *c = (Cell){ .write = number_of(s, k), .added = added };
    } else {
        u32 slot = read_slot(s, c->read, k, from);
        if (slot < 2) {
            u32 number = number_of(s, k);
            c->read[slot] = number;
        }
    }
    return raced;
}

static bool look_at_cells(Shadow *s, Line *n, Look *k, u64 line)
{
    Part p = part_of(&k->site, line);
    if ((p.from | p.to | k->site.bytes) % n->granule) take_further_apart(s, n);
    bool raced = false;
    for (u64 from = p.from; from < p.to; from += n->granule) {
        if (!p.solid && !site_lanes(&k->site, from, from + n->granule)) continue;
        raced |= look_at_cell(s, &s->cells[n->cells + (from - line) / n->granule], k, from, from + n->granule);
    }
    if (k->site.store && !k->site.adds && p.solid && p.to - p.from == LINE_BYTES) {
        give_cells(s, n);
        *n = (Line){ .era = s->era, .write = { number_of(s, k) } };
    }
    return raced;
}

// Nobody has been here: there is nothing to compare with.
static void begin_line(const Shadow *s, Line *n, u32 number, const Site *site)
{
    *n = (Line){ .era = s->era, .of_many = site->warps };
    *(site->store ? n->write : n->read) = number;
}

// The line has company: of the warps that its site is of, the one that touched it gets a site of its own.
static void single_out(Shadow *s, Line *n, u64 line)
{
    u32 *number = n->write[0] ? n->write : n->read;
    Site own = s->sites[*number];
    u32 before = (line - own.base) / (LANES * own.bytes);
    own.base += before * LANES * own.bytes;
    own.warp += before;
    own.warps = 0;
    n->of_many = false;
    *number = is_full(s) ? 0 : add_site(s, &own);
}

static bool look_at_line_itself(Shadow *s, Line *n, Look *k, u64 line)
{
    if (n->era != s->era) {
        begin_line(s, n, number_of(s, k), &k->site);
        return false;
    }
    if (n->of_many) single_out(s, n, line);
    if (n->cells) return look_at_cells(s, n, k, line);
    u64 to = line + LINE_BYTES;
    bool raced = false;
    for (u32 w = 0; w < 2 && !raced; w++)
        raced = n->write[w] && k->races(k, &s->sites[n->write[w]], line, to);
    for (u32 r = 0; r < 2 && k->site.store && !raced; r++)
        raced = n->read[r] && k->races(k, &s->sites[n->read[r]], line, to);
    if (raced) {
        *n = (Line){ .era = s->era };
        return true;
    }
    if (!k->site.store) {
        remember_read(s, n, k, line);
    } else if (!remember_write(s, n, k, line)) {
        Part p = part_of(&k->site, line);
        take_apart(s, n, line, (p.from | p.to | k->site.bytes) % WORD ? 1 : WORD);
        look_at_cells(s, n, k, line);
    }
    return false;
}

static bool look_at_line(Shadow *s, Line *n, Look *k, u64 line)
{
    u32 quiet = n->era == s->era ? n->quiet : 0;
    bool raced = look_at_line_itself(s, n, k, line);
    if (quiet && n->quiet != quiet) make_loud(s, n, quiet);
    return raced;
}

static void look_at_range(Shadow *s, Look *k, u64 from, u64 to)
{
    u64 first = from - (from - s->base) % LINE_BYTES;
    for (u64 line = first; line < to; line += LINE_BYTES) {
        if (!k->site.store && k->quiet && shadow_quiet(s, line, 1, k->quiet, k->by_warp ? 1 + k->site.warp : 0)) continue;
        if (look_at_line(s, shadow_line(s, line), k, line)) return;
    }
}

typedef struct Lines { Line *first, *last; } Lines;

static Lines lines_of(const Shadow *s, const Site *of)
{
    u64 from = of->base + __builtin_ctz(of->lanes) * of->stride;
    u64 bytes = of->warps ? (u64)of->warps * LANES * of->bytes : of->stride ? (u64)__builtin_popcount(of->lanes) * of->bytes : of->bytes;
    return (Lines){ shadow_line(s, from), shadow_line(s, from + bytes - 1) };
}

bool shadow_begin(Shadow *s, const Site *sites, u32 count)
{
    Lines lines[count];
    if (is_full(s)) return false;
    for (u32 n = 0; n < count; n++) {
        lines[n] = lines_of(s, &sites[n]);
        for (u32 k = 0; k < n; k++) if (lines[k].first <= lines[n].last && lines[n].first <= lines[k].last) return false;
        for (const Line *l = lines[n].first; l <= lines[n].last; l++) if (l->era == s->era) return false;
    }
    for (u32 n = 0; n < count; n++) {
        u32 number = add_site(s, &sites[n]);
        for (Line *l = lines[n].first; l <= lines[n].last; l++) begin_line(s, l, number, &sites[n]);
    }
    return true;
}

void shadow_look(Shadow *s, Look *k)
{
    if (is_full(s)) shadow_forget(s);
    const Site *a = &k->site;
    u32 first = __builtin_ctz(a->lanes), last = 31 - __builtin_clz(a->lanes);
    u64 low = a->base + first * a->stride, high = a->base + last * a->stride;
    if (a->stride == 0 || ((a->stride == a->bytes) && !(((a->lanes >> first) + 1) & (a->lanes >> first)))) {
        look_at_range(s, k, low, high + a->bytes);
        return;
    }
    u64 seen = ~0ull;           // a line is looked at once, whichever lanes touch it; no lane touches two
    for (u32 rest = a->lanes; rest; rest &= rest - 1) {
        u64 at = a->base + __builtin_ctz(rest) * a->stride, line = (at - s->base) / LINE_BYTES;
        if (line != seen) look_at_range(s, k, at, at + 1);
        seen = line;
    }
}
