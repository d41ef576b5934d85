// Lines, sites and cells of the shadow memory. A line that has no room for another record forgets
// an older one. A race may then go unreported; no race is reported that is none.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shadow.h"
#include "site.h"
#include "base/need.h"

enum { AHEAD = 8 }; // sites to prefetch
enum { MOST_SITES = 1 << 22, MOST_CELLS = 1 << 25, MOST_READER_LISTS = 1 << 22 };
static const u32 READER_LIST = 1u << 31; // marks read[1] as the index of a ReaderList

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

// ---- Readers ----
// A line or cell holds up to two readers itself; with more, read[1] names a ReaderList.

static inline u32 readers_of(const Shadow *s, const u32 read[2], u32 readers[MOST_READERS])
{
    readers[0] = read[0];
    readers[1] = read[1];
    if (!(read[1] & READER_LIST)) return (read[0] != 0) + (read[1] != 0);
    const ReaderList *m = &s->reader_lists[read[1] & ~READER_LIST];
    for (u32 n = 0; n < m->count; n++) readers[1 + n] = m->read[n];
    return 1 + m->count;
}

static u32 alloc_reader_list(Shadow *s)
{
    u32 n = s->free_reader_lists;
    if (n) {
        s->free_reader_lists = s->reader_lists[n].read[0];
        return n;
    }
    if (s->reader_lists_count >= s->reader_lists_room) {
        s->reader_lists_room = s->reader_lists_room ? 2 * s->reader_lists_room : 64;
        s->reader_lists =
            need(realloc(s->reader_lists, s->reader_lists_room * sizeof *s->reader_lists));
    }
    return s->reader_lists_count++;
}

static void set_reader_list(Shadow *s, u32 read[2], const u32 *readers, u32 count)
{
    u32 more = read[1] & READER_LIST ? read[1] & ~READER_LIST : alloc_reader_list(s);
    s->reader_lists[more].count = count - 1;
    memcpy(s->reader_lists[more].read, readers + 1, (count - 1) * sizeof *readers);
    read[0] = readers[0];
    read[1] = READER_LIST | more;
}

static void free_reader_list(Shadow *s, u32 more)
{
    s->reader_lists[more].read[0] = s->free_reader_lists;
    s->free_reader_lists = more;
}

static inline void set_readers(Shadow *s, u32 read[2], const u32 *readers, u32 count)
{
    if (count > 2) {
        set_reader_list(s, read, readers, count);
        return;
    }
    if (read[1] & READER_LIST) free_reader_list(s, read[1] & ~READER_LIST);
    read[0] = count > 0 ? readers[0] : 0;
    read[1] = count > 1 ? readers[1] : 0;
}

static void drop_readers(Shadow *s, u32 read[2]) { set_readers(s, read, NULL, 0); }

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
                cell->write = n->write[k];
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
        *to = (Cell){ .write = from->write, .added = from->added };
        set_readers(s, to->read, readers, count);
    }
    free_cells(s, n);
    n->cells = at;
    n->granule = 1;
}

// ---- CommonPass lines ----

static bool is_whole(const Chunk *c, u32 generation, u32 saturation)
{
    return c->lines == CHUNK_LINES && c->saturation == saturation && c->generation == generation;
}

static void saturate(Shadow *s, Line *n, u32 saturation)
{
    if (n->saturation == saturation) return;
    n->saturation = saturation;
    if (!s->chunks) return;
    Chunk *c = &s->chunks[(n - s->lines) / CHUNK_LINES];
    if (c->generation != s->generation || c->saturation != saturation) {
        if (is_whole(c, s->range.generation, s->range.saturation)) s->range.generation = 0;
        *c = (Chunk){ .generation = s->generation, .saturation = saturation };
    }
    c->lines++;
}

// The line has lost that saturation.
static void desaturate(Shadow *s, const Line *n, u32 saturation)
{
    if (!s->chunks) return;
    Chunk *c = &s->chunks[(n - s->lines) / CHUNK_LINES];
    if (c->generation != s->generation || c->saturation != saturation) return;
    if (c->lines-- == CHUNK_LINES) s->desaturated = true, s->range.generation = 0;
}

void shadow_saturated_range(Shadow *s, u64 address, u32 saturation, u64 *from, u64 *to)
{
    enum { MOST = 64 };
    ChunkRange *r = &s->range;
    const u64 here = (address - s->base) / CHUNK_BYTES;
    const u32 generation = s->generation;
    if (r->generation != generation || r->saturation != saturation || here < r->first
        || here >= r->end)
        *r = (ChunkRange){ generation, saturation, here, here };
    for (u32 n = 0; n < MOST && is_whole(&s->chunks[r->end], generation, saturation); n++) r->end++;
    for (u32 n = 0; n < MOST && r->end > here && r->first
                    && is_whole(&s->chunks[r->first - 1], generation, saturation);
         n++)
        r->first--;
    *from = s->base + r->first * CHUNK_BYTES;
    *to = s->base + r->end * CHUNK_BYTES;
}

// ---- Remembering ----

static bool is_over(ShadowCheck *k, const Site *earlier)
{
    return earlier->operation != k->site.operation && k->is_over(k, earlier);
}

static bool are_distinct(const ShadowCheck *k, const Site *a, const Site *b)
{
    return a->block != b->block || (k->by_warp && a->warp != b->warp);
}

// What conflicts with an access also conflicts with a weaker one.
static u32 strength(const Site *s)
{
    return !s->strong ? 0 : s->block_only ? 1 : s->cluster_only ? 2 : s->device_only ? 3 : 4;
}

// If only full barriers synchronise: does every store that conflicts with the read conflict with
// one of these two, which read the same bytes?
static bool are_sufficient(const ShadowCheck *k, const Site *a, const Site *b, const Site *read)
{
    if (a->block != b->block) return true;
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
        if (other && are_sufficient(k, other, old, now)) return true;
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

// Are all readers of one block?
static bool is_of_one_block(const Shadow *s, const u32 *readers, u32 count)
{
    u32 n = 1;
    while (n < count && s->sites[readers[n]].block == s->sites[readers[0]].block) n++;
    return n >= count;
}

// Where there are many readers, at least one of a second block is kept, so that a writer's own
// block barrier cannot order it after all of them. False: nothing new was recorded.
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
    if (kept == max_readers(s) && s->sites[readers[0]].block != now->block
        && is_of_one_block(s, readers, kept))
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
    bool full = !k->by_warp && count == MOST_READERS && !is_of_one_block(s, readers, count);
    if (k->only_full_barriers ? is_read_twice(s, readers, count, k, line) : full)
        saturate(s, n, k->saturation);
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

static void drop_covered(Shadow *s, u32 read[2], const Site *write, u64 from, u64 to)
{
    u32 readers[MOST_READERS], count = readers_of(s, read, readers), kept = 0;
    for (u32 r = 0; r < count; r++)
        if (!covers(write, &s->sites[readers[r]], from, to)) readers[kept++] = readers[r];
    set_readers(s, read, readers, kept);
}

// False: the line has no room for it beside its other writes.
static bool record_write(Shadow *s, Line *n, ShadowCheck *k, u64 line)
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
    if (n->read[0]) drop_covered(s, n->read, &k->site, line, line + LINE_BYTES);
    n->saturation = 0;
    return true;
}

// ---- Looking ----

// Another block's reduction, which this reduction does not order or replace.
static u32 added_before(const Shadow *s, const Cell *c, const Site *now)
{
    if (!c->write || !now->adds || !s->sites[c->write].adds) return 0;
    return both_add(&s->sites[c->write], now) ? c->write : c->added;
}

static bool races_with_reader(Shadow *s, const u32 read[2], ShadowCheck *k, u64 from, u64 to)
{
    u32 readers[MOST_READERS], count = readers_of(s, read, readers);
    for (u32 n = 0; n < count; n++)
        if (k->races(k, &s->sites[readers[n]], from, to)) return true;
    return false;
}

static bool check_cell(Shadow *s, Cell *c, ShadowCheck *k, u64 from, u64 to)
{
    bool raced = c->write && k->races(k, &s->sites[c->write], from, to);
    raced = raced || (c->added && k->races(k, &s->sites[c->added], from, to))
         || (k->site.store && races_with_reader(s, c->read, k, from, to));
    if (k->site.store) {
        u32 added = added_before(s, c, &k->site);
        drop_readers(s, c->read);
        c->write = number_of(s, k);
        c->added = added;
    } else {
        record_reader(s, c->read, k, from, to);
    }
    return raced;
}

static bool check_cells(Shadow *s, Line *n, ShadowCheck *k, u64 line)
{
    Extent p = extent_of(&k->site, line, line + LINE_BYTES);
    if ((p.from | p.to | k->site.bytes) % n->granule) split_words(s, n);
    bool raced = false;
    for (u64 from = p.from; from < p.to; from += n->granule) {
        if (!p.solid && !lanes_within(&k->site, from, from + n->granule)) continue;
        raced |= check_cell(s, &s->cells[n->cells + (from - line) / n->granule], k, from,
                            from + n->granule);
    }
    if (k->site.store && !k->site.adds && p.solid && p.to - p.from == LINE_BYTES) {
        free_cells(s, n);
        *n = (Line){ .generation = s->generation, .write = { number_of(s, k) } };
    }
    return raced;
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

static bool check_line_state(Shadow *s, Line *n, ShadowCheck *k, u64 line)
{
    if (n->generation != s->generation) {
        begin_line(s, n, number_of(s, k), &k->site);
        return false;
    }
    if (n->of_many) split_off_warp(s, n, line);
    if (n->cells) return check_cells(s, n, k, line);
    u64 to = line + LINE_BYTES;
    bool raced = false;
    for (u32 w = 0; w < 2 && !raced; w++)
        raced = n->write[w] && k->races(k, &s->sites[n->write[w]], line, to);
    raced = raced || (k->site.store && races_with_reader(s, n->read, k, line, to));
    if (raced) {
        drop_readers(s, n->read);
        *n = (Line){ .generation = s->generation };
        return true;
    }
    if (k->site.store ? !record_write(s, n, k, line) : is_full_of(s, n->read, k, line)) {
        split_line(s, n, line, granule_of(&k->site, line));
        check_cells(s, n, k, line);
    } else if (!k->site.store) {
        record_read(s, n, k, line);
    }
    return false;
}

static bool check_line(Shadow *s, Line *n, ShadowCheck *k, u64 line)
{
    u32 saturation = n->generation == s->generation ? n->saturation : 0;
    bool raced = check_line_state(s, n, k, line);
    if (saturation && n->saturation != saturation) desaturate(s, n, saturation);
    return raced;
}

static void check_range(Shadow *s, ShadowCheck *k, u64 from, u64 to)
{
    u64 first = from - (from - s->base) % LINE_BYTES;
    for (u64 line = first; line < to; line += LINE_BYTES) {
        if (!k->site.store && k->saturation && shadow_saturated(s, line, 1, k->saturation))
            continue;
        if (check_line(s, shadow_line(s, line), k, line)) return;
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
