// Each SM has an L1: sectored, with room made for loads and for stores, which are written through; it begins a launch
// empty. L2 is one for the device, sectored too, and written back: what a kernel leaves dirty in it is DRAM's business
// later, or never. DRAM is read and written in granules, of two sectors on an H200. An L2 of two partitions keeps in both
// what both halves of the device use: as lookups multiply (Profile.l2_lookups_per_sector), so what it holds divides.
//
// That stores make room, how often L2 is looked up, and that it so holds 41 MB of an H200's 63, is what ncu shows of the
// kernels in profiles/accuracy.
//
// The executor runs block after block, and in a block warp after warp as far as each gets, where a GPU runs them side by
// side. So accesses are noted down and replayed in another order: of a block's warps one after the other in turn, in each
// stretch between two points at which all have had their turn; and what misses in L1 of the blocks that are resident
// together likewise, when the last of such a wave has ended. The blocks of an SM share its L1: each is given a part of its
// size, and finds there what the blocks before it on that SM have left.
//
// The replay is the same in every run. What the order on the hardware is nobody knows; the figures are estimates.
#include "caches.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "coalesce.h"
#include "memory.h"
#include "occupancy.h"
#include "profile.h"

// One line that one access touches, as it is noted down.
typedef struct Note {
    u64 number : 34;        // the line's
    u64 sectors : 4;
    u64 kind : 3;           // enum kind
    u64 more : 5;           // atomics: passes over the sectors beyond the first
    u64 pc : 18;
} Note;
enum kind { LOAD, LOAD_PAST_L1, STORE, ATOMIC_KIND, REDUCTION };
enum { MOST_NOTES = 1 << 16 };          // of a warp, before they are replayed
enum { MOST_MISSES = 1 << 23 };         // of a wave, likewise
enum { TURN = 8 };                      // notes that a block has replayed at a time
static const u64 LOCAL_LINE = 1ull << 33;

typedef struct Notes { Note *note; u32 count, room; } Notes;

typedef struct CachedBlock {
    Notes *warps;           // of each, what is not replayed yet
    Notes misses;           // what goes on to L2
    u32 latest;             // the warp that was seen last
} CachedBlock;

static struct {
    const Grid *grid;
    Cache *l1;              // of each SM; not made: no block has run there
    u32 resident;           // blocks that share one
    u64 l1_bytes;           // that each of them has of it
    Notes *wave;            // of the blocks that have ended and are not replayed in L2
    u32 wave_blocks, wave_room;
    u64 wave_misses;
    Traffic traffic;
    struct { u64 number, lanes; } hot[1024];    // lines with atomics
} now;
static Cache l2[MOST_DEVICES];

static void no_memory(void)
{
    perror("simulator: no memory left to follow the caches");
    exit(1);
}

static void add_note(Notes *n, Note note)
{
    if (n->count == n->room) {
        n->room = n->room ? 2 * n->room : 64;
        n->note = realloc(n->note, n->room * sizeof *n->note);
        if (!n->note) no_memory();
    }
    n->note[n->count++] = note;
}

// ---- DRAM and L2 ----

// The sectors of all granules that these are in.
static u32 granules(u32 sectors)
{
    u32 all = 0, size = profile.dram_granule_bytes / SECTOR_BYTES, one = (1u << size) - 1;
    for (u32 s = 0; s < LINE_SECTORS; s += size) if (sectors >> s & one) all |= one << s;
    return all;
}

static u64 bytes_of(u32 sectors) { return (u64)__builtin_popcount(sectors) * SECTOR_BYTES; }

static Cache *l2_of(u32 device)
{
    if (!l2[device].line && !cache_make(&l2[device], profile.l2_bytes / profile.l2_lookups_per_sector, profile.l2_ways)) no_memory();
    return &l2[device];
}

static CacheLine *l2_take(u32 device, u64 number)
{
    CacheLine evicted, *line = cache_take(l2_of(device), number, &evicted);
    now.traffic.dram_written += bytes_of(granules(cache_dirty(evicted)));
    return line;
}

// Stores write whole sectors here and fetch nothing; all else reads first.
static void l2_replay(const Note *n)
{
    Traffic *t = &now.traffic;
    CacheLine *line = l2_take(now.grid->launch->device, n->number);
    u32 count = __builtin_popcount(n->sectors) + n->more, missing = n->kind == STORE ? 0 : n->sectors & ~cache_present(*line);
    t->l2_misses += __builtin_popcount(missing);
    t->l2_hits += count - __builtin_popcount(missing);
    if (missing) {
        t->dram_read += bytes_of(granules(missing));
        now.grid->tally[n->pc].dram_sectors += __builtin_popcount(granules(missing));
        *line |= granules(missing);
    }
    *line |= n->sectors;
    if (n->kind >= STORE) *line |= cache_dirt(n->sectors);
    switch (n->kind) {
    case STORE: t->l2_writes += count; break;
    case ATOMIC_KIND: t->l2_atomics += count; break;
    case REDUCTION: t->l2_reductions += count; break;
    default: t->l2_reads += count;
    }
}

// Lines that share a place here take it from one another; one that most meet at keeps it.
static void note_atomic(const Note *n)
{
    u32 place = (n->number ^ n->number >> 10) % (sizeof now.hot / sizeof *now.hot);
    u64 lanes = n->more + 1;
    if (now.hot[place].number == n->number) now.hot[place].lanes += lanes;
    else if (now.hot[place].lanes > lanes) now.hot[place].lanes -= lanes;
    else now.hot[place].number = n->number, now.hot[place].lanes = lanes;
    if (now.hot[place].lanes > now.traffic.hottest) now.traffic.hottest = now.hot[place].lanes;
}

static void replay_wave(void)
{
    const Cache *cache = l2_of(now.grid->launch->device);
    for (u64 turn = 0, left = now.wave_misses; left; turn++) {
        for (u32 b = 0; b < now.wave_blocks; b++) {
            const Notes *n = &now.wave[b];
            u64 from = turn * TURN, to = from + TURN < n->count ? from + TURN : n->count;
            for (u64 k = from; k < to; k++) cache_expect(cache, n->note[k].number);
            for (u64 k = from; k < to; k++, left--) l2_replay(&n->note[k]);
        }
    }
    for (u32 b = 0; b < now.wave_blocks; b++) free(now.wave[b].note);
    now.wave_blocks = 0;
    now.wave_misses = 0;
}

// ---- L1 ----

static Cache *l1_of(u32 sm)
{
    Cache *c = &now.l1[sm];
    if (!c->line && !cache_make(c, now.l1_bytes, profile.l1_ways)) no_memory();
    return c;
}

// Loads and stores make room. What L2 changes, or is to be asked for, is not kept.
static void l1_replay(Block *b, Cache *c, const Note *n)
{
    Note miss = *n;
    CacheLine evicted, *line = n->kind == LOAD || n->kind == STORE ? cache_take(c, n->number, &evicted) : cache_find(c, n->number);
    if (n->kind != LOAD && n->kind != STORE) {
        if (line) *line &= ~(CacheLine)n->sectors;
    } else {
        Tally *t = &now.grid->tally[n->pc];
        u32 hits = cache_present(*line) & n->sectors;
        *(n->number & LOCAL_LINE ? &t->local.hits : &t->global.hits) += __builtin_popcount(hits);
        *line |= n->sectors;
        if (n->kind == LOAD) miss.sectors &= ~hits;
    }
    if (miss.sectors) add_note(&b->cached->misses, miss);
}

// The warps' notes, one of each in turn.
static void replay_block(Block *b)
{
    CachedBlock *cached = b->cached;
    Cache *c = l1_of(b->sm);
    for (u32 k = 0, left = 1; left; k++) {
        left = 0;
        for (u32 w = 0; w < b->warp_count; w++) {
            const Notes *n = &cached->warps[w];
            if (k < n->count) l1_replay(b, c, &n->note[k]), left++;
        }
    }
    for (u32 w = 0; w < b->warp_count; w++) cached->warps[w].count = 0;
}

// ---- What is seen of the machine ----

// Of the sizes that shared memory can have, the driver takes the least with room for twice as many blocks as otherwise
// fit, or for four times as many of a kernel that has none, up to the most that an SM takes; if none has it, the least
// that holds them (so 45 of 46 kernels on an H200, driver 580).
static u64 carveout(const Launch *l, u32 blocks)
{
    u64 each = l->kernel->shared_bytes + l->dynamic_shared, most = profile.max_blocks_per_sm;
    u64 ample = blocks * (each ? 2 : 4), least = blocks * (each + profile.shared_reserved_per_block);
    u64 wanted = (ample < most ? ample : most) * (each + profile.shared_reserved_per_block);
    if (wanted > (u64)profile.shared_per_sm) wanted = least;
    for (int n = 0; n < profile.carveout_count; n++) if ((u64)profile.carveouts[n] >= wanted) return profile.carveouts[n];
    return profile.shared_per_sm;
}

static void caches_grid_start(Grid *g)
{
    const Launch *l = g->launch;
    u64 blocks = (u64)l->grid[0] * l->grid[1] * l->grid[2], share = (blocks + profile.sm_count - 1) / profile.sm_count;
    u32 fit = occupancy_blocks(g->kernel, g->threads, l->dynamic_shared).blocks;
    now.grid = g;
    now.traffic = (Traffic){ 0 };
    now.resident = fit < share ? fit : share;
    if (!now.resident) now.resident = 1;
    now.l1_bytes = (profile.l1_bytes - carveout(l, fit)) / now.resident;
    memset(now.hot, 0, sizeof now.hot);
    now.l1 = calloc(profile.sm_count, sizeof *now.l1);
    if (!now.l1) no_memory();
}

static void caches_block_make(Block *b)
{
    b->cached = calloc(1, sizeof *b->cached);
    if (b->cached) b->cached->warps = calloc(b->warp_count, sizeof *b->cached->warps);
    if (!b->cached || !b->cached->warps) no_memory();
}

static void caches_block_free(Block *b)
{
    for (u32 w = 0; w < b->warp_count; w++) free(b->cached->warps[w].note);
    free(b->cached->warps);
    free(b->cached->misses.note);
    free(b->cached);
}

static enum kind kind_of(const Access *a)
{
    if (a->atomic) return a->insn->reduces ? REDUCTION : ATOMIC_KIND;
    if (a->store) return STORE;
    return a->insn->strong && a->insn->scope != SCOPE_CTA ? LOAD_PAST_L1 : LOAD;
}

// A number that no other line has, in the bits that a note has for it.
static u64 number_of(const Access *a, u64 line)
{
    const Block *b = a->warp->block;
    if (a->space == SPACE_GLOBAL) return (line - MEMORY_BASE / LINE_BYTES + 1) % LOCAL_LINE;
    u64 words = (b->grid->kernel->local_bytes + 3) / 4, place = b->number % ((u64)profile.sm_count * now.resident);
    return LOCAL_LINE + (place * b->warp_count * words + line) % LOCAL_LINE;
}

static bool is_host_memory(const Access *a) { return a->space == SPACE_GLOBAL && a->address[a->first] >= MEMORY_PINNED; }

static bool caches_access(Access *a)
{
    Block *b = a->warp->block;
    CachedBlock *cached = b->cached;
    if (a->space == SPACE_SHARED || access_is_constant(a) || is_host_memory(a)) return true;
    if (a->warp->number < cached->latest || cached->warps[a->warp->number].count >= MOST_NOTES) replay_block(b);
    cached->latest = a->warp->number;
    Piece pieces[MOST_PIECES];
    u32 count = access_pieces(a, pieces);
    Note note = { .kind = kind_of(a), .pc = a->insn - b->grid->kernel->code };
    for (u32 n = 0; n < count; n++) {
        note.number = number_of(a, pieces[n].line);
        note.sectors = pieces[n].sectors;
        note.more = pieces[n].passes - __builtin_popcount(pieces[n].sectors);
        add_note(&cached->warps[a->warp->number], note);
        if (a->atomic) note_atomic(&note);
    }
    return true;
}

static void caches_block_end(Block *b)
{
    CachedBlock *cached = b->cached;
    replay_block(b);
    cached->latest = 0;
    if (now.wave_blocks == now.wave_room) {
        now.wave_room = now.wave_room ? 2 * now.wave_room : 256;
        now.wave = realloc(now.wave, now.wave_room * sizeof *now.wave);
        if (!now.wave) no_memory();
    }
    now.wave[now.wave_blocks++] = cached->misses;
    now.wave_misses += cached->misses.count;
    cached->misses = (Notes){ 0 };
    if (now.wave_blocks >= profile.sm_count * now.resident || now.wave_misses >= MOST_MISSES) replay_wave();
}

static void caches_grid_end(Grid *g)
{
    (void)g;
    replay_wave();
    for (int n = 0; n < profile.sm_count; n++) cache_free(&now.l1[n]);
    free(now.l1);
}

const Observer caches_observer = {
    .grid_start = caches_grid_start, .block_make = caches_block_make, .block_free = caches_block_free,
    .access = caches_access, .block_end = caches_block_end, .grid_end = caches_grid_end,
};

// ---- What others ask and tell ----

const Traffic *caches_traffic(void) { return &now.traffic; }
u32 caches_resident(void) { return now.resident; }

void caches_written(u64 address, u64 bytes)
{
    const Allocation *a = memory_find(address);
    if (!a || !bytes || address >= MEMORY_PINNED) return;
    if (bytes > (u64)profile.l2_bytes) address += bytes - profile.l2_bytes, bytes = profile.l2_bytes;
    u64 first = (address - MEMORY_BASE) / SECTOR_BYTES, last = (address + bytes - 1 - MEMORY_BASE) / SECTOR_BYTES;
    for (u64 line = first / LINE_SECTORS; line <= last / LINE_SECTORS; line++) {
        u32 low = line * LINE_SECTORS < first ? first % LINE_SECTORS : 0;
        u32 high = line * LINE_SECTORS + LINE_SECTORS > last ? last % LINE_SECTORS : LINE_SECTORS - 1;
        u32 sectors = (2u << high) - (1u << low);
        *l2_take(a->device, line + 1) |= sectors | cache_dirt(sectors);
    }
}
