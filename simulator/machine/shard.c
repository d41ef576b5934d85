// Runs blocks that cannot communicate in several threads, speculatively. Each thread has a Grid of
// its own, a shard, and runs chunks of consecutive blocks. For each chunk it is noted which bytes
// it wrote, and which bytes it read of allocations that the kernel writes; memory is saved before
// the first write to it. If no byte was touched by two chunks with a write among them, every block
// has read and written what it would have in sequence, and the chunks are committed. Otherwise, and
// whenever something depends on the order of blocks (an error, a report, memory of the host's),
// memory is rolled back and the same blocks run one after another, and these make the reports. So
// results, counters, reports and their order do not depend on the number of threads, even in
// programs with races.
//
// Kernels with atomics, fences, volatile or other strong accesses, clocks, or calls of printf,
// malloc or assert are not sharded, because their blocks communicate or depend on order.
//
// Chunks form a batch, from which threads take the lowest remaining one. While a batch runs, the
// master thread executes what observers deferred in the batch before it, in the order of its blocks
// (grid_defer). The first batch is a single chunk; it shows to which allocations the kernel stores.
// Of other allocations only the fact is noted that they were read.
#include "shard.h"
#include <driver_types.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>

#include "block.h"
#include "memory/memory.h"
#include "profile.h"
#include "report/report.h"
#include "access_pattern.h"
#include "special.h"
#include "worker.h"
#include "base/array.h"
#include "base/need.h"

enum {
    CHUNK_STEPS = 1 << 13,
    MOST_BLOCKS = 256
}; // of a chunk: approximate warp instructions; most blocks
enum { CHUNKS_EACH = 8, MOST_CHUNKS = 512 }; // of a batch: for each thread; in all
static u64 enough_steps = 40000; // warp instructions left to run, below which no thread is woken
enum {
    MOST_FAILURES = 2
}; // consecutive rollbacks of a launch before it is no longer sharded, and of launches of a kernel
enum { UNIT = 512, UNIT_WORDS = UNIT / 64 }; // bytes of memory that are saved together
enum {
    MUCH_SAVED = 1 << 14,
    TOO_MUCH_SAVED = 1 << 19
}; // units: a thread takes no further chunk; the batch is aborted
enum { MANY_TOUCHES = 1 << 18 };
enum { MOST_REGIONS = 8 };
enum { RECENT = 32, MEGABYTE = 1 << 20 };

typedef struct Touch {
    u64 address;
    u32 bytes;
    bool store;
} Touch;

// The lowest and the highest byte that a chunk touched of an allocation to which the kernel stores.
typedef struct Region {
    const Allocation *in;
    u64 low, high;
} Region;

typedef struct Chunk {
    _Alignas(128) u64 first,
        end; // its blocks; aligned so that threads share no cache line of the host
    Array touches, deferred;
    Region region[MOST_REGIONS];
    u32 region_count; // above MOST_REGIONS: some are missing
} Chunk;

// A deferred call; `bytes` bytes of argument follow it.
typedef struct Deferred {
    void (*then)(Grid *, void *, bool dropped);
    u64 bytes;
} Deferred;

typedef struct Read {
    const Allocation *in;
} Read;

typedef struct SavedUnit {
    u64 number;
    u64 defined[UNIT_WORDS];
    u8 bytes[UNIT];
} SavedUnit;

typedef struct Shard {
    Grid grid;
    struct Sharding *sharding;
    Block *block;
    Chunk *chunk;               // the current one
    Array saved, read;          // saved units; allocations that were only read, as far as is known
    Allocation *latest[RECENT]; // a cache: the allocation touched last in each megabyte
    bool refused;               // a report was suppressed
} Shard;

typedef struct Batch {
    Chunk *chunk;
    u32 room, wanted;
} Batch;

typedef struct Sharding {
    Grid *grid;
    Shard **shard; // of each thread
    u32 shard_count;
    Batch batch[2], *now;   // while one batch runs, the deferred calls of the other are executed
    atomic_uint claimed;    // chunks that threads have taken
    atomic_bool full, over; // no more chunks are taken; the batch is aborted
    u64 chunk_blocks;
    u32 number;              // of the batch among those of all launches
    bool learns, has_learnt; // the first batch runs, or has run: it learns to which allocations the
                             // kernel stores
    bool given_up;
    u32 failures;
} Sharding;

static void *reserve(u64 bytes)
{
    return need(mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

// ---- Which launches ----

void shard_set_threshold(u64 steps) { enough_steps = steps; }

static bool may_shard(Kernel *k) { return !kernel_communicates(k) && k->failures < MOST_FAILURES; }

void shard_start(Grid *g)
{
    if (g->launch->cooperative || g->cluster_blocks > 1 || g->blocks < 3 || worker_count() < 2
        || !may_shard(g->kernel))
        return;
    for (u32 o = 0; o < observer_count; o++)
        if (observers[o]->needs_block_order && observers[o]->needs_block_order(g)) return;
    g->sharding = need(calloc(1, sizeof *g->sharding));
    g->sharding->grid = g;
}

// ---- What a shard notes ----

static u64
    *marked[2]; // bytes that chunks have read, and written, during the comparison of their touches
static _Atomic u32
    *saved_in; // for each unit: 2 * the batch in which it was saved; 1 less while a thread saves it
static u32 batches; // batches so far
static ShardTally tally;

ShardTally shard_tally(void) { return tally; }

static void abort_shards(Shard *p)
{
    p->refused = true;
    atomic_store(&p->sharding->over, true);
}

void shard_abort(Grid *shard) { abort_shards(shard->shard); }

bool shard_is_aborted(const Grid *shard)
{
    Shard *p = shard->shard;
    if (p->refused) abort_shards(p);
    return atomic_load_explicit(&p->sharding->over, memory_order_relaxed);
}

void *grid_defer(Grid *shard, void (*then)(Grid *, void *, bool), size_t bytes)
{
    enum { AHEAD = 512 }; // bytes to prefetch
    bytes = (bytes + 7) / 8 * 8;
    Deferred *l = array_add(&shard->shard->chunk->deferred, sizeof *l + bytes);
    __builtin_prefetch((u8 *)l + AHEAD, 1);
    *l = (Deferred){ then, bytes };
    return l + 1;
}

// Saves the unit, unless it has been saved in this batch.
static void save(Shard *p, u64 unit)
{
    _Atomic u32 *in = &saved_in[unit];
    const u32 done = 2 * p->sharding->number;
    for (u32 was = atomic_load_explicit(in, memory_order_acquire); was != done;
         was = atomic_load_explicit(in, memory_order_acquire)) {
        if (was == done - 1) {
            sched_yield();
        } else if (atomic_compare_exchange_strong(in, &was, done - 1)) {
            SavedUnit *k = array_add(&p->saved, sizeof *k);
            k->number = unit;
            memcpy(k->bytes, (void *)(MEMORY_BASE + unit * UNIT), UNIT);
            for (u32 n = 0; n < UNIT_WORDS; n++)
                k->defined[n] =
                    __atomic_load_n(&memory_defined_bits[unit * UNIT_WORDS + n], __ATOMIC_RELAXED);
            atomic_store_explicit(in, done, memory_order_release);
        }
    }
}

static void note_region(Chunk *c, const Allocation *in, u64 low, u64 high)
{
    u32 n = 0;
    while (n < c->region_count && n < MOST_REGIONS && c->region[n].in != in) n++;
    if (n == MOST_REGIONS || n == c->region_count) {
        if (n < MOST_REGIONS) c->region[n] = (Region){ in, low, high };
        c->region_count = n + 1;
        return;
    }
    Region *r = &c->region[n];
    if (low < r->low) r->low = low;
    if (high > r->high) r->high = high;
}

static void note_touch(Shard *p, const Allocation *in, u64 address, u32 bytes, bool store)
{
    Array *all = &p->chunk->touches;
    Touch *before = all->count ? (Touch *)((u8 *)all->items + all->count) - 1 : NULL;
    note_region(p->chunk, in, address, address + bytes);
    if (before && before->store == store && before->address + before->bytes == address
        && before->bytes < MEGABYTE)
        before->bytes += bytes;
    else *(Touch *)array_add(all, sizeof(Touch)) = (Touch){ address, bytes, store };
    u64 first = (address - MEMORY_BASE) / UNIT, last = (address + bytes - 1 - MEMORY_BASE) / UNIT;
    for (u64 unit = first; store && unit <= last; unit++) save(p, unit);
}

static void note_read(Shard *p, const Allocation *in)
{
    EACH_OF (Read, r, &p->read)
        if (r->in == in) return;
    *(Read *)array_add(&p->read, sizeof(Read)) = (Read){ in };
}

static bool is_stored_to(const Allocation *in, const Grid *g)
{
    return __atomic_load_n(&in->stored_by, __ATOMIC_RELAXED) == g->number;
}

static Allocation *allocation_at(Shard *p, u64 address)
{
    Allocation **a = &p->latest[address / MEGABYTE % RECENT];
    if (!*a || address - (*a)->base >= (*a)->size) *a = memory_find(address);
    return *a;
}

bool shard_may_store(const Grid *shard, u64 address)
{
    const Allocation *in = allocation_at(shard->shard, address);
    return !in || shard->shard->sharding->learns || is_stored_to(in, shard);
}

void shard_note(const Access *a)
{
    Shard *p = a->grid->shard;
    u64 from;
    const Span *spans = access_spans(a, &from);
    u64 low = ~0ull, high = 0;
    Allocation *in, *all = allocation_at(p, from + spans[0].address);
    for (u32 n = 0; n < a->span_count; n++) {
        u64 address = from + spans[n].address, end = address + spans[n].bytes;
        if (!(in = allocation_at(p, address))) continue;
        bool stored = is_stored_to(in, a->grid);
        if (a->store && !stored)
            __atomic_store_n(&in->stored_by, a->grid->number, __ATOMIC_RELAXED);
        if (a->store || stored) note_touch(p, in, address, spans[n].bytes, a->store);
        else note_read(p, in);
        if (a->store || stored || in != all) all = NULL;
        if (address < low) low = address;
        if (end > high) high = end;
    }
    if (all && a->pattern)
        a->pattern->noted = (Pass){ all->base + (a->base - low), all->size - (high - low) + 1 };
}

void shard_note_store(Grid *shard, u64 address, u32 bytes)
{
    Shard *p = shard->shard;
    Allocation *in = allocation_at(p, address);
    if (!is_stored_to(in, shard)) __atomic_store_n(&in->stored_by, shard->number, __ATOMIC_RELAXED);
    note_touch(p, in, address, bytes, true);
}

void shard_save_before(Access *a)
{
    if (!a->grid->shard || a->space != SPACE_GLOBAL || a->noted) return;
    shard_note(a);
    a->noted = true;
}

// ---- Threads ----

static void run_chunk(Shard *p, Chunk *c)
{
    Sharding *s = p->sharding;
    p->chunk = c;
    for (u64 n = c->first; n < c->end && !shard_is_aborted(&p->grid); n++) {
        block_start(p->block, n, n % profile.sm_count);
        if (!block_run(p->block)) abort_shards(p);
        else OBSERVERS(block_end, p->block);
    }
    if (p->refused || p->saved.count > TOO_MUCH_SAVED * sizeof(SavedUnit)) abort_shards(p);
    if (p->saved.count > MUCH_SAVED * sizeof(SavedUnit)
        || c->touches.count > MANY_TOUCHES * sizeof(Touch))
        atomic_store(&s->full, true);
}

static void work(void *with, u32 me)
{
    Sharding *s = with;
    Shard *p = s->shard[me];
    report_hold(&p->refused);
    while (!atomic_load(&s->full) && !atomic_load(&s->over)) {
        u32 n = atomic_fetch_add(&s->claimed, 1);
        if (n >= s->now->wanted) break;
        run_chunk(p, &s->now->chunk[n]);
    }
    report_hold(NULL);
}

static Shard *make_shard(Sharding *s)
{
    Shard *p = need(calloc(1, sizeof *p));
    const Kernel *k = s->grid->kernel;
    p->sharding = s;
    p->grid = *s->grid;
    Grid *g = &p->grid;
    g->shard = p;
    g->sharding = NULL;
    g->dynamic_launches = NULL;
    g->slots = NULL;
    g->slot_count = g->resident = 0;
    g->running = NULL;
    g->beyond = NULL;
    g->steps = 0;
    g->tally = need(calloc(k->code_count + 1, sizeof *g->tally));
    g->counts = need(calloc(k->code_count + 1, observer_count_bytes));
    g->patterns = access_patterns_make(k);
    if (!g->patterns) need(NULL);
    OBSERVERS(shard_make, g);
    p->block = need(block_make(g, 0));
    return p;
}

static void free_shard(Shard *p)
{
    block_free(p->block);
    OBSERVERS(shard_free, &p->grid);
    free(p->grid.tally);
    free(p->grid.counts);
    free(p->grid.patterns);
    free(p->grid.beyond);
    free(p->saved.items);
    free(p->read.items);
    free(p);
}

void shard_free(Grid *g)
{
    Sharding *s = g->sharding;
    if (!s) return;
    for (u32 n = 0; n < s->shard_count; n++) free_shard(s->shard[n]);
    for (u32 b = 0; b < 2; b++)
        for (u32 n = 0; n < s->batch[b].room; n++)
            free(s->batch[b].chunk[n].touches.items), free(s->batch[b].chunk[n].deferred.items);
    free(s->batch[0].chunk);
    free(s->batch[1].chunk);
    free(s->shard);
    free(s);
    g->sharding = NULL;
}

// ---- A batch ----

static void make(Sharding *s)
{
    s->shard_count = worker_count();
    s->shard = need(calloc(s->shard_count, sizeof *s->shard));
    for (u32 n = 0; n < s->shard_count; n++) s->shard[n] = make_shard(s);
    for (u32 b = 0; b < 2; b++) {
        Batch *batch = &s->batch[b];
        batch->room =
            CHUNKS_EACH * s->shard_count < MOST_CHUNKS ? CHUNKS_EACH * s->shard_count : MOST_CHUNKS;
        batch->chunk = need(aligned_alloc(_Alignof(Chunk), batch->room * sizeof *batch->chunk));
        memset(batch->chunk, 0, batch->room * sizeof *batch->chunk);
    }
    s->now = &s->batch[0];
    if (!saved_in) saved_in = reserve(MEMORY_SPAN / UNIT * sizeof *saved_in);
}

static void begin(Sharding *s, u64 steps_of_block)
{
    Grid *g = s->grid;
    s->now = s->now == s->batch ? s->batch + 1 : s->batch;
    s->number = ++batches;
    s->learns = !s->has_learnt;
    s->has_learnt = true;
    s->claimed = 0;
    s->full = s->over = false;
    u64 blocks = (enough_steps < CHUNK_STEPS ? enough_steps : CHUNK_STEPS) / (steps_of_block + 1),
        first = g->next, left = g->blocks - g->next;
    while (blocks & (blocks - 1))
        blocks &= blocks - 1; // a power of two, so that chunks of results end at a line of memory
    blocks = !blocks ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks;
    u64 most = s->learns ? 1 : s->now->room, chunks = (left + blocks - 1) / blocks;
    s->now->wanted = chunks < most ? chunks : most;
    for (u32 n = 0; n < s->now->wanted; n++, first += blocks) {
        Chunk *c = &s->now->chunk[n];
        c->first = first;
        c->end = first + blocks < g->blocks ? first + blocks : g->blocks;
        c->touches.count = c->deferred.count = c->region_count = 0;
    }
    for (u32 n = 0; n < s->shard_count; n++) {
        Shard *p = s->shard[n];
        p->refused = false;
        p->saved.count = p->read.count = 0;
        memset(p->latest, 0, sizeof p->latest);
        p->grid.status = 0;
        for (AccessPattern *k = p->grid.patterns; k < p->grid.patterns + g->kernel->pattern_count;
             k++)
            if (k->noted.span) k->noted.span = k->settled.span = 0;
    }
}

static u32 taken(const Sharding *s)
{
    return s->claimed < s->now->wanted ? s->claimed : s->now->wanted;
}

static bool is_disjoint(const Chunk *a, const Chunk *b)
{
    if (a->region_count > MOST_REGIONS || b->region_count > MOST_REGIONS) return false;
    for (const Region *r = a->region; r < a->region + a->region_count; r++)
        for (const Region *o = b->region; o < b->region + b->region_count; o++)
            if (r->in == o->in && r->low < o->high && o->low < r->high) return false;
    return true;
}

static bool regions_are_disjoint(const Chunk *c, u32 count)
{
    for (u32 n = 0; n < count; n++)
        for (u32 k = 0; k < n; k++)
            if (!is_disjoint(&c[n], &c[k])) return false;
    return true;
}

// Executes the statement for each bitmap word that covers these bytes.
#define EACH_WORD(t, word, bits, statement)                                                        \
    for (u64 at_ = (t)->address - MEMORY_BASE, left_ = (t)->bytes, n_; left_;                      \
         at_ += n_, left_ -= n_) {                                                                 \
        n_ = 64 - at_ % 64 < left_ ? 64 - at_ % 64 : left_;                                        \
        const u64 word = at_ / 64, bits = (n_ == 64 ? ~0ull : (1ull << n_) - 1) << at_ % 64;       \
        statement;                                                                                 \
    }

// Compares byte by byte, where the regions overlap.
static bool touches_are_disjoint(const Chunk *c, u32 count)
{
    bool disjoint = true;
    for (u32 k = 0; k < 2; k++)
        if (!marked[k]) marked[k] = reserve(MEMORY_SPAN / 8);
    for (u32 n = 0; n < count && disjoint; n++) {
        EACH_OF (const Touch, t, &c[n].touches)
            EACH_WORD(t, w, bits,
                      if ((marked[1][w] | (t->store ? marked[0][w] : 0)) & bits) disjoint = false)
        EACH_OF (const Touch, t, &c[n].touches) EACH_WORD(t, w, bits, marked[t->store][w] |= bits)
    }
    for (u32 n = 0; n < count; n++)
        EACH_OF (const Touch, t, &c[n].touches) EACH_WORD(t, w, bits, marked[t->store][w] &= ~bits)
    return disjoint;
}

static u64 steps_of(const Sharding *s)
{
    u64 steps = 0;
    for (u32 n = 0; n < s->shard_count; n++) steps += s->shard[n]->grid.steps;
    return steps;
}

// Would running the blocks in sequence have had the same results?
static bool is_consistent(Sharding *s)
{
    const Grid *g = s->grid;
    u64 limit = g->launch->limit;
    if (s->over || (limit && g->steps + steps_of(s) > limit)) return false;
    for (u32 n = 0; n < s->shard_count && !s->learns; n++)
        EACH_OF (Read, r, &s->shard[n]->read)
            if (is_stored_to(r->in, g)) return false;
    if (!regions_are_disjoint(s->now->chunk, taken(s))
        && !touches_are_disjoint(s->now->chunk, taken(s)))
        return false;
    Grid *shards[s->shard_count];
    for (u32 n = 0; n < s->shard_count; n++) shards[n] = &s->shard[n]->grid;
    for (u32 o = 0; o < observer_count; o++)
        if (observers[o]->shards_may_commit
            && !observers[o]->shards_may_commit(s->grid, shards, s->shard_count))
            return false;
    return true;
}

static void clear_counts(Shard *p)
{
    p->grid.steps = 0;
    memset(p->grid.tally, 0, p->grid.kernel->code_count * sizeof *p->grid.tally);
    memset(p->grid.counts, 0, (size_t)p->grid.kernel->code_count * observer_count_bytes);
}

static void add_sums(u64 *sums, const u64 *more, size_t bytes)
{
    for (size_t n = 0; n < bytes / sizeof *sums; n++) sums[n] += more[n];
}

static void add_counts(Grid *to, Shard *p)
{
    size_t count = to->kernel->code_count;
    add_sums((u64 *)to->tally, (const u64 *)p->grid.tally, count * sizeof *to->tally);
    add_sums(to->counts, p->grid.counts, count * observer_count_bytes);
    to->steps += p->grid.steps;
    to->progress++;
    clear_counts(p);
}

static void rollback(Shard *p)
{
    EACH_OF (const SavedUnit, k, &p->saved) {
        memcpy((void *)(MEMORY_BASE + k->number * UNIT), k->bytes, UNIT);
        memcpy(memory_defined_bits + k->number * UNIT_WORDS, k->defined, sizeof k->defined);
    }
    access_pattern_reset_passes(&p->grid);
    clear_counts(p);
    OBSERVERS(shard_rollback, &p->grid);
}

// Executes the deferred calls of the batch, or drops them.
static void run_deferred(Grid *g, Batch *b, u32 chunks, bool dropped)
{
    for (u32 n = 0; n < chunks; n++) {
        Array *all = &b->chunk[n].deferred;
        for (size_t at = 0; at < all->count;) {
            Deferred *l = (Deferred *)((u8 *)all->items + at);
            l->then(g, l + 1, dropped);
            at += sizeof *l + l->bytes;
        }
        all->count = 0;
    }
}

// ---- The main act ----

u64 shard_run(Grid *g)
{
    Sharding *s = g->sharding;
    Batch *before = NULL;
    u32 chunks = 0; // chunks of that batch
    bool good = true;
    while (good && !s->given_up && g->next && g->next < g->blocks) {
        u64 steps_of_block = g->steps / g->next;
        if (steps_of_block * (g->blocks - g->next) < enough_steps) break;
        if (!s->shard) make(s);
        begin(s, steps_of_block);
        if (!s->learns) worker_share(work, s);
        if (before) run_deferred(g, before, chunks, false), before = NULL;
        if (s->learns) work(s, 0);
        else worker_join();
        chunks = taken(s);
        u64 end = s->now->chunk[chunks - 1].end;
        good = is_consistent(s);
        if (good) {
            for (u32 n = 0; n < s->shard_count; n++) add_counts(g, s->shard[n]);
            g->next = end;
            before = s->now;
            tally.committed++;
            s->failures = 0;
        } else {
            for (u32 n = 0; n < s->shard_count; n++) rollback(s->shard[n]);
            run_deferred(g, s->now, chunks, true);
            tally.rolled_back++;
            if (++s->failures == MOST_FAILURES) s->given_up = true, g->kernel->failures++;
            return end;
        }
    }
    if (before) run_deferred(g, before, chunks, false);
    return g->next ? g->blocks : 1;
}
