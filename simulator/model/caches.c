// Each SM has an L1: sectored, write-through, allocating for loads and for stores, and empty when a
// launch begins. (ncu shows of the kernels in profiles/accuracy that stores allocate.) Misses go to
// l2.c.
//
// The executor runs block after block, and in a block warp after warp as far as each gets, where a
// GPU runs them at the same time. So line accesses are recorded and replayed in another order.
// Between two barriers a block's warps take turns of one access each. A warp does not wait for a
// store: it makes the store after its access in the same turn, and sometimes the next one too.
// Younger warps miss some turns to store and to load local memory. The blocks that an SM holds at
// once take turns of a few accesses when the last block of the device's wave has ended; so do the
// SMs with their misses. A wave with more than MOST_LINE_ACCESSES is cut, and its blocks then use
// their share of L1.
//
// Between the SMs of a GPC and L2 there is a coalescer: reads of one sector at about the same time
// are merged into one (Nsight Compute's guide, "LRC"). The longer a kernel runs, the further its
// SMs drift apart.
//
// The replay is the same in every run. The order on the hardware is unknown, so the figures are
// estimates.
#include "caches.h"
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "coalesce.h"
#include "counts.h"
#include "isa/tensor.h"
#include "l2.h"
#include "memory/memory.h"
#include "machine/occupancy.h"
#include "machine/profile.h"
#include "machine/worker.h"
#include "base/need.h"
#include "wave.h"
#include "slots.h"

enum { MOST_LINE_ACCESSES = 9 << 20 }; // of a wave, of 8 bytes each; the device may keep four waves
enum {
    MOST_OF_WARP = 1 << 16,
    MOST_OF_BLOCK = 1 << 20
}; // before they are interleaved and handed to the wave
enum {
    HOST_LINE = 128
}; // bytes of the host's cache that threads share unawares: a line and its neighbour

// Turns in a hundred that the youngest warps of a full SM miss when their next access is to global
// memory, or to local memory. Fitted on an H200: kernels rewrite_half_sectors; local_loads,
// local_stores.
static const u8 LATE[2][REDUCTION + 1] = { { [STORE] = 96, [STORE_OF_EACH] = 96 },
                                           { [LOAD] = 61, [STORE] = 22, [STORE_OF_EACH] = 22 } };

typedef struct CachedBlock {
    LineAccesses *warps; // of each warp, not interleaved yet
    LineAccesses all;    // interleaved
    u32 latest;          // the warp that was seen last
    u32 atomics;         // whose result is used
} CachedBlock;

static CachedBlock *caches_block(const Block *b) { return b->kept[BLOCK_CACHES]; }

static CachedGrid *caches_grid(const Grid *g) { return g->kept[GRID_CACHES]; }

static CachedGrid *now;                // of the grid whose turn it is
static Wave *asked_for[WORKER_BEHIND]; // waves whose replay may not be done yet
static u32 waves_asked;                // so far
static Wave *spare_waves;
static CachedGrid *spare; // of a grid that has ended, to be reused

static void replay(void *wave) { wave_replay(wave, true); }

static Wave *begin_wave(void)
{
    Wave *w = spare_waves;
    if (w) spare_waves = w->next;
    else w = calloc(1, sizeof *w);
    if (!w) no_memory();
    w->grid = now;
    return w;
}

static void end_wave(bool cut)
{
    Wave *w = now->wave;
    w->cut = cut;
    worker_do(replay, w);
    Wave **place = &asked_for[waves_asked++ % WORKER_BEHIND], *done = *place;
    *place = w;
    if (done) done->next = spare_waves, spare_waves = done;
    now->wave = begin_wave();
}

// The line accesses of a block.
typedef struct BlockAccesses {
    u32 sm, count;
    bool placed;
    LineAccess line[];
} BlockAccesses;

// Hands them to the wave.
static void join_wave(const LineAccess *accesses, u32 count, u32 sm, bool placed)
{
    Wave *w = now->wave;
    if (w->blocks == w->room) {
        w->room = w->room ? 2 * w->room : 256;
        w->block = realloc(w->block, w->room * sizeof *w->block);
        if (!w->block) no_memory();
    }
    if (w->line_accesses + count > w->line_accesses_room) {
        w->line_accesses_room = 2 * (w->line_accesses + count);
        w->all = realloc(w->all, w->line_accesses_room * sizeof *w->all);
        if (!w->all) no_memory();
    }
    w->block[w->blocks].first = w->line_accesses;
    w->block[w->blocks].count = count;
    w->block[w->blocks].placed = placed;
    w->block[w->blocks++].sm = sm;
    if (count) memcpy(w->all + w->line_accesses, accesses, count * sizeof *accesses);
    w->line_accesses += count;
}

// Does every warp of the block use an atomic's result? Then that probably tells it where to store.
static bool is_placed(const Block *b) { return caches_block(b)->atomics >= b->warp_count; }

static void join_block(Block *b)
{
    join_wave(caches_block(b)->all.line, caches_block(b)->all.count, b->sm, is_placed(b));
    caches_block(b)->all.count = 0;
}

// A warp has made a store: does it make the next one before the others have had their turn? The
// more lines the first store has, the more time the others had.
static bool goes_on(const LineAccesses *n, u32 warp)
{
    u32 pc = line_access_pc(n->line[n->taken - 1]), lines = 1;
    if (line_access_pc(n->line[n->taken]) == pc || !line_access_is_store(n->line[n->taken - 1]))
        return true;
    while (lines < n->taken && line_access_pc(n->line[n->taken - 1 - lines]) == pc) lines++;
    return mixed(warp, n->taken) % (1 + lines) == 0;
}

static inline bool is_store_next(const LineAccesses *n)
{
    return n->taken < n->count && line_access_is_store(n->line[n->taken]);
}

// Does the warp miss its turn? Schedulers prefer older warps, so the younger a warp is, and the
// fuller the SM, the further it falls behind with its stores and its loads of local memory. With
// data that warps share this does not happen, because the warp ahead brings what the others then
// find.
static inline bool is_late(const Block *b, u32 warp, u32 turn)
{
    const LineAccesses *n = &caches_block(b)->warps[warp];
    const LineAccess next = n->line[n->taken];
    const u32 late = LATE[line_access_number(next) / LOCAL_LINE][line_access_kind(next)];
    return late
        && mixed(b->number * b->warp_count + warp, turn)
                   % (100 * profile.max_threads_per_sm / LANES)
               < late * now->resident * warp;
}

// Interleaves the warps' accesses, one of each in turn, with the store that follows it.
static void put_in_turn(Block *b)
{
    CachedBlock *cached = caches_block(b);
    u32 total = 0;
    for (u32 w = 0; w < b->warp_count; w++) total += cached->warps[w].count;
    make_room(&cached->all, total);
    LineAccess *to = cached->all.line + cached->all.count;
    const LineAccess *end = to + total;
    u32 asked = b->grid->kernel->local_bytes || now->spills.loads
                  ? -1u
                  : 0; // the first warp that may be late
    for (u32 w = 0; w < b->warp_count; w++) asked |= (u32)is_store_next(&cached->warps[w]) << w;
    for (u32 turn = 0; to < end; turn++)
        for (u32 w = 0; w < b->warp_count; w++) {
            LineAccesses *n = &cached->warps[w];
            if (n->taken == n->count || (asked >> w & 1 && is_late(b, w, turn))) continue;
            do *to++ = n->line[n->taken++];
            while (is_store_next(n) && goes_on(n, b->number * b->warp_count + w));
            if (is_store_next(n)) asked |= 1u << w;
        }
    cached->all.count += total;
    for (u32 w = 0; w < b->warp_count; w++) cached->warps[w].count = cached->warps[w].taken = 0;
    if (cached->all.count < MOST_OF_BLOCK) return;
    if (b->grid->shard) {
        shard_abort(b->grid);
    } else {
        join_block(b);
        end_wave(true);
    }
}

// ---- What is seen of the machine ----

// The driver chooses the smallest size of shared memory with room for twice as many blocks as
// otherwise fit, or four times as many of a kernel without any, up to the most that an SM holds;
// otherwise the smallest size that holds them. (So did 45 of 46 kernels on an H200, driver 580.)
static u64 carveout(const Launch *l, u32 blocks)
{
    u64 each = l->kernel->shared_bytes + l->dynamic_shared, most = profile.max_blocks_per_sm;
    u64 ample = blocks * (each ? 2 : 4),
        least = blocks * (each + profile.shared_reserved_per_block);
    u64 wanted = (ample < most ? ample : most) * (each + profile.shared_reserved_per_block);
    if (wanted > (u64)profile.shared_per_sm) wanted = least;
    for (int n = 0; n < profile.carveout_count; n++)
        if ((u64)profile.carveouts[n] >= wanted) return profile.carveouts[n];
    return profile.shared_per_sm;
}

static void caches_grid_start(Grid *g)
{
    const Launch *l = g->launch;
    u64 blocks = (u64)l->grid[0] * l->grid[1] * l->grid[2],
        share = (blocks + profile.sm_count - 1) / profile.sm_count;
    u32 fit = occupancy_blocks(g->kernel, g->threads, l->dynamic_shared).blocks;
    worker_wait();
    now = g->kept[GRID_CACHES] = spare ? spare : calloc(1, sizeof *now);
    spare = NULL;
    if (!now) no_memory();
    now->grid = g;
    now->l2 = (L2Launch){ .device = l->device };
    now->spills = caches_spills(g->kernel);
    memset(now->spilled, 0, sizeof now->spilled);
    l2_start(&now->l2);
    now->resident = fit < share ? fit : share;
    if (!now->resident) now->resident = 1;
    u64 l1_bytes = profile.l1_bytes - carveout(l, fit);
    if (!now->l1) now->l1 = calloc(profile.sm_count, sizeof *now->l1);
    if (!now->misses) now->misses = calloc(profile.sm_count, sizeof *now->misses);
    if (!now->drift) now->drift = calloc(profile.sm_count, sizeof *now->drift);
    if (!now->recent) now->recent = calloc((size_t)profile.gpc_count * RECENT, sizeof *now->recent);
    now->cache_tally_stride = g->kernel->code_count + HOST_LINE / sizeof *now->cache_tally;
    now->cache_tally = now->l2.cache_tally =
        calloc((size_t)worker_count() * now->cache_tally_stride, sizeof *now->cache_tally);
    if (!now->wave) now->wave = begin_wave();
    if (!now->l1 || !now->misses || !now->recent || !now->drift || !now->l2.cache_tally)
        no_memory();
    for (int sm = 0; sm < profile.sm_count; sm++) {
        if (now->l1_bytes != l1_bytes) cache_free(&now->l1[sm]);
        else if (now->l1[sm].set) cache_clear(&now->l1[sm]);
        now->drift[sm] = 0;
    }
    now->l1_bytes = l1_bytes;
}

static void caches_block_make(Block *b)
{
    b->kept[BLOCK_CACHES] = calloc(1, sizeof(CachedBlock));
    if (caches_block(b))
        caches_block(b)->warps = calloc(b->warp_count, sizeof *caches_block(b)->warps);
    if (!caches_block(b) || !caches_block(b)->warps) no_memory();
}

static void caches_block_free(Block *b)
{
    for (u32 w = 0; w < b->warp_count; w++) free(caches_block(b)->warps[w].line);
    free(caches_block(b)->warps);
    free(caches_block(b)->all.line);
    free(caches_block(b));
}

static enum kind kind_of(const Access *a)
{
    if (a->atomic) return a->insn->reduces ? REDUCTION : ATOMIC_KIND;
    if (a->store) return STORE;
    return coalesce_past_l1(a->insn) ? LOAD_PAST_L1 : LOAD;
}

// A number that no other line has, in the bits that a LineAccess has for it.
static u64 number_of_global(u64 line) { return (line - MEMORY_BASE / LINE_BYTES + 1) % LOCAL_LINE; }

static u64 number_of(const Access *a, u64 line)
{
    const Block *b = a->warp->block;
    if (a->space == SPACE_GLOBAL) return number_of_global(line);
    u64 words = (b->grid->kernel->local_bytes + 3) / 4,
        place = b->number % ((u64)profile.sm_count * now->resident);
    return LOCAL_LINE + (place * b->warp_count * words + line) % LOCAL_LINE;
}

// ---- Spilled registers ----

static u32 words_of(const u32 by_width[3])
{
    return by_width[0] + 2 * by_width[1] + 4 * by_width[2];
}

Spills caches_spills(const Kernel *k)
{
    const NativeAccesses *a = &k->native.local;
    if (!k->native_known || k->local_bytes || k->function_count || k->hardware_local < WORD_BYTES)
        return (Spills){ 0 };
    return (Spills){ native_count(a->stores), native_count(a->loads), words_of(a->stores),
                     words_of(a->loads) };
}

// As accesses of instructions after the last one. The lanes' words are contiguous in a line.
static void write_spills(const Block *b, u32 warp, bool stores, LineAccess *to, u32 count)
{
    const Kernel *k = b->grid->kernel;
    const u32 words = k->hardware_local / WORD_BYTES;
    const u64 first =
        (b->number % ((u64)profile.sm_count * now->resident) * b->warp_count + warp) * words;
    const LineAccess note = (u64)(k->code_count + stores) << AT_PC
                          | (u64)(stores ? STORE : LOAD) << AT_KIND
                          | (u64)((1 << LINE_SECTORS) - 1) << AT_SECTORS;
    for (u32 n = 0; n < count; n++) to[n] = note | (LOCAL_LINE + (first + n % words) % LOCAL_LINE);
}

// Before and after what the warps did since the last barrier.
static void add_spills(Block *b)
{
    const u32 before = now->spills.words_stored, behind = now->spills.words_loaded;
    if (!before && !behind) return;
    for (u32 w = 0; w < b->warp_count; w++) {
        LineAccesses *n = &caches_block(b)->warps[w];
        make_room(n, before + behind);
        memmove(n->line + before, n->line, n->count * sizeof *n->line);
        n->count += before + behind;
        write_spills(b, w, true, n->line, before);
        write_spills(b, w, false, n->line + n->count - behind, behind);
    }
}

// Where the warp's next access is recorded.
static LineAccesses *line_accesses_of(Block *b, u32 warp)
{
    CachedBlock *cached = caches_block(b);
    if (warp < cached->latest || cached->warps[warp].count >= MOST_OF_WARP) put_in_turn(b);
    cached->latest = warp;
    return &cached->warps[warp];
}

// Of a load or a store to global memory.
static inline void add_lines(LineAccesses *to, LineAccess note, bool store, u64 first,
                             const struct PatternLines *lines)
{
    make_room(to, FEW_LINES);
    for (u32 n = 0; n < lines->count; n++) {
        u64 more = store ? line_access_of_words(lines->sectors[n], lines->words[n]) : 0;
        to->line[to->count++] = note | more | number_of_global(first + lines->line[n])
                              | (u64)lines->sectors[n] << AT_SECTORS;
    }
}

static bool caches_access(Access *a)
{
    Block *b = a->warp->block;
    if (a->space == SPACE_SHARED || access_is_constant(a) || access_is_in_registers(a)
        || access_is_host_memory(a))
        return true;
    enum kind kind = kind_of(a);
    LineAccesses *to = line_accesses_of(b, a->warp->number);
    caches_block(b)->atomics += kind == ATOMIC_KIND;
    LineAccess note = (u64)a->pc << AT_PC | (kind == STORE ? 0 : (u64)kind << AT_KIND);
    const struct PatternLines *lines = access_lines(a);
    if (lines) {
        add_lines(to, note, kind == STORE, a->base / LINE_BYTES, lines);
        a->sectors = lines->all;
        a->lines = lines->count;
        return true;
    }
    Piece pieces[MOST_PIECES];
    u32 count = access_pieces(a, pieces);
    for (u32 n = 0; n < count; n++) {
        u64 more = 0;
        if (kind == STORE) more = line_access_of_words(pieces[n].sectors, pieces[n].words);
        else if (a->atomic)
            more = (u64)((pieces[n].passes - __builtin_popcount(pieces[n].sectors)) & 63)
                << AT_MORE;
        add_line_access(to, note | more | number_of(a, pieces[n].line)
                                | (u64)pieces[n].sectors << AT_SECTORS);
    }
    return true;
}

static void caches_known_lines(Warp *w, const Insn *i, u32 pc, u64 address,
                               const struct PatternLines *lines)
{
    Block *b = w->block;
    const LineAccess note = (u64)pc << AT_PC;
    if (i->row == ROW_ld_const) return;
    if (isa_rows[i->row].store)
        add_lines(line_accesses_of(b, w->number), note, true, address / LINE_BYTES, lines);
    else
        add_lines(line_accesses_of(b, w->number),
                  note | (u64)(coalesce_past_l1(i) ? LOAD_PAST_L1 : LOAD) << AT_KIND, false,
                  address / LINE_BYTES, lines);
}

static void caches_swept(Block *b, u32 bit)
{
    const AccessSweep *f = &b->sweep;
    LineAccess next[MOST_SWEEP_STEPS];
    for (u32 k = 0; k < f->step_count; k++) {
        const SweepStep *l = &f->access[k];
        const u64 line = (l->base + l->bytes) / LINE_BYTES, kind = l->store ? STORE
                                                                 : coalesce_past_l1(l->insn)
                                                                     ? LOAD_PAST_L1
                                                                     : LOAD;
        bool noted = l->rest & bit && l->insn->row != ROW_ld_const;
        next[k] = !noted ? 0
                         : number_of_global(line) | (u64)((1 << LINE_SECTORS) - 1) << AT_SECTORS
                               | kind << AT_KIND | (u64)l->pc << AT_PC;
    }
    for (u32 n = 0, at = 0, warp = f->first + 1; n < f->count; n++) {
        const u32 lines = f->access[at].bytes / LINE_BYTES;
        if (next[at]) {
            LineAccesses *to = line_accesses_of(b, warp);
            make_room(to, lines);
            for (u32 k = 0; k < lines; k++) to->line[to->count++] = next[at]++;
        }
        if (++at == f->step_count) at = 0, warp++;
    }
}

static void caches_block_start(Block *b)
{
    for (u32 w = 0; w < b->warp_count; w++) caches_block(b)->warps[w].count = 0;
    caches_block(b)->all.count = caches_block(b)->latest = caches_block(b)->atomics = 0;
}

static void end_block(void)
{
    bool whole = now->wave->blocks >= profile.sm_count * now->resident;
    if (whole || now->wave->line_accesses >= MOST_LINE_ACCESSES) end_wave(!whole);
}

static void block_deferred(Grid *g, void *what, bool dropped)
{
    (void)g;
    const BlockAccesses *d = what;
    if (dropped) return;
    join_wave(d->line, d->count, d->sm, d->placed);
    end_block();
}

static void caches_block_end(Block *b)
{
    add_spills(b);
    put_in_turn(b);
    const LineAccesses *all = &caches_block(b)->all;
    if (b->grid->shard) {
        BlockAccesses *d =
            grid_defer(b->grid, block_deferred, sizeof *d + all->count * sizeof *all->line);
        *d = (BlockAccesses){ .sm = b->sm, .count = all->count, .placed = is_placed(b) };
        if (all->count) memcpy(d->line, all->line, all->count * sizeof *all->line);
    } else {
        join_block(b);
        end_block();
    }
}

static void caches_grid_end(Grid *g)
{
    worker_wait();
    now->wave->cut = false;
    wave_replay(now->wave, false);
    for (u32 n = 0; n < worker_count(); n++) {
        for (u32 stores = 0; stores < 2; stores++) {
            const CacheTally *f = &now->cache_tally[(size_t)n * now->cache_tally_stride
                                                    + g->kernel->code_count + stores];
            now->spilled[stores].local_hits += f->local_hits;
            now->spilled[stores].dram_sectors += f->dram_sectors;
        }
        for (u32 pc = 0; pc < g->kernel->code_count; pc++) {
            const CacheTally *f = &now->cache_tally[(size_t)n * now->cache_tally_stride + pc];
            Counts *t = &counts_of(g)[pc];
            t->global.hits += f->hits;
            t->local.hits += f->local_hits;
            t->l2_misses += f->l2_misses;
            t->l2_late += f->l2_late;
            t->dram_sectors += f->dram_sectors;
        }
    }
    free(now->cache_tally);
    now->cache_tally = now->l2.cache_tally = NULL;
}

static void caches_grid_turn(Grid *g) { now = caches_grid(g); }

static void free_grid(CachedGrid *c)
{
    for (int sm = 0; sm < profile.sm_count; sm++) cache_free(&c->l1[sm]), free(c->misses[sm].line);
    free(c->l1);
    free(c->misses);
    free(c->wave->block);
    free(c->wave->all);
    free(c->wave);
    free(c->recent);
    free(c->drift);
    free(c);
}

static void caches_grid_free(Grid *g)
{
    if (spare) free_grid(spare);
    spare = caches_grid(g);
}

const Observer caches_observer = {
    .grid_start = caches_grid_start,
    .block_make = caches_block_make,
    .block_free = caches_block_free,
    .block_start = caches_block_start,
    .access = caches_access,
    .known_lines = caches_known_lines,
    .swept = caches_swept,
    .frugal = true,
    .block_end = caches_block_end,
    .grid_end = caches_grid_end,
    .grid_turn = caches_grid_turn,
    .grid_free = caches_grid_free,
};

// ---- What others ask and tell ----

const Traffic *caches_traffic(void) { return &now->l2.traffic; }
CacheTally caches_spilled(bool stores) { return now->spilled[stores]; }
void caches_under_way(double seconds, u64 *fetched, u64 *written)
{
    l2_under_way(&now->l2, seconds, fetched, written);
}
u32 caches_resident(void) { return now->resident; }
u32 caches_carveout(void) { return profile.l1_bytes - now->l1_bytes; }

void caches_written(u64 address, u64 bytes)
{
    const Allocation *a = memory_find(address);
    if (!a || !bytes || address >= MEMORY_PINNED) return;
    worker_wait();
    if (bytes > (u64)profile.l2_bytes)
        address += bytes - profile.l2_bytes, bytes = profile.l2_bytes;
    u64 first = (address - MEMORY_BASE) / SECTOR_BYTES,
        last = (address + bytes - 1 - MEMORY_BASE) / SECTOR_BYTES;
    for (u64 line = first / LINE_SECTORS; line <= last / LINE_SECTORS; line++) {
        u32 low = line * LINE_SECTORS < first ? first % LINE_SECTORS : 0;
        u32 high =
            line * LINE_SECTORS + LINE_SECTORS > last ? last % LINE_SECTORS : LINE_SECTORS - 1;
        u32 sectors = (2u << high) - (1u << low);
        l2_written(a->device, line + 1, sectors);
    }
}
