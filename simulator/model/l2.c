// The device's L2: sectored and written back. What a kernel leaves dirty reaches DRAM later, or
// never. DRAM is read and written in granules, of two sectors on an H200.
//
// L2 has partitions, and each line has its home in one. An SM looks its own partition up first,
// which keeps a copy of what it fetches from the line's home. Stores and atomics pass through to
// the home; a store leaves a copy in the SM's own partition. So L2 has more look-ups than requests,
// and holds less: with two partitions half as many look-ups again, and 45 MB of an H200's 63.
//
// Dirty lines wait in L2, up to a number in each set, and fewer of lines that stores wrote in part
// (profile: l2_dirty_ways, l2_partial_ways). Beyond that the oldest is written to DRAM. DRAM takes
// whole sectors only: what was not stored is fetched first. That takes so long
// (l2_completion_seconds) that the last of these lines are written after the kernel has ended,
// uncounted. So are the last of all others, which take less long (l2_write_seconds), and fetches
// for the former that have not arrived yet.
//
// This is what ncu shows of the kernels in profiles/accuracy.
#include "l2.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coalesce.h"
#include "machine/profile.h"
#include "base/need.h"

// The lines of a set that stores wrote in part lately, the newest first, and which words of each
// sector.
enum { MOST_PARTIAL = 8 };
typedef struct Partial {
    u64 number;
    u8 words[LINE_SECTORS];
} Partial;
typedef struct PartialSet {
    Partial line[MOST_PARTIAL];
    u32 count;
} PartialSet;

static L2Launch *launch; // whose access it is
static Cache l2[MOST_DEVICES];
static PartialSet *partial[MOST_DEVICES]; // of each set

// The sectors of all granules to which these belong.
static u8 granules_of[1 << LINE_SECTORS];

static void fill_granules(void)
{
    u32 size = profile.dram_granule_bytes / SECTOR_BYTES, one = (1u << size) - 1;
    for (u32 sectors = 1; sectors < 1 << LINE_SECTORS; sectors++)
        for (u32 s = 0; s < LINE_SECTORS; s += size)
            if (sectors >> s & one) granules_of[sectors] |= one << s;
}

static inline u32 granules(u32 sectors) { return granules_of[sectors]; }

static u64 bytes_of(u32 sectors) { return (u64)__builtin_popcount(sectors) * SECTOR_BYTES; }

static Cache *l2_of(u32 device)
{
    if (l2[device].set) return &l2[device];
    if (!cache_make(&l2[device], (u64)(profile.l2_bytes * profile.l2_room), profile.l2_ways))
        no_memory();
    l2[device].uneven = UNEVEN;
    partial[device] = calloc(l2[device].sets, sizeof *partial[device]);
    if (!partial[device]) no_memory();
    return &l2[device];
}

// A profile's figure for one set: a fractional figure is rounded differently from set to set.
static u32 ways_of(double ways, size_t set) { return (u32)(ways + (double)(set % 16) / 16); }

static u64 look_ups(const Traffic *t)
{
    return t->l2_reads + t->l2_writes + t->l2_atomics + t->l2_reductions;
}

// Spans grow with the launch.
static void count_in_flight(InFlight *l, u64 bytes)
{
    u64 at = look_ups(&launch->traffic);
    if (!l->span) l->span = 1;
    for (; at / l->span >= SPANS; l->span *= 2)
        for (u32 n = 0; n < SPANS; n++)
            l->bytes[n] = n < SPANS / 2 ? l->bytes[2 * n] + l->bytes[2 * n + 1] : 0;
    l->bytes[at / l->span] += bytes;
}

// The bytes of the last part of the launch.
static double left_last(const InFlight *l, double all, double part)
{
    double from = all * (1 - fmin(part, 1)), bytes = 0;
    for (u32 n = 0; n < SPANS && l->span; n++) {
        double begin = (double)n * l->span, end = fmin(begin + l->span, all);
        if (end > from) bytes += l->bytes[n] * fmin(1, (end - from) / (end - begin));
    }
    return bytes;
}

void l2_under_way(const L2Launch *l, double seconds, u64 *fetched, u64 *written)
{
    double all = look_ups(&l->traffic),
           latency = profile.dram_load_clocks[LOAD_PARTS / 2 - 1] / profile.clock_hz;
    *fetched = left_last(&l->fetched, all, latency / seconds);
    *written = left_last(&l->whole, all, profile.l2_write_seconds / seconds)
             + left_last(&l->parts, all, profile.l2_completion_seconds / seconds);
}

static void write_back(u64 bytes)
{
    if (!bytes) return;
    launch->traffic.dram_written += bytes;
    count_in_flight(&launch->whole, bytes);
}

static CacheLine *l2_take(const Cache *cache, CacheSet *set, u64 number)
{
    CacheLine evicted, *line = cache_take(cache, set, number, &evicted);
    write_back(bytes_of(cache_dirty(evicted)));
    if (cache_present(*line) || cache_dirty(*line)) return line;
    CacheLine *old = cache_used_before(set, ways_of(profile.l2_waiting_ways, set - cache->set));
    if (old && !(cache_dirty(*old) & ~cache_present(*old))) {
        write_back(bytes_of(cache_dirty(*old)));
        *old &= ~cache_dirt(cache_dirty(*old));
    }
    return line;
}

// ---- Look-ups that no access asks for ----
//
//
// ncu counts more look-ups than sectors requested, all of them hits: two for the first use of each
// piece of memory, where pieces share places at random (profile: l2_aside_places). They are memory
// barriers (ncu: op_membar), at most two of each SM in each slice. And one for a store from the far
// partition to a line that was stored to at home before (l2_change).
enum { PIECE_LINES = 2 };
static u64 *launches_aside, inverse; // of each place: the latest that used it

static u32 by_chance(u64 number) { return (u32)(number * 0x9e3779b97f4a7c15ull >> 32); }

static void look_aside(LineAccess n)
{
    u64 *latest = &launches_aside[remainder_of(by_chance((line_access_number(n) - 1) / PIECE_LINES),
                                               profile.l2_aside_places, inverse)];
    if (*latest != launch->number) launch->traffic.l2_hits += 2;
    *latest = launch->number;
}

static void make_places(void)
{
    inverse = remainder_inverse((u32)profile.l2_aside_places);
    launches_aside = calloc(profile.l2_aside_places, sizeof *launches_aside);
    if (!launches_aside) no_memory();
}

// ---- Reads and writes ----

// The misses and what they bring along: the rest of the granule, which misses as well unless it is
// present. ncu calls that promoted; later requests for it hit.
static u32 missing_of(u32 sectors, u32 present) { return granules(sectors & ~present) & ~present; }

static u32 look_up(u32 sectors, u32 present)
{
    u32 missing = missing_of(sectors, present);
    launch->traffic.l2_hits += __builtin_popcount(sectors & present);
    launch->traffic.l2_misses += __builtin_popcount(missing);
    return missing;
}

// The lines that reads have fetched from DRAM lately, and in which turn of which launch. Who reads
// such a line within so many turns has to wait for it as well.
enum { FETCHED = 4096, FETCH_TURNS = 2 }; // fitted: stencil_naive
static struct Fetched {
    u64 number, launch;
    u32 turn;
} fetched[FETCHED];

static struct Fetched *fetched_at(LineAccess n)
{
    return &fetched[(line_access_number(n) ^ line_access_number(n) >> 12) % FETCHED];
}

static void note_fetch(LineAccess n)
{
    *fetched_at(n) = (struct Fetched){ line_access_number(n), launch->number, launch->turn };
}

static void count_late(LineAccess n)
{
    const struct Fetched *f = fetched_at(n);
    if (f->number == line_access_number(n) && f->launch == launch->number
        && launch->turn - f->turn <= FETCH_TURNS)
        launch->cache_tally[line_access_pc(n)].l2_late +=
            __builtin_popcount(line_access_sectors(n));
}

static void dram_read(LineAccess n, CacheLine *line, u32 missing)
{
    if (!missing) return;
    look_aside(n);
    launch->traffic.dram_read += bytes_of(missing);
    launch->cache_tally[line_access_pc(n)].l2_misses +=
        __builtin_popcount(missing & line_access_sectors(n));
    launch->cache_tally[line_access_pc(n)].dram_sectors += __builtin_popcount(missing);
    *line |= missing;
}

// A read by an SM of that partition.
static void l2_read(LineAccess n, CacheLine *line, bool at_home)
{
    u32 remote = at_home ? 0 : look_up(line_access_sectors(n), cache_copied(*line));
    u32 missing = look_up(at_home ? line_access_sectors(n) : remote, cache_present(*line));
    launch->traffic.l2_reads +=
        __builtin_popcount(line_access_sectors(n)) + __builtin_popcount(remote);
    dram_read(n, line, missing);
    if (missing) note_fetch(n);
    else count_late(n);
    *line |= cache_copies(remote);
}

// DRAM pages in which lines were completed lately, and when, counted in such lines.
enum { PAGE_LINES = 64, PAGES = 1024, LATELY = 256 };
static struct {
    u64 page, when;
} pages[PAGES];
static u64 completed = LATELY;

static bool is_near(u64 number)
{
    u64 page = number / PAGE_LINES, place = (page ^ page >> 10) % PAGES;
    bool near = pages[place].page == page && completed - pages[place].when < LATELY;
    pages[place].page = page;
    pages[place].when = completed++;
    return near;
}

// What an access to another DRAM page costs beyond the bytes that it moves.
static double cost_of(u32 sectors)
{
    double least = profile.dram_read_bytes_per_second / profile.dram_random_sectors_per_second,
           bytes = bytes_of(sectors);
    return sectors ? bytes > least ? bytes : least : 0;
}

// Of lines completed near others, one in so many is left as it is: ncu counts a store that missed,
// and no write. Where stores are scattered there are none. Fitted on an H200: a word of each line,
// of every other sector and of each sector of 4 to 96 MB.
enum {
    STAY = 4,
    STAY_OF = 9
}; // of lines with one sector to complete; of those with two, half as many

// Completes a line that was stored to in part and writes it to DRAM, unless it is left.
static void write_partial(LineAccess n, Cache *cache, u64 number)
{
    Traffic *t = &launch->traffic;
    CacheLine *line = cache_find(cache, number);
    if (!line) return;
    u32 dirty = cache_dirty(*line), missing = dirty & ~cache_present(*line);
    bool near = is_near(number),
         stays =
             near && missing && by_chance(number) % (STAY_OF * __builtin_popcount(missing)) < STAY;
    if (stays) t->l2_hits -= __builtin_popcount(missing);
    t->l2_misses += __builtin_popcount(missing);
    t->dram_read += bytes_of(missing);
    launch->cache_tally[line_access_pc(n)].dram_sectors += __builtin_popcount(missing);
    count_in_flight(&launch->fetched, bytes_of(missing));
    if (near) t->filled += bytes_of(missing);
    else
        t->partial_written += bytes_of(dirty), t->partial_cost += cost_of(missing) + cost_of(dirty);
    *line |= missing;
    if (stays) return;
    t->l2_writes += __builtin_popcount(missing);
    t->dram_written += bytes_of(dirty);
    count_in_flight(&launch->parts, bytes_of(dirty));
    *line &= ~cache_dirt(dirty);
}

// Adds the words that the store writes. Returns the sectors that are now complete.
static u32 add_partial(Partial *p, LineAccess n, u32 sectors)
{
    u32 whole = 0;
    for (u32 s = 0; s < LINE_SECTORS; s++) {
        if (sectors >> s & 1) p->words[s] = line_access_add_words(p->words[s], n, s);
        whole |= (u32)(p->words[s] == ALL_WORDS) << s;
    }
    return whole;
}

// The sectors that the store writes in part.
static u32 parts_of(LineAccess n)
{
    u32 parts = 0;
    if (line_access_kind(n) == STORE_OF_EACH) return line_access_sectors(n);
    for (u32 s = 0; s < LINE_SECTORS; s++)
        parts |= (u32)(line_access_words(n, s) != ALL_WORDS) << s;
    return parts & line_access_sectors(n);
}

// A store to sectors that are not present, of which it does not write every word.
static void store_partial(LineAccess n, CacheLine *line, u32 sectors)
{
    u32 device = launch->device, at = 0, open = 0;
    Cache *cache = l2_of(device);
    u32 index = cache_place(cache, cache_mixed(line_access_number(n)));
    PartialSet *set = &partial[device][index];
    while (at < set->count && set->line[at].number != line_access_number(n)) at++;
    Partial p = at < set->count ? set->line[at] : (Partial){ .number = line_access_number(n) };
    if (at == set->count && at < ways_of(profile.l2_partial_ways, index)) set->count++;
    else if (at == set->count) {
        write_partial(n, cache, set->line[--at].number);
        cache_find(cache, line_access_number(n)); // which remains the most recently used
    }
    *line |= add_partial(&p, n, sectors);
    for (u32 s = 0; s < LINE_SECTORS; s++) open |= p.words[s] && p.words[s] != ALL_WORDS;
    memmove(set->line + 1, set->line, at * sizeof p);
    set->line[0] = p;
    if (open) return;
    memmove(set->line, set->line + 1, (MOST_PARTIAL - 1) * sizeof p);
    set->count--;
}

// Stores of whole sectors fetch nothing. The misses of an atomic at home bring whole granules; one
// from the far partition fetches only the sectors that it changes.
static void l2_change(LineAccess n, const Cache *cache, CacheSet *set, CacheLine *line,
                      bool at_home)
{
    Traffic *t = &launch->traffic;
    bool is_store = line_access_is_store(n),
         is_new = is_store && !cache_dirty(*line) && !cache_present(*line);
    u32 more = is_store ? 0 : line_access_more(n);
    u32 passes = line_access_kind(n) == STORE_BESIDE
                   ? 0
                   : (__builtin_popcount(line_access_sectors(n)) + more) * (at_home ? 1 : 2);
    u32 asked = is_store ? 0 : line_access_sectors(n) & ~cache_present(*line),
        missing = at_home ? missing_of(asked, cache_present(*line)) : asked;
    t->l2_hits += passes - __builtin_popcount(asked);
    t->l2_misses += __builtin_popcount(missing);
    *(is_store                             ? &t->l2_writes
      : line_access_kind(n) == ATOMIC_KIND ? &t->l2_atomics
                                           : &t->l2_reductions) += passes;
    dram_read(n, line, missing);
    if (is_new) look_aside(n);
    u32 parts = is_store && line_access_more(n) ? parts_of(n) & ~cache_present(*line) : 0;
    u32 fresh = line_access_sectors(n) & ~parts & ~cache_dirty(*line);
    if (at_home) *line |= CACHE_MARK;
    else if (is_store && *line & CACHE_MARK) t->l2_hits++, *line &= (CacheLine)~CACHE_MARK;
    *line &= ~cache_copies(line_access_sectors(n));
    if (is_store && !at_home) *line |= cache_copies(line_access_sectors(n) & ~parts);
    *line |= (line_access_sectors(n) & ~parts) | cache_dirt(line_access_sectors(n));
    if (parts) store_partial(n, line, parts);
    if (!fresh) return;
    u32 most = ways_of(profile.l2_dirty_ways, set - cache->set);
    write_back(SECTOR_BYTES
               * (u64)cache_clean(set, is_new ? most : MOST_WAYS, most * LINE_SECTORS));
}

static CacheQueue queue;        // of that launch's
enum { COALESCED = MOST_WAYS }; // in place of the partition

static void answer(const Cache *cache, CacheAsked a)
{
    const LineAccess n = a.what;
    if (a.by == COALESCED) {
        count_late(n);
        return;
    }
    CacheLine *line = l2_take(cache, a.set, line_access_number(n));
    u64 mixed = line_access_number(n) ^ line_access_number(n) >> 7 ^ line_access_number(n) >> 17;
    u32 partitions = profile.l2_partitions;
    bool at_home =
        (partitions & (partitions - 1) ? mixed % partitions : mixed & (partitions - 1)) == a.by;
    if (line_access_kind(n) >= STORE) l2_change(n, cache, a.set, line, at_home);
    else l2_read(n, line, at_home);
}

static void ask(L2Launch *of, LineAccess n, u32 by)
{
    launch = of;
    const Cache *cache = l2_of(launch->device);
    if (cache_queue_is_full(&queue)) answer(cache, cache_next(&queue));
    cache_ask(&queue, cache, line_access_number(n), n, by);
}

void l2_access(L2Launch *of, LineAccess n, u32 partition) { ask(of, n, partition); }

void l2_coalesced(L2Launch *of, LineAccess n) { ask(of, n, COALESCED); }

void l2_finish(void)
{
    while (!cache_queue_is_empty(&queue)) answer(l2_of(launch->device), cache_next(&queue));
}

void l2_written(u32 device, u64 number, u32 sectors)
{
    static L2Launch none; // of what is evicted while no kernel runs
    launch = &none;
    const Cache *cache = l2_of(device);
    *l2_take(cache, cache_set(cache, number), number) |= sectors | cache_dirt(sectors);
}

void l2_start(L2Launch *l)
{
    static u64 launches;
    if (!granules_of[1]) fill_granules(), make_places();
    l->number = ++launches;
    completed += LATELY;
}
