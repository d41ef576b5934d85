// The replay of a wave: in each SM's L1 its blocks take turns of a few line accesses; then the SMs'
// misses, likewise, go through the coalescers of their GPCs to L2. (caches.c explains the order.)
#include "wave.h"
#include <stdatomic.h>
#include <stdlib.h>

#include "machine/profile.h"
#include "machine/worker.h"
#include "memory/writer.h"
#include "stores.h"

enum { FEW_LINE_ACCESSES = 1 << 12 }; // of a wave, for which no thread is woken
enum { TURN = 8 };                    // line accesses that a block, or an SM, replays at a time
enum { AHEAD = 4 };                   // SMs whose reads are prefetched before their turn
enum { L1_UNEVEN = 7 };               // fitted on an H200: kernels reread_192_kb and reread_240_kb
enum {
    STEPS = 16,
    DRIFT = 10
}; // of a turn, and the most that an SM gains or loses in it: fitted, kernels matmul_columns,
   // matmul_naive and matmul_registers

static CachedGrid
    *replayed; // the grid whose wave is replayed, perhaps by another thread (machine/worker.h)

static inline Read *read_of(u32 gpc, LineAccess n)
{
    return &replayed->recent[gpc * RECENT
                             + (line_access_number(n) ^ line_access_number(n) >> 12) % RECENT];
}

// Has another SM of the GPC read the same at about this time? Then one answer serves both.
static bool is_coalesced(u32 gpc, s32 when, LineAccess n)
{
    Read *r = read_of(gpc, n);
    bool same = r->number == line_access_number(n) && abs(when - r->when) <= RECENT_TURNS * STEPS
             && r->merged < profile.l2_reads_merged;
    if (!same) *r = (Read){ .number = line_access_number(n), .when = when };
    if (line_access_sectors(n) & ~r->sectors) r->sectors |= line_access_sectors(n), same = false;
    r->merged++;
    return same;
}

// Inline because gcc drops calls of functions that only prefetch.
static inline __attribute__((always_inline)) void expect_reads(u32 sm, u64 from)
{
    const LineAccesses *n = &replayed->misses[sm];
    for (u64 k = from; k < from + TURN && k < n->count; k += 2)
        __builtin_prefetch(read_of(sm % profile.gpc_count, n->line[k]), 1);
}

static void replay_misses(void)
{
    bool left = true;
    for (u64 from = 0; left; from += TURN) {
        u32 turn = replayed->l2.turn = replayed->turn++;
        left = false;
        for (int sm = 0; sm < profile.sm_count; sm++) {
            const LineAccesses *n = &replayed->misses[sm];
            u64 to = from + TURN < n->count ? from + TURN : n->count;
            if (sm + AHEAD < profile.sm_count) expect_reads(sm + AHEAD, from);
            u32 gpc = sm % profile.gpc_count,
                partition = gpc * profile.l2_partitions / profile.gpc_count;
            s32 when = (s32)turn * STEPS
                     + (replayed->drift[sm] += (s32)(mixed(sm, turn) % (2 * DRIFT + 1)) - DRIFT);
            for (u64 k = from; k < to; k++)
                if (line_access_kind(n->line[k]) == LOAD && is_coalesced(gpc, when, n->line[k]))
                    l2_coalesced(&replayed->l2, n->line[k]);
                else l2_access(&replayed->l2, n->line[k], partition);
            left |= to < n->count;
        }
    }
    l2_finish();
    replayed->turn += RECENT_TURNS + 1; // reads of this wave do not merge with the next one's
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

// The replay of one SM's accesses.
typedef struct L1Replay {
    Cache *cache;
    CacheQueue queue;
    LineAccesses *misses;
    CacheTally *cache_tally;
    u64 number;
    CacheLine *line;
    Stores stores;
} L1Replay;

// Which words a kernel has stored to. Of a STORE_OF_EACH, and of an atomic, all in its sectors.
static void note_written(LineAccess n)
{
    enum { WORDS = LINE_SECTORS * SECTOR_WORDS };
    u8 *line = writers + (line_access_number(n) - 1) * WORDS;
    u32 sectors = line_access_sectors(n);
    bool parts =
        line_access_is_store(n) && line_access_kind(n) != STORE_OF_EACH && line_access_more(n);
    for (u32 s = 0; s < LINE_SECTORS; s++) {
        u32 words = !(sectors >> s & 1) ? 0 : parts ? line_access_words(n, s) : ALL_WORDS;
        for (u32 w = 0; w < SECTOR_WORDS; w++)
            if (words >> w & 1) line[s * SECTOR_WORDS + w] = WRITER_KERNEL;
    }
}

// Loads and stores allocate the line, which becomes the most recently used. Often it is the line of
// the access before.
static inline CacheLine *l1_line(L1Replay *r, CacheSet *set, u64 number)
{
    CacheLine evicted;
    if (r->number == number) return r->line;
    r->number = number;
    return r->line = cache_take(r->cache, set, number, &evicted);
}

// Returns the sectors that go to L2 at once. Where atomics decide where warps store, their
// neighbours on the GPU differ from those here.
static inline u32 l1_store(L1Replay *r, LineAccess n, bool placed)
{
    r->stores.count++;
    while (stores_is_due(&r->stores, profile.l1_waiting_lines))
        add_line_access(r->misses, stores_next(&r->stores));
    if (!line_access_more(n) || placed) return line_access_sectors(n);
    stores_wait(&r->stores, n);
    return 0;
}

// A store hits if any sector of its line is present. A repeated load hits with all its sectors.
// What L2 modifies, or what bypasses L1, is not kept.
static inline void l1_replay(L1Replay *r, CacheAsked a)
{
    const LineAccess n = a.what;
    u32 kind = line_access_kind(n), missing = line_access_sectors(n);
    u64 number = line_access_number(n);
    if (writers && kind >= STORE && number < LOCAL_LINE) note_written(n);
    if (kind != LOAD && !line_access_is_store(n)) {
        CacheLine *line = cache_find(r->cache, number);
        if (line) *line &= ~(CacheLine)missing;
        r->number = 0;
    } else {
        CacheLine *line = l1_line(r, a.set, number);
        CacheTally *f = &r->cache_tally[line_access_pc(n)];
        u32 present = cache_present(*line), fresh = missing & ~present,
            hits = kind == LOAD ? missing & present
                 : present      ? missing
                                : 0;
        *(number & LOCAL_LINE ? &f->local_hits : &f->hits) +=
            __builtin_popcount(hits) + a.again * __builtin_popcount(missing);
        if (fresh) *line |= fresh;
        missing = kind == LOAD ? fresh : l1_store(r, n, a.by);
    }
    if (missing)
        add_line_access(r->misses, (n & ~(15ull << AT_SECTORS)) | (u64)missing << AT_SECTORS);
}

// The wave's blocks on one SM, in thread `me`; next[b] is the block after b, or -1.
static void replay_sm(const Wave *wave, u32 me, u32 sm, s32 first, const s32 *next)
{
    L1Replay r = { .cache = l1_of(sm),
                   .misses = &replayed->misses[sm],
                   .cache_tally =
                       replayed->cache_tally + (size_t)me * replayed->cache_tally_stride };
    u32 blocks = 0;
    for (s32 b = first; b >= 0; b = next[b]) blocks++;
    cache_use(r.cache,
              wave->cut && blocks < replayed->resident ? (double)blocks / replayed->resident : 1);
    bool left = true;
    LineAccess last = 0;
    for (u64 from = 0; left; from += TURN) {
        left = false;
        for (s32 b = first; b >= 0; b = next[b]) {
            const LineAccess *note = wave->all + wave->block[b].first;
            u32 count = wave->block[b].count;
            for (u64 k = from; k < count && k < from + TURN; last = note[k++]) {
                if (note[k] == last && line_access_kind(last) == LOAD) {
                    cache_ask_again(&r.queue);
                    continue;
                }
                if (cache_queue_is_full(&r.queue)) l1_replay(&r, cache_next(&r.queue));
                cache_ask(&r.queue, r.cache, line_access_number(note[k]), note[k],
                          wave->block[b].placed);
            }
            left |= from + TURN < count;
        }
    }
    while (!cache_queue_is_empty(&r.queue)) l1_replay(&r, cache_next(&r.queue));
    for (r.stores.count += MOST_WAITING; stores_is_due(&r.stores, 0);)
        add_line_access(r.misses, stores_next(&r.stores));
}

// The replay of all SMs, each by itself.
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

void wave_replay(Wave *w, bool alone)
{
    Sms s = { .wave = w,
              .first = malloc(profile.sm_count * sizeof *s.first),
              .next = malloc((w->blocks + 1) * sizeof *s.next) };
    if (!s.first || !s.next) no_memory();
    replayed = w->grid;
    for (int sm = 0; sm < profile.sm_count; sm++) s.first[sm] = -1;
    for (u32 b = w->blocks; b-- > 0;)
        s.next[b] = s.first[w->block[b].sm], s.first[w->block[b].sm] = b;
    if (alone || w->line_accesses < FEW_LINE_ACCESSES) replay_sms(&s, 0);
    else worker_share(replay_sms, &s), worker_join();
    free(s.first);
    free(s.next);
    w->blocks = 0;
    w->line_accesses = 0;
    replay_misses();
}
