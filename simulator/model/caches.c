// Each SM has an L1: sectored, with room made for loads and for stores, which are written through;
// it begins a launch empty. That stores make room is what ncu shows of the kernels in
// profiles/accuracy. What L1 does not answer goes to l2.c.
//
// The executor runs block after block, and in a block warp after warp as far as each gets, where a
// GPU runs them side by side. So accesses are noted down and replayed in another order: of a
// block's warps one after the other in turn, in each stretch between two points at which all have
// had their turn: a line each, and the store behind it, for which no warp has to wait, nor now and
// then for the next one; the younger ones miss some turns to store, and to load local memory. Of
// the blocks that an SM holds together a few of each in turn, when the last of the device's such
// wave has ended; and what the SMs miss, likewise. A wave with more notes than MOST_NOTES is cut:
// the blocks that are there by then have that part of L1 which is theirs.
//
// Between the SMs of a GPC and L2 stands a coalescer: reads of one sector that come at about the
// same time go on as one (Nsight Compute's guide, "LRC"). The longer a kernel takes, the further
// its SMs have drifted apart.
//
// The replay is the same in every run. What the order on the hardware is nobody knows; the figures
// are estimates.
#include "caches.h"
#include <stdatomic.h>
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
#include "stores.h"
#include "slots.h"

enum { MOST_NOTES = 9 << 20 }; // of a wave: the device may keep four, of 8 bytes a note
enum {
    MOST_OF_WARP = 1 << 16,
    MOST_OF_BLOCK = 1 << 20
};                            // before they are put in turn, and handed to the wave
enum { FEW_NOTES = 1 << 12 }; // of a wave, for which no thread is woken
enum { TURN = 8 };            // notes that a block, or an SM, has replayed at a time
enum { AHEAD = 4 };           // SMs whose reads the host is to have at hand before their turn
enum { RECENT = 4096, RECENT_TURNS = 6 }; // reads that a coalescer remembers, and for how long
enum { L1_UNEVEN = 7 }; // fitted on an H200: kernels reread_192_kb and reread_240_kb
enum {
    HOST_LINE = 128
}; // bytes of the host's caches that go from thread to thread, and their neighbours
enum {
    STEPS = 16,
    DRIFT = 10
}; // of a turn, and how many an SM gains or loses in it at most: fitted, kernels matmul_columns,
   // matmul_naive and matmul_registers
static const u64 LOCAL_LINE = 1ull << 33;

// Turns of a hundred that the youngest warps of a full SM miss, where they are to access global
// memory next, or local memory. Fitted on an H200: kernels rewrite_half_sectors; local_loads,
// local_stores.
static const u8 LATE[2][REDUCTION + 1] = { { [STORE] = 96, [STORE_OF_EACH] = 96 },
                                           { [LOAD] = 61, [STORE] = 22, [STORE_OF_EACH] = 22 } };

typedef struct Notes {
    Note *note;
    u32 count, room, taken;
} Notes;

typedef struct CachedBlock {
    Notes *warps; // of each, what is not in turn yet
    Notes all;    // what is
    u32 latest;   // the warp that was seen last
    u32 atomics;  // whose result is wanted
} CachedBlock;

static CachedBlock *caches_block(const Block *b) { return b->kept[BLOCK_CACHES]; }

typedef struct Read {
    u64 number;
    s32 when;
    u16 sectors, merged;
} Read;

// Blocks that are replayed together.
typedef struct Wave {
    struct CachedGrid *grid;
    struct {
        u64 first;
        u32 count;
        u16 sm;
        bool placed;
    } * block; // those that have ended: their notes in `all`
    u32 blocks, room;
    Note *all;
    u64 notes, notes_room; // of them all
    bool cut;
    struct Wave *next; // of those that are spare
} Wave;

typedef struct CachedGrid {
    Grid *grid;
    Cache *l1;     // of each SM; not made: no block has run there
    Notes *misses; // of each SM, in the wave that is replayed
    u32 resident;  // blocks that share an L1
    u64 l1_bytes;  // what shared memory leaves of it
    Wave *wave;    // of the blocks that have ended and are not replayed
    Read *recent;  // of each GPC
    u32 turn;      // so far
    s32 *drift;    // of each SM, in steps of a turn
    Found *found;  // of each thread and instruction; the first thread's are l2's
    u32 found_each;
    Spills spills;
    Found spilled[2]; // loads, stores
    L2Launch l2;
} CachedGrid;

static CachedGrid *caches_grid(const Grid *g) { return g->kept[GRID_CACHES]; }

static CachedGrid *now;      // of the grid whose turn it is
static CachedGrid *replayed; // of the one whose wave is replayed, which may be done by another
                             // thread (machine/worker.h)
static Wave *asked_for[WORKER_BEHIND]; // waves whose replay may not be done yet
static u32 waves_asked;                // so far
static Wave *spare_waves;
static CachedGrid *spare; // of one that has ended: its room is used again

// Room for so many more.
static inline void make_room(Notes *n, u32 more)
{
    if (n->count + more <= n->room) return;
    while (n->count + more > n->room) n->room = n->room ? 2 * n->room : 64;
    n->note = realloc(n->note, n->room * sizeof *n->note);
    if (!n->note) no_memory();
}

static inline void add_note(Notes *n, Note note)
{
    make_room(n, 1);
    n->note[n->count++] = note;
}

static inline Read *read_of(u32 gpc, Note n)
{
    return &replayed->recent[gpc * RECENT + (note_number(n) ^ note_number(n) >> 12) % RECENT];
}

// Does another SM of the GPC ask for the same at about this time? Then the answer is for both.
static bool is_coalesced(u32 gpc, s32 when, Note n)
{
    Read *r = read_of(gpc, n);
    bool same = r->number == note_number(n) && abs(when - r->when) <= RECENT_TURNS * STEPS
             && r->merged < profile.l2_reads_merged;
    if (!same) *r = (Read){ .number = note_number(n), .when = when };
    if (note_sectors(n) & ~r->sectors) r->sectors |= note_sectors(n), same = false;
    r->merged++;
    return same;
}

// Inline: gcc drops a call to what does nothing but prefetch.
static inline __attribute__((always_inline)) void expect_reads(u32 sm, u64 from)
{
    const Notes *n = &replayed->misses[sm];
    for (u64 k = from; k < from + TURN && k < n->count; k += 2)
        __builtin_prefetch(read_of(sm % profile.gpc_count, n->note[k]), 1);
}

// By chance, but the same in every run.
static u32 mixed(u32 a, u32 b)
{
    u32 bits = (a * 0x9e3779b1u ^ b * 0x85ebca6bu) * 0xc2b2ae35u;
    return bits ^ bits >> 16;
}

static void replay_misses(void)
{
    bool left = true;
    for (u64 from = 0; left; from += TURN) {
        u32 turn = replayed->turn++;
        left = false;
        for (int sm = 0; sm < profile.sm_count; sm++) {
            const Notes *n = &replayed->misses[sm];
            u64 to = from + TURN < n->count ? from + TURN : n->count;
            if (sm + AHEAD < profile.sm_count) expect_reads(sm + AHEAD, from);
            u32 gpc = sm % profile.gpc_count,
                partition = gpc * profile.l2_partitions / profile.gpc_count;
            s32 when = (s32)turn * STEPS
                     + (replayed->drift[sm] += (s32)(mixed(sm, turn) % (2 * DRIFT + 1)) - DRIFT);
            for (u64 k = from; k < to; k++)
                if (note_kind(n->note[k]) != LOAD || !is_coalesced(gpc, when, n->note[k]))
                    l2_access(&replayed->l2, n->note[k], partition);
            left |= to < n->count;
        }
    }
    l2_finish();
    replayed->turn += RECENT_TURNS + 1; // what is remembered of these is not of the next wave
    for (int sm = 0; sm < profile.sm_count; sm++) replayed->misses[sm].count = 0;
}

// ---- L1 ----

static Cache *l1_of(u32 sm)
{
    Cache *c = &replayed->l1[sm];
    if (!c->set && !cache_make(c, replayed->l1_bytes, profile.l1_ways)) no_memory();
    c->uneven = L1_UNEVEN;
    return c;
}

// The accesses of an SM, one after another.
typedef struct Replay {
    Cache *cache;
    CacheQueue queue;
    Notes *misses;
    Found *found;
    u64 number;
    CacheLine *line;
    Stores stores;
} Replay;

// Loads and stores make room: the line, now the one used last. Often it is the one that was asked
// for just before.
static inline CacheLine *l1_line(Replay *r, CacheSet *set, u64 number)
{
    CacheLine evicted;
    if (r->number == number) return r->line;
    r->number = number;
    return r->line = cache_take(r->cache, set, number, &evicted);
}

// Returns the sectors that go to L2 at once. Where atomics say where a warp stores, its neighbours
// on the GPU are others than here.
static inline u32 l1_store(Replay *r, Note n, bool placed)
{
    r->stores.count++;
    while (stores_is_due(&r->stores, profile.l1_waiting_lines))
        add_note(r->misses, stores_next(&r->stores));
    if (!note_more(n) || placed) return note_sectors(n);
    stores_wait(&r->stores, n);
    return 0;
}

// A store hits where any sector of the line is there. A load that is asked for again finds all that
// it wants. What L2 changes, or is to be asked for, is not kept.
static inline void l1_replay(Replay *r, CacheAsked a)
{
    const Note n = a.what;
    u32 kind = note_kind(n), missing = note_sectors(n);
    u64 number = note_number(n);
    if (kind != LOAD && !note_is_store(n)) {
        CacheLine *line = cache_find(r->cache, number);
        if (line) *line &= ~(CacheLine)missing;
        r->number = 0;
    } else {
        CacheLine *line = l1_line(r, a.set, number);
        Found *f = &r->found[note_pc(n)];
        u32 present = cache_present(*line), fresh = missing & ~present,
            hits = kind == LOAD ? missing & present
                 : present      ? missing
                                : 0;
        *(number & LOCAL_LINE ? &f->local_hits : &f->hits) +=
            __builtin_popcount(hits) + a.again * __builtin_popcount(missing);
        if (fresh) *line |= fresh;
        missing = kind == LOAD ? fresh : l1_store(r, n, a.by);
    }
    if (missing) add_note(r->misses, (n & ~(15ull << AT_SECTORS)) | (u64)missing << AT_SECTORS);
}

// The blocks of the wave on one SM, in thread `me`; next[b] is the one after b, or -1.
static void replay_sm(const Wave *wave, u32 me, u32 sm, s32 first, const s32 *next)
{
    Replay r = { .cache = l1_of(sm),
                 .misses = &replayed->misses[sm],
                 .found = replayed->found + (size_t)me * replayed->found_each };
    u32 blocks = 0;
    for (s32 b = first; b >= 0; b = next[b]) blocks++;
    cache_use(r.cache,
              wave->cut && blocks < replayed->resident ? (double)blocks / replayed->resident : 1);
    bool left = true;
    Note last = 0;
    for (u64 from = 0; left; from += TURN) {
        left = false;
        for (s32 b = first; b >= 0; b = next[b]) {
            const Note *note = wave->all + wave->block[b].first;
            u32 count = wave->block[b].count;
            for (u64 k = from; k < count && k < from + TURN; last = note[k++]) {
                if (note[k] == last && note_kind(last) == LOAD) {
                    cache_ask_again(&r.queue);
                    continue;
                }
                if (cache_queue_is_full(&r.queue)) l1_replay(&r, cache_next(&r.queue));
                cache_ask(&r.queue, r.cache, note_number(note[k]), note[k], wave->block[b].placed);
            }
            left |= from + TURN < count;
        }
    }
    while (!cache_queue_is_empty(&r.queue)) l1_replay(&r, cache_next(&r.queue));
    for (r.stores.count += MOST_WAITING; stores_is_due(&r.stores, 0);)
        add_note(r.misses, stores_next(&r.stores));
}

// What the SMs do with it, each by itself.
typedef struct Sms {
    const Wave *wave;
    s32 *first, *next;
    atomic_uint taken;
} Sms;

static void replay_sms(void *of, u32 me)
{
    Sms *s = of;
    for (u32 sm; (sm = atomic_fetch_add(&s->taken, 1)) < (u32)profile.sm_count;)
        if (s->first[sm] >= 0) replay_sm(s->wave, me, sm, s->first[sm], s->next);
}

// `alone`: other threads may have something else to do.
static void replay_wave(Wave *w, bool alone)
{
    Sms s = { .wave = w,
              .first = malloc(profile.sm_count * sizeof *s.first),
              .next = malloc((w->blocks + 1) * sizeof *s.next) };
    if (!s.first || !s.next) no_memory();
    replayed = w->grid;
    for (int sm = 0; sm < profile.sm_count; sm++) s.first[sm] = -1;
    for (u32 b = w->blocks; b-- > 0;)
        s.next[b] = s.first[w->block[b].sm], s.first[w->block[b].sm] = b;
    if (alone || w->notes < FEW_NOTES) replay_sms(&s, 0);
    else worker_share(replay_sms, &s), worker_join();
    free(s.first);
    free(s.next);
    w->blocks = 0;
    w->notes = 0;
    replay_misses();
}

static void replay(void *wave) { replay_wave(wave, true); }

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

// What a block has noted.
typedef struct Done {
    u32 sm, count;
    bool placed;
    Note note[];
} Done;

// Hands it to the wave.
static void join_wave(const Note *notes, u32 count, u32 sm, bool placed)
{
    Wave *w = now->wave;
    if (w->blocks == w->room) {
        w->room = w->room ? 2 * w->room : 256;
        w->block = realloc(w->block, w->room * sizeof *w->block);
        if (!w->block) no_memory();
    }
    if (w->notes + count > w->notes_room) {
        w->notes_room = 2 * (w->notes + count);
        w->all = realloc(w->all, w->notes_room * sizeof *w->all);
        if (!w->all) no_memory();
    }
    w->block[w->blocks].first = w->notes;
    w->block[w->blocks].count = count;
    w->block[w->blocks].placed = placed;
    w->block[w->blocks++].sm = sm;
    if (count) memcpy(w->all + w->notes, notes, count * sizeof *notes);
    w->notes += count;
}

// Does each of its warps ask an atomic? Then it is likely to be told where to store.
static bool is_placed(const Block *b) { return caches_block(b)->atomics >= b->warp_count; }

static void join_block(Block *b)
{
    join_wave(caches_block(b)->all.note, caches_block(b)->all.count, b->sm, is_placed(b));
    caches_block(b)->all.count = 0;
}

// A warp has made a store: does it make the next one before the others have had their turn? The
// more lines the first one has, the longer they have had time to.
static bool goes_on(const Notes *n, u32 warp)
{
    u32 pc = note_pc(n->note[n->taken - 1]), lines = 1;
    if (note_pc(n->note[n->taken]) == pc || !note_is_store(n->note[n->taken - 1])) return true;
    while (lines < n->taken && note_pc(n->note[n->taken - 1 - lines]) == pc) lines++;
    return mixed(warp, n->taken) % (1 + lines) == 0;
}

static inline bool is_store_next(const Notes *n)
{
    return n->taken < n->count && note_is_store(n->note[n->taken]);
}

// Does the warp miss its turn? Schedulers prefer the older ones: the younger it is, and the fuller
// the SM, the further it falls behind. So it does with stores, and with loads of local memory; of
// what warps share, the one ahead brings what those behind find sooner.
static inline bool is_late(const Block *b, u32 warp, u32 turn)
{
    const Notes *n = &caches_block(b)->warps[warp];
    const Note next = n->note[n->taken];
    const u32 late = LATE[note_number(next) / LOCAL_LINE][note_kind(next)];
    return late
        && mixed(b->number * b->warp_count + warp, turn)
                   % (100 * profile.max_threads_per_sm / LANES)
               < late * now->resident * warp;
}

// The warps' notes, one of each in turn, and the store behind that.
static void put_in_turn(Block *b)
{
    CachedBlock *cached = caches_block(b);
    u32 total = 0;
    for (u32 w = 0; w < b->warp_count; w++) total += cached->warps[w].count;
    make_room(&cached->all, total);
    Note *to = cached->all.note + cached->all.count;
    const Note *end = to + total;
    u32 asked =
        b->grid->kernel->local_bytes || now->spills.loads ? -1u : 0; // the warps that may be late
    for (u32 w = 0; w < b->warp_count; w++) asked |= (u32)is_store_next(&cached->warps[w]) << w;
    for (u32 turn = 0; to < end; turn++)
        for (u32 w = 0; w < b->warp_count; w++) {
            Notes *n = &cached->warps[w];
            if (n->taken == n->count || (asked >> w & 1 && is_late(b, w, turn))) continue;
            do *to++ = n->note[n->taken++];
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

// Of the sizes that shared memory can have, the driver takes the least with room for twice as many
// blocks as otherwise fit, or for four times as many of a kernel that has none, up to the most that
// an SM takes; if none has it, the least that holds them (so 45 of 46 kernels on an H200, driver
// 580).
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
    now->found_each = g->kernel->code_count + HOST_LINE / sizeof *now->found;
    now->found = now->l2.found =
        calloc((size_t)worker_count() * now->found_each, sizeof *now->found);
    if (!now->wave) now->wave = begin_wave();
    if (!now->l1 || !now->misses || !now->recent || !now->drift || !now->l2.found) no_memory();
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
    for (u32 w = 0; w < b->warp_count; w++) free(caches_block(b)->warps[w].note);
    free(caches_block(b)->warps);
    free(caches_block(b)->all.note);
    free(caches_block(b));
}

static enum kind kind_of(const Access *a)
{
    if (a->atomic) return a->insn->reduces ? REDUCTION : ATOMIC_KIND;
    if (a->store) return STORE;
    return coalesce_past_l1(a->insn) ? LOAD_PAST_L1 : LOAD;
}

// A number that no other line has, in the bits that a note has for it.
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

// As notes of instructions behind the last one; the lanes' words side by side are a line.
static void write_spills(const Block *b, u32 warp, bool stores, Note *to, u32 count)
{
    const Kernel *k = b->grid->kernel;
    const u32 words = k->hardware_local / WORD_BYTES;
    const u64 first =
        (b->number % ((u64)profile.sm_count * now->resident) * b->warp_count + warp) * words;
    const Note note = (u64)(k->code_count + stores) << AT_PC
                    | (u64)(stores ? STORE : LOAD) << AT_KIND
                    | (u64)((1 << LINE_SECTORS) - 1) << AT_SECTORS;
    for (u32 n = 0; n < count; n++) to[n] = note | (LOCAL_LINE + (first + n % words) % LOCAL_LINE);
}

// Around what the warps have done since they last met.
static void note_spills(Block *b)
{
    const u32 before = now->spills.words_stored, behind = now->spills.words_loaded;
    if (!before && !behind) return;
    for (u32 w = 0; w < b->warp_count; w++) {
        Notes *n = &caches_block(b)->warps[w];
        make_room(n, before + behind);
        memmove(n->note + before, n->note, n->count * sizeof *n->note);
        n->count += before + behind;
        write_spills(b, w, true, n->note, before);
        write_spills(b, w, false, n->note + n->count - behind, behind);
    }
}

static bool is_host_memory(const Access *a)
{
    return a->space == SPACE_GLOBAL && a->base >= MEMORY_PINNED;
}

// Where a warp is to note what it does next.
static Notes *notes_of(Block *b, u32 warp)
{
    CachedBlock *cached = caches_block(b);
    if (warp < cached->latest || cached->warps[warp].count >= MOST_OF_WARP) put_in_turn(b);
    cached->latest = warp;
    return &cached->warps[warp];
}

// Of a load or a store to global memory.
static inline void note_lines(Notes *to, Note note, bool store, u64 first,
                              const struct PatternLines *lines)
{
    make_room(to, FEW_LINES);
    for (u32 n = 0; n < lines->count; n++) {
        u64 more = store ? note_of_words(lines->sectors[n], lines->words[n]) : 0;
        to->note[to->count++] = note | more | number_of_global(first + lines->line[n])
                              | (u64)lines->sectors[n] << AT_SECTORS;
    }
}

static bool caches_access(Access *a)
{
    Block *b = a->warp->block;
    if (a->space == SPACE_SHARED || access_is_constant(a) || access_is_in_registers(a)
        || is_host_memory(a))
        return true;
    enum kind kind = kind_of(a);
    Notes *to = notes_of(b, a->warp->number);
    caches_block(b)->atomics += kind == ATOMIC_KIND;
    Note note = (u64)a->pc << AT_PC | (kind == STORE ? 0 : (u64)kind << AT_KIND);
    const struct PatternLines *lines = access_lines(a);
    if (lines) {
        note_lines(to, note, kind == STORE, a->base / LINE_BYTES, lines);
        a->sectors = lines->all;
        a->lines = lines->count;
        return true;
    }
    Piece pieces[MOST_PIECES];
    u32 count = access_pieces(a, pieces);
    for (u32 n = 0; n < count; n++) {
        u64 more = 0;
        if (kind == STORE) more = note_of_words(pieces[n].sectors, pieces[n].words);
        else if (a->atomic)
            more = (u64)((pieces[n].passes - __builtin_popcount(pieces[n].sectors)) & 63)
                << AT_MORE;
        add_note(to,
                 note | more | number_of(a, pieces[n].line) | (u64)pieces[n].sectors << AT_SECTORS);
    }
    return true;
}

static void caches_glance(Warp *w, const Insn *i, u32 pc, u64 address,
                          const struct PatternLines *lines)
{
    Block *b = w->block;
    const Note note = (u64)pc << AT_PC;
    if (i->row == ROW_ld_const) return;
    if (isa_rows[i->row].store)
        note_lines(notes_of(b, w->number), note, true, address / LINE_BYTES, lines);
    else
        note_lines(notes_of(b, w->number),
                   note | (u64)(coalesce_past_l1(i) ? LOAD_PAST_L1 : LOAD) << AT_KIND, false,
                   address / LINE_BYTES, lines);
}

static void caches_swept(Block *b, u32 bit)
{
    const AccessSweep *f = &b->sweep;
    Note next[MOST_SWEEP_STEPS];
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
            Notes *to = notes_of(b, warp);
            make_room(to, lines);
            for (u32 k = 0; k < lines; k++) to->note[to->count++] = next[at]++;
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
    if (whole || now->wave->notes >= MOST_NOTES) end_wave(!whole);
}

static void done_later(Grid *g, void *what, bool dropped)
{
    (void)g;
    const Done *d = what;
    if (dropped) return;
    join_wave(d->note, d->count, d->sm, d->placed);
    end_block();
}

static void caches_block_end(Block *b)
{
    note_spills(b);
    put_in_turn(b);
    const Notes *all = &caches_block(b)->all;
    if (b->grid->shard) {
        Done *d = grid_defer(b->grid, done_later, sizeof *d + all->count * sizeof *all->note);
        *d = (Done){ .sm = b->sm, .count = all->count, .placed = is_placed(b) };
        if (all->count) memcpy(d->note, all->note, all->count * sizeof *all->note);
    } else {
        join_block(b);
        end_block();
    }
}

static void caches_grid_end(Grid *g)
{
    worker_wait();
    now->wave->cut = false;
    replay_wave(now->wave, false);
    for (u32 n = 0; n < worker_count(); n++) {
        for (u32 stores = 0; stores < 2; stores++) {
            const Found *f =
                &now->found[(size_t)n * now->found_each + g->kernel->code_count + stores];
            now->spilled[stores].local_hits += f->local_hits;
            now->spilled[stores].dram_sectors += f->dram_sectors;
        }
        for (u32 pc = 0; pc < g->kernel->code_count; pc++) {
            const Found *f = &now->found[(size_t)n * now->found_each + pc];
            Counts *t = &counts_of(g)[pc];
            t->global.hits += f->hits;
            t->local.hits += f->local_hits;
            t->l2_misses += f->l2_misses;
            t->dram_sectors += f->dram_sectors;
        }
    }
    free(now->found);
    now->found = now->l2.found = NULL;
}

static void caches_grid_turn(Grid *g) { now = caches_grid(g); }

static void free_grid(CachedGrid *c)
{
    for (int sm = 0; sm < profile.sm_count; sm++) cache_free(&c->l1[sm]), free(c->misses[sm].note);
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
    .known_lines = caches_glance,
    .swept = caches_swept,
    .frugal = true,
    .block_end = caches_block_end,
    .grid_end = caches_grid_end,
    .grid_turn = caches_grid_turn,
    .grid_free = caches_grid_free,
};

// ---- What others ask and tell ----

const Traffic *caches_traffic(void) { return &now->l2.traffic; }
Found caches_spilled(bool stores) { return now->spilled[stores]; }
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
