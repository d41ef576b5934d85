// Lines, sites and cells of the shadow memory. A line that has no room for another record forgets
// an older one. A race may then go unreported; no race is reported that is none.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "readers.h"
#include "saturation.h"
#include "site.h"
#include "base/need.h"

enum { AHEAD = 8 }; // sites to prefetch
enum { MOST_SITES = 1 << 22, MOST_CELLS = 1 << 25, MOST_READER_LISTS = 1 << 22 };

void shadow_make(Shadow *s, u64 base, u64 bytes)
{
    *s = (Shadow){
        .base = base, .generation = 1, .site_count = 1, .cell_count = 1, .reader_lists_count = 1
    };
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
    free(s->reader_lists);
}

void shadow_reset(Shadow *s)
{
    s->generation++;
    s->desaturated = true;
    s->site_count = s->cell_count = s->reader_lists_count = 1;
    s->free_words = s->free_bytes = s->free_reader_lists = 0;
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

static u32 number_of(Shadow *s, ShadowCheck *k)
{
    return k->number ? k->number : (k->number = add_site(s, &k->site));
}

u32 site_lanes(const Site *s, u64 from, u64 to) { return lanes_within(s, from, to); }

// What conflicts with an access also conflicts with a weaker one.
static u32 strength(const Site *s)
{
    return !s->strong ? 0 : s->block_only ? 1 : s->cluster_only ? 2 : s->device_only ? 3 : 4;
}

static bool is_weaker(const Site *a, const Site *b) { return strength(a) < strength(b); }

// ---- Cells ----

static u32 count_of(u32 granule) { return LINE_BYTES / granule; }

static u32 alloc_cells(Shadow *s, u32 granule)
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

static void free_cells(Shadow *s, Line *n)
{
    u32 *list = n->granule == WORD ? &s->free_words : &s->free_bytes;
    for (u32 c = 0; c < count_of(n->granule); c++) drop_readers(s, s->cells[n->cells + c].read);
    s->cells[n->cells].write = *list;
    *list = n->cells;
    n->cells = 0;
}

static void add_write(const Shadow *s, Cell *c, u32 write)
{
    bool hides = c->write && is_weaker(&s->sites[c->write], &s->sites[write]),
         hidden = c->write && is_weaker(&s->sites[write], &s->sites[c->write]);
    if (hides) c->weaker = c->write;
    *(hidden ? &c->weaker : &c->write) = write;
}

static void split_line(Shadow *s, Line *n, u64 line, u32 granule)
{
    u32 at = alloc_cells(s, granule), readers[MOST_READERS],
        count = readers_of(s, n->read, readers);
    for (u32 c = 0; c < count_of(granule); c++) {
        Cell *cell = &s->cells[at + c];
        u64 from = line + c * granule, to = from + granule;
        u32 here[MOST_READERS], reading = 0;
        for (u32 k = 0; k < 2; k++)
            if (n->write[k] && lanes_within(&s->sites[n->write[k]], from, to))
                add_write(s, cell, n->write[k]);
        for (u32 k = 0; k < count; k++)
            if (lanes_within(&s->sites[readers[k]], from, to)) here[reading++] = readers[k];
        set_readers(s, cell->read, here, reading);
    }
    drop_readers(s, n->read);
    *n = (Line){ .generation = n->generation, .cells = at, .granule = granule };
}

static void split_words(Shadow *s, Line *n)
{
    u32 at = alloc_cells(s, 1), words = n->cells;
    for (u32 c = 0; c < count_of(1); c++) {
        const Cell *from = &s->cells[words + c / WORD];
        Cell *to = &s->cells[at + c];
        u32 readers[MOST_READERS], count = readers_of(s, from->read, readers);
        *to = (Cell){ .write = from->write, .added = from->added, .weaker = from->weaker };
        set_readers(s, to->read, readers, count);
    }
    free_cells(s, n);
    n->cells = at;
    n->granule = 1;
}

// ---- Remembering ----

static bool is_over(ShadowCheck *k, const Site *earlier)
{
    return earlier->operation != k->site.operation && k->is_over(k, earlier);
}

// An access stands for what came before it: whatever conflicts with that conflicts with it, too.
// But it does not stand for a weaker one: an atomic of a block would hide its plain store, or the
// fill before its kernel, from the atomics of other blocks or kernels.
static bool outlasts(const ShadowCheck *k, const Site *earlier)
{
    return is_weaker(earlier, &k->site);
}

// Are both atomics, or other strong accesses, of operations that may run at the same time?
static bool runs_beside(ShadowCheck *k, const Site *earlier)
{
    return earlier->strong && k->site.strong && earlier->operation != k->site.operation
        && !is_over(k, earlier);
}

static bool are_distinct(const ShadowCheck *k, const Site *a, const Site *b)
{
    return a->block != b->block || (k->by_warp && a->warp != b->warp);
}

// If only full barriers synchronise: does every store that conflicts with the read conflict with
// one of these two, which read the same bytes?
static bool are_sufficient(const ShadowCheck *k, const Site *a, const Site *b, u64 from, u64 to)
{
    const Site *read = &k->site;
    if (a->block != b->block) return true;
    if (same_warp(a, b) && same_warp(a, read)) // two lanes, which no __syncwarp() comes behind
        return a->epoch == read->epoch && b->epoch == read->epoch && a->sequence > k->synced
            && b->sequence > k->synced && !(lanes_within(a, from, to) & lanes_within(b, from, to));
    return k->warps_only_full_barriers && a->block == read->block && a->epoch == read->epoch
        && b->epoch == read->epoch && a->warp != b->warp;
}

// Is the read redundant because every store that conflicts with it conflicts with a recorded read
// too?
static bool is_redundant(Shadow *s, const u32 *readers, u32 count, ShadowCheck *k, u64 from, u64 to)
{
    const Site *now = &k->site, *other = NULL;
    for (u32 n = 0; n < count; n++) {
        Site *old = &s->sites[readers[n]];
        if (!same_warp(old, now) || old->epoch != now->epoch || old->sequence <= k->synced)
            continue;
        if (extend(old, now) || (strength(old) <= strength(now) && covers_each(old, now)))
            return true;
    }
    for (u32 n = 0; n < count && k->only_full_barriers; n++) {
        const Site *old = &s->sites[readers[n]];
        if (old->operation != now->operation || strength(old) > strength(now)
            || !covers(old, now, from, to))
            continue;
        if (other && are_sufficient(k, other, old, from, to)) return true;
        other = old;
    }
    return false;
}

static u32 max_readers(const Shadow *s)
{
    return s->site_count > MOST_SITES / 2 || s->reader_lists_count > MOST_READER_LISTS
             ? 2
             : MOST_READERS;
}

// Are two of the readers distinct?
static bool some_are_distinct(const Shadow *s, const ShadowCheck *k, const u32 *readers, u32 count)
{
    u32 n = 1;
    while (n < count && !are_distinct(k, &s->sites[readers[n]], &s->sites[readers[0]])) n++;
    return n < count;
}

// Where there are many readers, at least one of a second block, or warp, is kept, so that what
// orders a writer after one of them does not order it after all. False: nothing new was recorded.
static bool record_reader(Shadow *s, u32 read[2], ShadowCheck *k, u64 from, u64 to)
{
    if (!read[0]) {
        read[0] = number_of(s, k);
        return true;
    }
    u32 readers[MOST_READERS], count = readers_of(s, read, readers), kept = 0;
    const Site *now = &k->site;
    if (is_redundant(s, readers, count, k, from, to)) return false;
    bool full =
        count >= max_readers(
            s); // of many readers it would take long to find those that come before this one
    for (u32 n = 0; n < count; n++) {
        const Site *old = &s->sites[readers[n]];
        bool mine = same_warp(old, now);
        bool stands_for = strength(now) <= strength(old)
                       && (mine && old->sequence > k->all_synced
                               ? covers_each(now, old)
                               : (mine || !full) && covers(now, old, from, to)
                                     && (mine || k->follows(k, old)));
        if (!stands_for && !is_over(k, old)) readers[kept++] = readers[n];
    }
    if (kept == max_readers(s) && are_distinct(k, &s->sites[readers[0]], now)
        && !some_are_distinct(s, k, readers, kept))
        kept--;
    if (kept < max_readers(s)) readers[kept++] = number_of(s, k);
    set_readers(s, read, readers, kept);
    return true;
}

// Have two distinct readers read each word of the line? Then every writer conflicts with one of
// them.
static bool is_read_twice(const Shadow *s, const u32 *readers, u32 count, const ShadowCheck *k,
                          u64 line)
{
    u32 twice = 0, words[MOST_READERS];
    for (u32 n = 0; n < count; n++) {
        const Site *a = &s->sites[readers[n]];
        words[n] = a->operation == k->site.operation ? words_of(a, line) : 0;
        for (u32 m = 0; m < n; m++)
            if (are_distinct(k, a, &s->sites[readers[m]])) twice |= words[n] & words[m];
    }
    return twice == ~0u;
}

static void record_read(Shadow *s, Line *n, ShadowCheck *k, u64 line)
{
    bool more = record_reader(s, n->read, k, line, line + LINE_BYTES),
         at_end = !((k->site.base + k->site.bytes) % LINE_BYTES);
    if (!k->saturation || !n->read[1] || (k->only_full_barriers && !more && !at_end)) return;
    for (u32 w = 0; w < 2; w++) // a read that may race with this write has to be checked
        if (n->write[w] && !is_over(k, &s->sites[n->write[w]])) return;
    u32 readers[MOST_READERS], count = readers_of(s, n->read, readers);
    bool full = !k->by_warp && count == MOST_READERS && some_are_distinct(s, k, readers, count);
    if (k->only_full_barriers ? is_read_twice(s, readers, count, k, line) : full)
        shadow_saturate(s, n, k->saturation);
}

bool shadow_extend_read(Shadow *s, const Span *span, u64 address, u32 block, u32 warp, u32 epoch,
                        u32 synced)
{
    Line *n = shadow_line(s, address);
    if (n->generation != s->generation || n->cells || n->write[0] || n->write[1]
        || n != shadow_line(s, address + span->bytes - 1))
        return false;
    for (u32 r = 0; r < 2 && n->read[r] && !(n->read[r] & READER_LIST); r++) {
        Site *old = &s->sites[n->read[r]];
        if (old->block != block || old->warp != warp || old->epoch != epoch
            || old->sequence <= synced || old->strong || old->stride)
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

// Of the readers whose bytes the write covers, one is kept that is weaker.
static void drop_covered(Shadow *s, u32 read[2], ShadowCheck *k, u64 from, u64 to)
{
    u32 readers[MOST_READERS], count = readers_of(s, read, readers), kept = 0, weaker = 0;
    for (u32 r = 0; r < count; r++) {
        const Site *old = &s->sites[readers[r]];
        if (!covers(&k->site, old, from, to) || (!weaker && outlasts(k, old) && ++weaker))
            readers[kept++] = readers[r];
    }
    set_readers(s, read, readers, kept);
}

// False: the line has no room for it beside its other writes.
static bool record_write(Shadow *s, Line *n, ShadowCheck *k, u64 line)
{
    u32 slot = 2;
    for (u32 w = 0; w < 2; w++)
        if (n->write[w]
            && (both_add(&s->sites[n->write[w]], &k->site)
                || runs_beside(k, &s->sites[n->write[w]])))
            return false;
    for (u32 w = 0; w < 2; w++) {
        const Site *old = &s->sites[n->write[w]];
        if (n->write[w] && !covers(&k->site, old, line, line + LINE_BYTES)) continue;
        if (n->write[w] && outlasts(k, old)) return false;
        n->write[w] = 0;
        if (slot == 2) slot = w;
    }
    if (slot == 2) return false;
    n->write[slot] = number_of(s, k);
    if (n->read[0]) drop_covered(s, n->read, k, line, line + LINE_BYTES);
    n->saturation = 0;
    return true;
}

// ---- Looking ----

// An atomic of an operation that runs beside this one, or another block's reduction: this one
// neither orders nor replaces it.
static u32 added_before(const Shadow *s, const Cell *c, ShadowCheck *k)
{
    const Site *now = &k->site;
    if (c->added && runs_beside(k, &s->sites[c->added])) return c->added;
    if (c->write && runs_beside(k, &s->sites[c->write])) return c->write;
    if (!c->write || !now->adds || !s->sites[c->write].adds) return 0;
    return both_add(&s->sites[c->write], now) ? c->write : c->added;
}

// A write that this one would hide.
static u32 weaker_before(const Shadow *s, const Cell *c, ShadowCheck *k)
{
    if (c->weaker && outlasts(k, &s->sites[c->weaker])) return c->weaker;
    return c->write && outlasts(k, &s->sites[c->write]) ? c->write : 0;
}

// Of the races of one access the widest is found, whichever comes first.
static void look(ShadowCheck *k, const Site *earlier, u64 from, u64 to)
{
    enum shadow_width width = !same_block(earlier, &k->site) ? BETWEEN_BLOCKS_OR_WIDER
                            : !same_warp(earlier, &k->site)  ? BETWEEN_WARPS
                                                             : WITHIN_WARP;
    if (width > k->raced && k->races(k, earlier, from, to)) k->raced = width;
}

static void look_at_readers(const Shadow *s, const u32 read[2], ShadowCheck *k, u64 from, u64 to)
{
    u32 readers[MOST_READERS], count = readers_of(s, read, readers);
    for (u32 n = 0; n < count; n++) look(k, &s->sites[readers[n]], from, to);
}

static void check_cell(Shadow *s, Cell *c, ShadowCheck *k, u64 from, u64 to)
{
    if (c->write) look(k, &s->sites[c->write], from, to);
    if (c->added) look(k, &s->sites[c->added], from, to);
    if (c->weaker) look(k, &s->sites[c->weaker], from, to);
    if (!k->site.store) {
        record_reader(s, c->read, k, from, to);
        return;
    }
    look_at_readers(s, c->read, k, from, to);
    u32 added = added_before(s, c, k), weaker = weaker_before(s, c, k);
    drop_covered(s, c->read, k, from, to);
    *c = (Cell){ number_of(s, k), added, weaker, { c->read[0], c->read[1] } };
}

// Have two distinct readers read the cell, beside which nothing has written it?
static bool cell_is_read_twice(Shadow *s, const Cell *c, ShadowCheck *k)
{
    u32 written[] = { c->write, c->added, c->weaker }, readers[MOST_READERS],
        count = readers_of(s, c->read, readers), of_now = 0;
    for (u32 w = 0; w < 3; w++)
        if (written[w] && !is_over(k, &s->sites[written[w]])) return false;
    for (u32 n = 0; n < count; n++)
        if (s->sites[readers[n]].operation == k->site.operation) readers[of_now++] = readers[n];
    return of_now && some_are_distinct(s, k, readers, of_now);
}

static void saturate_cells(Shadow *s, Line *n, ShadowCheck *k, u32 latest)
{
    if (!cell_is_read_twice(s, &s->cells[n->cells + latest], k)) return;
    for (u32 c = 0; c < count_of(n->granule); c++)
        if (!cell_is_read_twice(s, &s->cells[n->cells + c], k)) return;
    shadow_saturate(s, n, k->saturation);
}

static void check_cells(Shadow *s, Line *n, ShadowCheck *k, u64 line)
{
    Extent p = extent_of(&k->site, line, line + LINE_BYTES);
    if ((p.from | p.to | k->site.bytes) % n->granule) split_words(s, n);
    for (u64 from = p.from; from < p.to; from += n->granule) {
        if (!p.solid && !lanes_within(&k->site, from, from + n->granule)) continue;
        check_cell(s, &s->cells[n->cells + (from - line) / n->granule], k, from, from + n->granule);
    }
    if (k->site.store) n->saturation = 0;
    else if (k->saturation && k->only_full_barriers)
        saturate_cells(s, n, k, (p.from - line) / n->granule);
    if (k->site.store && !k->site.strong && p.solid && p.to - p.from == LINE_BYTES) {
        free_cells(s, n);
        *n = (Line){ .generation = s->generation, .write = { number_of(s, k) } };
    }
}

// The first access to a line: there is nothing to compare it with.
static void begin_line(const Shadow *s, Line *n, u32 number, const Site *site)
{
    *n = (Line){ .generation = s->generation, .of_many = site->warps };
    *(site->store ? n->write : n->read) = number;
}

// A second access touches a line of a sweep: the warp of the sweep that touched it gets a site of
// its own.
static void split_off_warp(Shadow *s, Line *n, u64 line)
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

// Has the warp itself read so many separate parts of the line that there is no room for another?
static bool is_full_of(Shadow *s, const u32 read[2], ShadowCheck *k, u64 line)
{
    if (!(read[1] & READER_LIST)) return false;
    u32 readers[MOST_READERS], count = readers_of(s, read, readers), mine = 0;
    while (mine < count && same_warp(&s->sites[readers[mine]], &k->site)) mine++;
    return mine == max_readers(s) && !is_redundant(s, readers, count, k, line, line + LINE_BYTES);
}

static u32 granule_of(const Site *s, u64 line)
{
    Extent p = extent_of(s, line, line + LINE_BYTES);
    return (p.from | p.to | s->bytes) % WORD ? 1 : WORD;
}

static void check_line_state(Shadow *s, Line *n, ShadowCheck *k, u64 line)
{
    if (n->generation != s->generation) {
        begin_line(s, n, number_of(s, k), &k->site);
        return;
    }
    if (n->of_many) split_off_warp(s, n, line);
    if (n->cells) {
        check_cells(s, n, k, line);
        return;
    }
    u64 to = line + LINE_BYTES;
    for (u32 w = 0; w < 2; w++)
        if (n->write[w]) look(k, &s->sites[n->write[w]], line, to);
    if (k->site.store) look_at_readers(s, n->read, k, line, to);
    if (k->site.store ? !record_write(s, n, k, line) : is_full_of(s, n->read, k, line)) {
        split_line(s, n, line, granule_of(&k->site, line));
        check_cells(s, n, k, line);
    } else if (!k->site.store) {
        record_read(s, n, k, line);
    }
}

static void check_line(Shadow *s, Line *n, ShadowCheck *k, u64 line)
{
    u32 saturation = n->generation == s->generation ? n->saturation : 0;
    check_line_state(s, n, k, line);
    if (saturation && n->saturation != saturation) shadow_desaturate(s, n, saturation);
}

static void check_range(Shadow *s, ShadowCheck *k, u64 from, u64 to)
{
    u64 first = from - (from - s->base) % LINE_BYTES;
    for (u64 line = first; line < to; line += LINE_BYTES) {
        if (!k->site.store && k->saturation && shadow_saturated(s, line, 1, k->saturation))
            continue;
        check_line(s, shadow_line(s, line), k, line);
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

bool shadow_note_first(Shadow *s, const Site *sites, u32 count)
{
    Lines lines[count];
    if (is_full(s)) return false;
    for (u32 n = 0; n < count; n++) {
        lines[n] = lines_of(s, &sites[n]);
        for (u32 k = 0; k < n; k++)
            if (lines[k].first <= lines[n].last && lines[n].first <= lines[k].last) return false;
        for (const Line *l = lines[n].first; l <= lines[n].last; l++)
            if (l->generation == s->generation) return false;
    }
    for (u32 n = 0; n < count; n++) {
        u32 number = add_site(s, &sites[n]);
        for (Line *l = lines[n].first; l <= lines[n].last; l++) begin_line(s, l, number, &sites[n]);
    }
    return true;
}

void shadow_check(Shadow *s, ShadowCheck *k)
{
    if (is_full(s)) shadow_reset(s);
    k->raced = NO_RACE;
    const Site *a = &k->site;
    u32 first = __builtin_ctz(a->lanes), last = 31 - __builtin_clz(a->lanes);
    u64 low = a->base + first * a->stride, high = a->base + last * a->stride;
    if (a->stride == 0
        || ((a->stride == a->bytes) && !(((a->lanes >> first) + 1) & (a->lanes >> first)))) {
        check_range(s, k, low, high + a->bytes);
        return;
    }
    u64 seen =
        ~0ull; // each line is checked once, whichever lanes touch it; no lane touches two lines
    for (u32 rest = a->lanes; rest; rest &= rest - 1) {
        u64 at = a->base + __builtin_ctz(rest) * a->stride, line = (at - s->base) / LINE_BYTES;
        if (line != seen) check_range(s, k, at, at + 1);
        seen = line;
    }
}
