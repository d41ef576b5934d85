// Lines, sites and cells. Where there is no room for what a line would have to remember, it forgets
// the older: a race may then go unseen, and none is reported that is none.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shadow.h"
#include "base/need.h"

enum { AHEAD = 8 }; // sites that the host is to have at hand by then
enum { MOST_SITES = 1 << 22, MOST_CELLS = 1 << 25, MOST_MORE = 1 << 22, WORD = 4 };
static const u32 MORE = 1u << 31; // read[1]: and an index of `more`

void shadow_make(Shadow *s, u64 base, u64 bytes)
{
    *s = (Shadow){ .base = base, .era = 1, .site_count = 1, .cell_count = 1, .more_count = 1 };
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
    free(s->more);
}

void shadow_forget(Shadow *s)
{
    s->era++;
    s->loud = true;
    s->site_count = s->cell_count = s->more_count = 1;
    s->free_words = s->free_bytes = s->free_more = 0;
}

// ---- Sites ----

static bool is_full(const Shadow *s)
{
    return s->site_count >= MOST_SITES || s->cell_count >= MOST_CELLS;
}

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

static u32 number_of(Shadow *s, Look *k)
{
    return k->number ? k->number : (k->number = add_site(s, &k->site));
}

static s64 floor_of(s64 a, s64 b) { return a / b - (a % b && (a < 0) != (b < 0)); }

static u32 lanes_of_row(const Site *s, u64 from, u64 to)
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
    s64 low = floor_of((s64)(from - s->base - s->bytes), s->stride) + 1,
        high = floor_of((s64)(to - 1 - s->base), s->stride);
    if (low < 0) low = 0;
    if (high > LANES - 1) high = LANES - 1;
    if (low > high) return 0;
    return s->lanes & (~0u << low) & (~0u >> (LANES - 1 - high));
}

// And those of the rows behind them.
static u32 of_all_rows(const Site *s, u32 lanes)
{
    u32 all = lanes;
    for (u32 n = 1; n < s->rows; n++) all |= lanes << n * __builtin_popcount(s->lanes);
    return all;
}

u32 site_lanes(const Site *s, u64 from, u64 to)
{
    return of_all_rows(s, lanes_of_row(s, from, to));
}
static u32 all_lanes(const Site *s) { return of_all_rows(s, s->lanes); }

// Lanes side by side, which is what most are.
static bool is_row(const Site *s)
{
    u32 lanes = s->lanes >> __builtin_ctz(s->lanes);
    return s->stride == (s64)s->bytes && !(lanes & (lanes + 1));
}

// What a site touches of some bytes: from its first byte to its last, and whether all between as
// well.
typedef struct Part {
    u64 from, to;
    bool solid;
} Part;

static Part part_of(const Site *s, u64 from, u64 to)
{
    Part p = { s->base, s->base + s->bytes, true };
    if (is_row(s)) {
        p.from = s->base + (u32)__builtin_ctz(s->lanes) * s->bytes;
        p.to = p.from + (u32)__builtin_popcount(s->lanes) * s->bytes;
        if (p.to <= from || p.from >= to) return (Part){ from, from, true };
    } else if (s->stride) {
        u32 lanes = site_lanes(s, from, to);
        if (!lanes) return (Part){ from, from, true };
        u32 low = __builtin_ctz(lanes), high = 31 - __builtin_clz(lanes);
        u32 first = s->stride > 0 ? low : high, last = s->stride > 0 ? high : low;
        u32 holes = (lanes >> low) + 1;
        p = (Part){ s->base + first * s->stride, s->base + last * s->stride + s->bytes, true };
        p.solid = first == last || ((u64)llabs(s->stride) <= s->bytes && !(holes & (holes - 1)));
    }
    if (p.from < from) p.from = from;
    if (p.to > to) p.to = to;
    return p;
}

static bool same_bytes(const Site *a, const Site *b)
{
    return a->base == b->base && a->stride == b->stride && a->bytes == b->bytes
        && a->lanes == b->lanes;
}

// Does it touch all of those bytes that the other touches?
static bool covers(const Site *a, const Site *b, u64 from, u64 to)
{
    if (same_bytes(a, b)) return true;
    Part x = part_of(a, from, to);
    if (!x.solid) return false;
    Part y = part_of(b, from, to);
    return x.from <= y.from && y.to <= x.to;
}

// Of one warp: does each lane of the other touch no bytes but those that it touches here?
static bool covers_each(const Site *a, const Site *b)
{
    return a->stride == b->stride && a->base <= b->base && b->base + b->bytes <= a->base + a->bytes
        && !(all_lanes(b) & ~all_lanes(a))
        && (a->lanes == b->lanes || (a->rows <= 1 && b->rows <= 1));
}

static bool same_warp(const Site *a, const Site *b)
{
    return a->operation == b->operation && a->block == b->block && a->warp == b->warp;
}

// A warp that reads on, each lane right behind what it read: one site for all of it.
static bool extend(Site *s, const Site *on)
{
    if (!same_warp(s, on) || s->tick != on->tick || s->strong || on->strong
        || s->stride != on->stride || s->lanes != on->lanes || s->rows != on->rows
        || on->base != s->base + s->bytes)
        return false;
    if (s->stride && (u64)llabs(s->stride) < (u64)s->bytes + on->bytes) return false;
    s->bytes += on->bytes;
    return true;
}

// ---- Readers ----
// One or two stand in the line or cell itself; the second is in `more` where there are others.

static inline u32 readers_of(const Shadow *s, const u32 read[2], u32 readers[MOST_READERS])
{
    readers[0] = read[0];
    readers[1] = read[1];
    if (!(read[1] & MORE)) return (read[0] != 0) + (read[1] != 0);
    const More *m = &s->more[read[1] & ~MORE];
    for (u32 n = 0; n < m->count; n++) readers[1 + n] = m->read[n];
    return 1 + m->count;
}

static u32 take_more(Shadow *s)
{
    u32 n = s->free_more;
    if (n) {
        s->free_more = s->more[n].read[0];
        return n;
    }
    if (s->more_count >= s->more_room) {
        s->more_room = s->more_room ? 2 * s->more_room : 64;
        s->more = need(realloc(s->more, s->more_room * sizeof *s->more));
    }
    return s->more_count++;
}

static void set_many(Shadow *s, u32 read[2], const u32 *readers, u32 count)
{
    u32 more = read[1] & MORE ? read[1] & ~MORE : take_more(s);
    s->more[more].count = count - 1;
    memcpy(s->more[more].read, readers + 1, (count - 1) * sizeof *readers);
    read[0] = readers[0];
    read[1] = MORE | more;
}

static void give_more(Shadow *s, u32 more)
{
    s->more[more].read[0] = s->free_more;
    s->free_more = more;
}

static inline void set_readers(Shadow *s, u32 read[2], const u32 *readers, u32 count)
{
    if (count > 2) {
        set_many(s, read, readers, count);
        return;
    }
    if (read[1] & MORE) give_more(s, read[1] & ~MORE);
    read[0] = count > 0 ? readers[0] : 0;
    read[1] = count > 1 ? readers[1] : 0;
}

static void forget_readers(Shadow *s, u32 read[2]) { set_readers(s, read, NULL, 0); }

// ---- Cells ----

static u32 count_of(u32 granule) { return LINE_BYTES / granule; }

static u32 take_cells(Shadow *s, u32 granule)
{
    u32 *list = granule == WORD ? &s->free_words : &s->free_bytes, count = count_of(granule),
        n = *list;
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
    for (u32 c = 0; c < count_of(n->granule); c++) forget_readers(s, s->cells[n->cells + c].read);
    s->cells[n->cells].write = *list;
    *list = n->cells;
    n->cells = 0;
}

static void take_apart(Shadow *s, Line *n, u64 line, u32 granule)
{
    u32 at = take_cells(s, granule), readers[MOST_READERS], count = readers_of(s, n->read, readers);
    for (u32 c = 0; c < count_of(granule); c++) {
        Cell *cell = &s->cells[at + c];
        u64 from = line + c * granule, to = from + granule;
        u32 here[MOST_READERS], reading = 0;
        for (u32 k = 0; k < 2; k++)
            if (n->write[k] && site_lanes(&s->sites[n->write[k]], from, to))
                cell->write = n->write[k];
        for (u32 k = 0; k < count; k++)
            if (site_lanes(&s->sites[readers[k]], from, to)) here[reading++] = readers[k];
        set_readers(s, cell->read, here, reading);
    }
    forget_readers(s, n->read);
    *n = (Line){ .era = n->era, .cells = at, .granule = granule };
}

static void take_further_apart(Shadow *s, Line *n)
{
    u32 at = take_cells(s, 1), words = n->cells;
    for (u32 c = 0; c < count_of(1); c++) {
        const Cell *from = &s->cells[words + c / WORD];
        Cell *to = &s->cells[at + c];
        u32 readers[MOST_READERS], count = readers_of(s, from->read, readers);
        *to = (Cell){ .write = from->write, .added = from->added };
        set_readers(s, to->read, readers, count);
    }
    give_cells(s, n);
    n->cells = at;
    n->granule = 1;
}

// ---- Quiet lines ----

static bool is_whole(const Chunk *c, u32 era, u32 quiet)
{
    return c->lines == CHUNK_LINES && c->quiet == quiet && c->era == era;
}

static void make_quiet(Shadow *s, Line *n, u32 quiet)
{
    if (n->quiet == quiet) return;
    n->quiet = quiet;
    if (!s->chunks) return;
    Chunk *c = &s->chunks[(n - s->lines) / CHUNK_LINES];
    if (c->era != s->era || c->quiet != quiet) {
        if (is_whole(c, s->row.era, s->row.quiet)) s->row.era = 0;
        *c = (Chunk){ .era = s->era, .quiet = quiet };
    }
    c->lines++;
}

// The line was as quiet as that.
static void make_loud(Shadow *s, const Line *n, u32 quiet)
{
    if (!s->chunks) return;
    Chunk *c = &s->chunks[(n - s->lines) / CHUNK_LINES];
    if (c->era != s->era || c->quiet != quiet) return;
    if (c->lines-- == CHUNK_LINES) s->loud = true, s->row.era = 0;
}

void shadow_quiet_range(Shadow *s, u64 address, u32 quiet, u64 *from, u64 *to)
{
    enum { MOST = 64 };
    ChunkRow *r = &s->row;
    const u64 here = (address - s->base) / CHUNK_BYTES;
    const u32 era = s->era;
    if (r->era != era || r->quiet != quiet || here < r->first || here >= r->end)
        *r = (ChunkRow){ era, quiet, here, here };
    for (u32 n = 0; n < MOST && is_whole(&s->chunks[r->end], era, quiet); n++) r->end++;
    for (u32 n = 0;
         n < MOST && r->end > here && r->first && is_whole(&s->chunks[r->first - 1], era, quiet);
         n++)
        r->first--;
    *from = s->base + r->first * CHUNK_BYTES;
    *to = s->base + r->end * CHUNK_BYTES;
}

// ---- Remembering ----

static bool is_over(Look *k, const Site *earlier)
{
    return earlier->operation != k->site.operation && k->is_over(k, earlier);
}

static bool are_apart(const Look *k, const Site *a, const Site *b)
{
    return a->block != b->block || (k->by_warp && a->warp != b->warp);
}

// Who conflicts with an access conflicts with a weaker one as well.
static u32 strength(const Site *s)
{
    return !s->strong ? 0 : s->block_only ? 1 : s->cluster_only ? 2 : s->device_only ? 3 : 4;
}

// Where all meet: does any store that conflicts with a read conflict with one of these two, that
// read the same?
static bool are_enough(const Look *k, const Site *a, const Site *b, const Site *read)
{
    if (a->block != b->block) return true;
    return k->warps_meet && a->block == read->block && a->tick == read->tick
        && b->tick == read->tick && a->warp != b->warp;
}

// Is there nothing to remember, since any store that conflicts with the new read conflicts with
// what is remembered as well?
static bool is_told(Shadow *s, const u32 *readers, u32 count, Look *k, u64 from, u64 to)
{
    const Site *now = &k->site, *other = NULL;
    for (u32 n = 0; n < count; n++) {
        Site *old = &s->sites[readers[n]];
        if (!same_warp(old, now) || old->tick != now->tick || old->visit <= k->met) continue;
        if (extend(old, now) || (strength(old) <= strength(now) && covers_each(old, now)))
            return true;
    }
    for (u32 n = 0; n < count && k->all_meet; n++) {
        const Site *old = &s->sites[readers[n]];
        if (old->operation != now->operation || strength(old) > strength(now)
            || !covers(old, now, from, to))
            continue;
        if (other && are_enough(k, other, old, now)) return true;
        other = old;
    }
    return false;
}

static u32 most_readers(const Shadow *s)
{
    return s->site_count > MOST_SITES / 2 || s->more_count > MOST_MORE ? 2 : MOST_READERS;
}

// Are they all of one block?
static bool is_of_one_block(const Shadow *s, const u32 *readers, u32 count)
{
    u32 n = 1;
    while (n < count && s->sites[readers[n]].block == s->sites[readers[0]].block) n++;
    return n >= count;
}

// Of many, one at least is of another block than the others: no barrier of its own puts whoever
// writes there behind all of them. False: there is nothing new.
static bool remember_reader(Shadow *s, u32 read[2], Look *k, u64 from, u64 to)
{
    if (!read[0]) {
        read[0] = number_of(s, k);
        return true;
    }
    u32 readers[MOST_READERS], count = readers_of(s, read, readers), kept = 0;
    const Site *now = &k->site;
    if (is_told(s, readers, count, k, from, to)) return false;
    bool full = count >= most_readers(s); // of many who look again and again: which of them come
                                          // before this one takes long to tell
    for (u32 n = 0; n < count; n++) {
        const Site *old = &s->sites[readers[n]];
        bool mine = same_warp(old, now);
        bool stands_for =
            strength(now) <= strength(old)
            && (mine && old->visit > k->all_met ? covers_each(now, old)
                                                : (mine || !full) && covers(now, old, from, to)
                                                      && (mine || k->follows(k, old)));
        if (!stands_for && !is_over(k, old)) readers[kept++] = readers[n];
    }
    if (kept == most_readers(s) && s->sites[readers[0]].block != now->block
        && is_of_one_block(s, readers, kept))
        kept--;
    if (kept < most_readers(s)) readers[kept++] = number_of(s, k);
    set_readers(s, read, readers, kept);
    return true;
}

// Words of the line, all of which it touches.
static u32 words_of(const Site *s, u64 line)
{
    Part p = part_of(s, line, line + LINE_BYTES);
    u32 words = 0, first = (u32)(p.from - line + WORD - 1) / WORD, end = (u32)(p.to - line) / WORD;
    if (p.solid) return first < end ? ~0u >> (LINE_BYTES / WORD - (end - first)) << first : 0;
    for (u32 w = first; w < end && !(s->bytes % WORD); w++)
        if (site_lanes(s, line + w * WORD, line + (w + 1) * WORD)) words |= 1u << w;
    return words;
}

// Has each word of the line been read by two who are apart? Then who writes there conflicts with
// one of them.
static bool is_read_twice(const Shadow *s, const u32 *readers, u32 count, const Look *k, u64 line)
{
    u32 twice = 0, words[MOST_READERS];
    for (u32 n = 0; n < count; n++) {
        const Site *a = &s->sites[readers[n]];
        words[n] = a->operation == k->site.operation ? words_of(a, line) : 0;
        for (u32 m = 0; m < n; m++)
            if (are_apart(k, a, &s->sites[readers[m]])) twice |= words[n] & words[m];
    }
    return twice == ~0u;
}

static void remember_read(Shadow *s, Line *n, Look *k, u64 line)
{
    bool more = remember_reader(s, n->read, k, line, line + LINE_BYTES),
         at_end = !((k->site.base + k->site.bytes) % LINE_BYTES);
    if (!k->quiet || !n->read[1] || (k->all_meet && !more && !at_end)) return;
    for (u32 w = 0; w < 2; w++) // a read that it may race with has to be looked at
        if (n->write[w] && !is_over(k, &s->sites[n->write[w]])) return;
    u32 readers[MOST_READERS], count = readers_of(s, n->read, readers);
    bool full = !k->by_warp && count == MOST_READERS && !is_of_one_block(s, readers, count);
    if (k->all_meet ? is_read_twice(s, readers, count, k, line) : full) make_quiet(s, n, k->quiet);
}

bool shadow_read_on(Shadow *s, const Span *span, u64 address, u32 block, u32 warp, u32 tick,
                    u32 met)
{
    Line *n = shadow_line(s, address);
    if (n->era != s->era || n->cells || n->write[0] || n->write[1]
        || n != shadow_line(s, address + span->bytes - 1))
        return false;
    for (u32 r = 0; r < 2 && n->read[r] && !(n->read[r] & MORE); r++) {
        Site *old = &s->sites[n->read[r]];
        if (old->block != block || old->warp != warp || old->tick != tick || old->visit <= met
            || old->strong || old->stride)
            return false;
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

static void forget_covered(Shadow *s, u32 read[2], const Site *write, u64 from, u64 to)
{
    u32 readers[MOST_READERS], count = readers_of(s, read, readers), kept = 0;
    for (u32 r = 0; r < count; r++)
        if (!covers(write, &s->sites[readers[r]], from, to)) readers[kept++] = readers[r];
    set_readers(s, read, readers, kept);
}

// False: it does not fit beside what is there.
static bool remember_write(Shadow *s, Line *n, Look *k, u64 line)
{
    u32 slot = 2;
    for (u32 w = 0; w < 2; w++)
        if (n->write[w] && both_add(&s->sites[n->write[w]], &k->site)) return false;
    for (u32 w = 0; w < 2; w++) {
        if (n->write[w] && !covers(&k->site, &s->sites[n->write[w]], line, line + LINE_BYTES))
            continue;
        n->write[w] = 0;
        if (slot == 2) slot = w;
    }
    if (slot == 2) return false;
    n->write[slot] = number_of(s, k);
    if (n->read[0]) forget_covered(s, n->read, &k->site, line, line + LINE_BYTES);
    n->quiet = 0;
    return true;
}

// ---- Looking ----

// What another block has added, which the addition that is looked at does not undo.
static u32 added_before(const Shadow *s, const Cell *c, const Site *now)
{
    if (!c->write || !now->adds || !s->sites[c->write].adds) return 0;
    return both_add(&s->sites[c->write], now) ? c->write : c->added;
}

static bool races_with_reader(Shadow *s, const u32 read[2], Look *k, u64 from, u64 to)
{
    u32 readers[MOST_READERS], count = readers_of(s, read, readers);
    for (u32 n = 0; n < count; n++)
        if (k->races(k, &s->sites[readers[n]], from, to)) return true;
    return false;
}

static bool look_at_cell(Shadow *s, Cell *c, Look *k, u64 from, u64 to)
{
    bool raced = c->write && k->races(k, &s->sites[c->write], from, to);
    raced = raced || (c->added && k->races(k, &s->sites[c->added], from, to))
         || (k->site.store && races_with_reader(s, c->read, k, from, to));
    if (k->site.store) {
        u32 added = added_before(s, c, &k->site);
        forget_readers(s, c->read);
        c->write = number_of(s, k);
        c->added = added;
    } else {
        remember_reader(s, c->read, k, from, to);
    }
    return raced;
}

static bool look_at_cells(Shadow *s, Line *n, Look *k, u64 line)
{
    Part p = part_of(&k->site, line, line + LINE_BYTES);
    if ((p.from | p.to | k->site.bytes) % n->granule) take_further_apart(s, n);
    bool raced = false;
    for (u64 from = p.from; from < p.to; from += n->granule) {
        if (!p.solid && !site_lanes(&k->site, from, from + n->granule)) continue;
        raced |= look_at_cell(s, &s->cells[n->cells + (from - line) / n->granule], k, from,
                              from + n->granule);
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

// The line has company: of the warps that its site is of, the one that touched it gets a site of
// its own.
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

// Has the warp itself read so many parts of the line that there is no room for another?
static bool is_full_of(Shadow *s, const u32 read[2], Look *k, u64 line)
{
    if (!(read[1] & MORE)) return false;
    u32 readers[MOST_READERS], count = readers_of(s, read, readers), mine = 0;
    while (mine < count && same_warp(&s->sites[readers[mine]], &k->site)) mine++;
    return mine == most_readers(s) && !is_told(s, readers, count, k, line, line + LINE_BYTES);
}

static u32 granule_of(const Site *s, u64 line)
{
    Part p = part_of(s, line, line + LINE_BYTES);
    return (p.from | p.to | s->bytes) % WORD ? 1 : WORD;
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
    raced = raced || (k->site.store && races_with_reader(s, n->read, k, line, to));
    if (raced) {
        forget_readers(s, n->read);
        *n = (Line){ .era = s->era };
        return true;
    }
    if (k->site.store ? !remember_write(s, n, k, line) : is_full_of(s, n->read, k, line)) {
        take_apart(s, n, line, granule_of(&k->site, line));
        look_at_cells(s, n, k, line);
    } else if (!k->site.store) {
        remember_read(s, n, k, line);
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
        if (!k->site.store && k->quiet && shadow_quiet(s, line, 1, k->quiet)) continue;
        if (look_at_line(s, shadow_line(s, line), k, line)) return;
    }
}

typedef struct Lines {
    Line *first, *last;
} Lines;

static Lines lines_of(const Shadow *s, const Site *of)
{
    u64 from = of->base + __builtin_ctz(of->lanes) * of->stride;
    u64 bytes = of->warps  ? (u64)of->warps * LANES * of->bytes
              : of->stride ? (u64)__builtin_popcount(of->lanes) * of->bytes
                           : of->bytes;
    return (Lines){ shadow_line(s, from), shadow_line(s, from + bytes - 1) };
}

bool shadow_begin(Shadow *s, const Site *sites, u32 count)
{
    Lines lines[count];
    if (is_full(s)) return false;
    for (u32 n = 0; n < count; n++) {
        lines[n] = lines_of(s, &sites[n]);
        for (u32 k = 0; k < n; k++)
            if (lines[k].first <= lines[n].last && lines[n].first <= lines[k].last) return false;
        for (const Line *l = lines[n].first; l <= lines[n].last; l++)
            if (l->era == s->era) return false;
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
    if (a->stride == 0
        || ((a->stride == a->bytes) && !(((a->lanes >> first) + 1) & (a->lanes >> first)))) {
        look_at_range(s, k, low, high + a->bytes);
        return;
    }
    u64 seen = ~0ull; // a line is looked at once, whichever lanes touch it; no lane touches two
    for (u32 rest = a->lanes; rest; rest &= rest - 1) {
        u64 at = a->base + __builtin_ctz(rest) * a->stride, line = (at - s->base) / LINE_BYTES;
        if (line != seen) look_at_range(s, k, at, at + 1);
        seen = line;
    }
}
