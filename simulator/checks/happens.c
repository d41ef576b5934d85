// Vector clocks in the manner of FastTrack (Flanagan and Freund, PLDI 2009), for warps instead of
// threads: what one lane of a warp learns all of them know. So some races within a warp go unseen,
// and nothing is called a race that is none.
//
// A place that is written strongly carries a message: what its reader learns.
#include <stdlib.h>
#include <string.h>

#include "happens.h"
#include "machine/cluster.h"
#include "base/need.h"

// Who wrote a message, and when.
typedef struct Writer {
    u32 block, warp, tick;
} Writer;
enum { WRITERS = 8 };

typedef struct Place {
    u64 key;                // its address; 0: free
    u32 version;            // counts its messages
    Writer writer[WRITERS]; // of the last of them, each at its version % WRITERS
    Knowledge written; // whose writes are in what is there: the latest store, and the atomics since
    u32 block, cluster;         // for which the nearer messages are
    Knowledge message[REACHES]; // what a reader of the same block learns, one of the same cluster,
                                // and any other
    Knowledge hint;             // and would learn if there were fences
    Knowledge reads;            // and learns of loads, fences or not: see happens_before()
} Place;

static struct {
    Place *places;
    u32 count, room;
} table; // by hash, half of it free

static void clear_each(Knowledge of[REACHES])
{
    for (u32 reach = NEAR; reach < REACHES; reach++) knowledge_clear(&of[reach]);
}

static void free_each(Knowledge of[REACHES])
{
    for (u32 reach = NEAR; reach < REACHES; reach++) knowledge_free(&of[reach]);
}

static void join_each(Knowledge *to, const Knowledge from[REACHES])
{
    for (u32 reach = NEAR; reach < REACHES; reach++) knowledge_join(to, &from[reach]);
}

static void free_place(Place *p)
{
    free_each(p->message);
    knowledge_free(&p->written);
    knowledge_free(&p->hint);
    knowledge_free(&p->reads);
}

void happens_forget(void)
{
    for (u32 n = 0; table.count && n < table.room; n++) free_place(&table.places[n]);
    if (table.count) memset(table.places, 0, table.room * sizeof *table.places);
    table.count = 0;
}

// ---- Places ----

static Place *slot_for(Place *places, u32 room, u64 key)
{
    u32 n = (key * 0x9e3779b97f4a7c15ull) >> 32 & (room - 1);
    while (places[n].key && places[n].key != key) n = (n + 1) & (room - 1);
    return &places[n];
}

static void grow(void)
{
    u32 room = table.room ? 2 * table.room : 256;
    Place *larger = need(calloc(room, sizeof *larger));
    for (u32 n = 0; n < table.room; n++)
        if (table.places[n].key) *slot_for(larger, room, table.places[n].key) = table.places[n];
    free(table.places);
    table.places = larger;
    table.room = room;
}

// The shared memory of each slot has places of its own; those of blocks that have ended tell nobody
// anything.
static u64 key_of(const Access *a, u64 address)
{
    return a->space == SPACE_SHARED ? (u64)a->owner->shared + address : address;
}

static u32 number_of(const Block *b) { return race_grid(b->grid)->first_block + b->number; }

// The number of the first block of its cluster; without clusters each block is one.
static u32 cluster_of(const Block *b)
{
    return race_grid(b->grid)->first_block
         + (b->grid->cluster_blocks > 1
                ? (u32)cluster_first(b->grid->launch->grid, b->grid->launch->cluster, b->number)
                : b->number);
}

static Place *find_place(const Access *a, u64 address, bool make)
{
    u64 key = key_of(a, address);
    if (make && 2 * table.count >= table.room) grow();
    if (!table.count && !make) return NULL;
    Place *p = slot_for(table.places, table.room, key);
    if (p->key) return p;
    if (!make) return NULL;
    table.count++;
    p->key = key;
    return p;
}

// ---- Blocks ----

void happens_block_make(Block *b, BlockOrder *o)
{
    o->warps = need(calloc(b->warp_count, sizeof *o->warps));
}

static void free_knowledge(BlockOrder *o, u32 warps)
{
    for (u32 n = 0; n < warps; n++) {
        knowledge_free(&o->warps[n].known);
        free_each(o->warps[n].pending);
        knowledge_free(&o->warps[n].hint);
        knowledge_free(&o->warps[n].reads);
    }
    knowledge_free(&o->known);
    knowledge_free(&o->hint);
    knowledge_free(&o->reads);
}

void happens_block_free(BlockOrder *o, u32 warps)
{
    free_knowledge(o, warps);
    free(o->warps);
}

void happens_block_start(BlockOrder *o, u32 warps)
{
    WarpOrder *w = o->warps;
    if (o->told) {
        free_knowledge(o, warps);
        memset(w, 0, warps * sizeof *w);
    }
    *o = (BlockOrder){ .tick = 1, .warps = w };
}

void happens_block_end(BlockOrder *o, u32 warps, Knowledge *known)
{
    knowledge_join(known, &o->known);
    for (u32 n = 0; o->told && n < warps; n++) {
        knowledge_join(known, &o->warps[n].known);
        join_each(known, o->warps[n].pending);
    }
}

static u32 larger(u32 a, u32 b) { return a > b ? a : b; }

// Tick of warp v up to which this warp knows what it did.
static u32 own_tick(const BlockOrder *o, const WarpOrder *w, u32 v)
{
    return larger(o->all, w->own[v]);
}

// ---- Barriers ----

static void note_observed(Observed to[MOST_OBSERVED], Observed what)
{
    u32 n = 0;
    while (n < MOST_OBSERVED - 1 && to[n].key != what.key) n++;
    if (to[n].key == what.key) what.version = larger(what.version, to[n].version);
    memmove(to + 1, to, n * sizeof *to);
    to[0] = what;
}

static void join_observed(Observed to[MOST_OBSERVED], const Observed from[MOST_OBSERVED])
{
    for (u32 n = MOST_OBSERVED; n-- > 0;)
        if (from[n].key) note_observed(to, from[n]);
}

// The block's barrier is worth a fence behind what its threads read: that is how the last block of
// a reduction is told to go on.
static void share(BlockOrder *o, WarpOrder *w)
{
    knowledge_join(&o->known, &w->known);
    join_each(&o->known, w->pending);
    knowledge_join(&o->hint, &w->hint);
    knowledge_join(&o->reads, &w->reads);
    join_observed(o->observed, w->observed);
    memset(w->observed, 0, sizeof w->observed);
    knowledge_clear(&w->known);
    clear_each(w->pending);
    knowledge_clear(&w->hint);
    knowledge_clear(&w->reads);
}

void happens_barrier(Block *b, BlockOrder *o)
{
    for (u32 n = 0; o->told && n < b->warp_count; n++) share(o, &o->warps[n]);
    o->all = o->tick++;
}

void happens_part_barrier(Block *b, BlockOrder *o, u32 arrived, u32 freed)
{
    u32 latest[LANES] = { 0 };
    o->told = true;
    Knowledge known = { 0 }, hint = { 0 }, reads = { 0 };
    Observed observed[MOST_OBSERVED] = { { 0 } };
    for (u32 p = arrived; p; p &= p - 1) {
        u32 warp = __builtin_ctz(p);
        WarpOrder *w = &o->warps[warp];
        for (u32 v = 0; v < b->warp_count; v++)
            latest[v] = larger(latest[v], v == warp ? o->tick : w->own[v]);
        knowledge_join(&known, &w->known);
        join_each(&known, w->pending);
        knowledge_join(&hint, &w->hint);
        knowledge_join(&reads, &w->reads);
        join_observed(observed, w->observed);
    }
    for (u32 t = freed; t; t &= t - 1) {
        WarpOrder *w = &o->warps[__builtin_ctz(t)];
        for (u32 v = 0; v < b->warp_count; v++) w->own[v] = larger(w->own[v], latest[v]);
        knowledge_join(&w->known, &known);
        knowledge_join(&w->hint, &hint);
        knowledge_join(&w->reads, &reads);
        join_observed(w->observed, observed);
    }
    knowledge_free(&known);
    knowledge_free(&hint);
    knowledge_free(&reads);
    o->tick++;
}

// What one of the lanes had met, all of them have now.
void happens_warp_barrier(BlockOrder *o, const Warp *w, u32 lanes)
{
    u32(*met)[LANES] = o->warps[w->number].met, latest[LANES];
    o->told = true;
    o->warps[w->number].latest_met = o->visit;
    if (lanes == ~0u) o->warps[w->number].all_met = o->visit;
    for (u32 y = 0; y < LANES; y++) latest[y] = o->visit;
    for (u32 others = ~lanes; others; others &= others - 1) {
        u32 y = __builtin_ctz(others);
        latest[y] = 0;
        for (u32 rest = lanes; rest; rest &= rest - 1)
            latest[y] = larger(latest[y], met[__builtin_ctz(rest)][y]);
    }
    for (u32 rest = lanes; rest; rest &= rest - 1)
        memcpy(met[__builtin_ctz(rest)], latest, sizeof latest);
}

u32 happens_unmet(const BlockOrder *o, const Warp *w, u32 lane, u32 others, u32 visit)
{
    u32 lanes = 0;
    for (u32 rest = others & ~(1u << lane); rest; rest &= rest - 1) {
        u32 other = __builtin_ctz(rest);
        if (o->warps[w->number].met[lane][other] < visit) lanes |= 1u << other;
    }
    return lanes;
}

// ---- Fences ----

static void learn_own(u32 to[LANES], const Knowledge *k, const Block *b)
{
    for (u32 v = 0; k->count && v < b->warp_count; v++)
        to[v] = larger(to[v], knowledge_of(k, number_of(b), v));
}

static u32 reach_of(enum scope scope)
{
    return scope == SCOPE_CTA ? NEAR : scope == SCOPE_CLUSTER ? CLUSTER : FAR;
}

// A fence stands behind all that its thread knows of its block, and before it behind what it read.
void happens_fence(BlockOrder *o, const Warp *warp, const Insn *i)
{
    WarpOrder *w = &o->warps[warp->number];
    o->told = true;
    for (u32 reach = NEAR; reach <= reach_of(i->scope); reach++) {
        for (u32 v = 0; v < warp->block->warp_count; v++)
            o->fenced[reach][v] = larger(o->fenced[reach][v], own_tick(o, w, v));
        o->fenced[reach][warp->number] = o->tick;
    }
    for (u32 reach = NEAR; reach <= reach_of(i->scope); reach++) {
        for (u32 v = 0; v < LANES; v++) w->own[v] = larger(w->own[v], w->own_pending[reach][v]);
        knowledge_join(&w->known, &w->pending[reach]);
        knowledge_clear(&w->pending[reach]);
    }
    o->tick++;
}

// ---- Messages ----

static bool acquires(const Insn *i)
{
    return i->order == ORDER_ACQUIRE || i->order == ORDER_ACQ_REL || i->order == ORDER_SC;
}
static bool releases(const Insn *i)
{
    return i->order == ORDER_RELEASE || i->order == ORDER_ACQ_REL || i->order == ORDER_SC;
}

// How far it is from whoever wrote there last.
static u32 reach_to(const Place *p, const Block *b)
{
    return p->block == number_of(b) ? NEAR : p->cluster == cluster_of(b) ? CLUSTER : FAR;
}

static bool learn(BlockOrder *o, const Access *a, Place *p)
{
    const Block *b = a->warp->block;
    WarpOrder *w = &o->warps[a->warp->number];
    const u32 reach = reach_to(p, b);
    bool acquire = acquires(a->insn);
    if (w->seen == p->key && w->seen_version == p->version && (w->seen_acquired || !acquire))
        return false;
    w->seen = p->key;
    w->seen_version = p->version;
    w->seen_acquired = acquire;
    o->told = true;
    if (reach <= reach_of(a->insn->scope)) {
        if (!a->insn->reduces)
            note_observed(
                w->observed,
                (Observed){ p->key, p->version }); // whose result nobody sees tells nobody anything
        const Knowledge *message = &p->message[reach];
        learn_own(acquire ? w->own : w->own_pending[reach], message, b);
        knowledge_join(acquire ? &w->known : &w->pending[reach], message);
    }
    learn_own(w->own_hint, &p->hint, b);
    knowledge_join(&w->hint, &p->hint);
    knowledge_join(&w->reads, &p->reads);
    return true;
}

// Each place that the lanes touch, once where neighbours touch the same.
#define EACH_PLACE(a, address, statement)                                                          \
    for (u32 l_ = 0, any_ = 0; l_ < LANES; l_++) {                                                 \
        u64 address = (a)->address[l_];                                                            \
        if (!((a)->mask >> l_ & 1) || (any_ && address == last_)) continue;                        \
        last_ = address, any_ = 1;                                                                 \
        statement;                                                                                 \
    }

bool happens_read(BlockOrder *o, const Access *a)
{
    u64 last_ = 0;
    bool news = false;
    if (!table.count) return false;
    EACH_PLACE(a, address, Place *p = find_place(a, address, false); if (p) news |= learn(o, a, p))
    return news;
}

// What a strong write tells: of all warps of the block, up to the fence that stands behind what
// they did, or, if it releases, up to now; and what the warp knows of other blocks.
static void compose(const BlockOrder *o, const Warp *warp, Knowledge *m, const u32 *fenced)
{
    const Block *b = warp->block;
    const WarpOrder *w = &o->warps[warp->number];
    u32 told[LANES], every = ~0u;
    for (u32 v = 0; v < b->warp_count; v++) {
        u32 known = v == warp->number ? o->tick : own_tick(o, w, v);
        told[v] = fenced && fenced[v] < known ? fenced[v] : known;
        if (told[v] < every) every = told[v];
    }
    knowledge_add(m, number_of(b), EVERY_WARP, every);
    for (u32 v = 0; v < b->warp_count; v++)
        if (told[v] > every) knowledge_add(m, number_of(b), v, told[v]);
    if (fenced && !fenced[warp->number]) return;
    knowledge_join(m, &o->known);
    knowledge_join(m, &w->known);
}

// What it tells of loads: those of the block that a barrier stands behind, and what the warp knows
// of other blocks'.
static void compose_reads(const BlockOrder *o, const Access *a, Knowledge *m)
{
    const Block *b = a->warp->block;
    const WarpOrder *w = &o->warps[a->warp->number];
    knowledge_add(m, number_of(b), EVERY_WARP, o->all);
    for (u32 v = 0; v < b->warp_count; v++)
        if (w->own[v] > o->all) knowledge_add(m, number_of(b), v, w->own[v]);
    knowledge_join(m, &w->reads);
    knowledge_join(m, &o->reads);
}

// What others have told goes on to whom this atomic tells.
static void hand_on(Place *p, u32 from, u32 to)
{
    knowledge_clear(&p->message[to]);
    knowledge_join(&p->message[to], &p->message[from]);
}

// A store's message takes the place of what was there; an atomic's is added to it.
static void put(Place *p, const Access *a, u32 tick, const Knowledge message[REACHES],
                const Knowledge *hint, const Knowledge *reads)
{
    const Block *b = a->warp->block;
    const u32 reach = reach_to(p, b);
    if (reach > NEAR) hand_on(p, reach, NEAR);
    if (reach > CLUSTER) hand_on(p, reach, CLUSTER);
    p->block = number_of(b);
    p->cluster = cluster_of(b);
    if (!a->atomic) {
        clear_each(p->message);
        knowledge_clear(&p->written);
        knowledge_clear(&p->hint);
        knowledge_clear(&p->reads);
    }
    knowledge_add(&p->written, p->block, a->warp->number, tick);
    for (u32 to = NEAR; to <= reach_of(a->insn->scope); to++)
        knowledge_join(&p->message[to], &message[to]);
    knowledge_join(&p->hint, hint);
    knowledge_join(&p->reads, reads);
    p->version++;
    p->writer[p->version % WRITERS] = (Writer){ p->block, a->warp->number, tick };
}

// Lanes of one atomic that touch the same place do so one after the other: the later ones read what
// the earlier ones have written.
static void hear_one_another(BlockOrder *o, const Access *a)
{
    for (u32 rest = a->mask; rest; rest &= rest - 1) {
        u64 address = a->address[__builtin_ctz(rest)];
        bool again = false;
        for (u32 later = rest & (rest - 1); later && !again; later &= later - 1)
            again = a->address[__builtin_ctz(later)] == address;
        if (again) learn(o, a, find_place(a, address, false));
    }
}

// Many places at once are no flag: then only what there is to tell is told, and nothing is noted of
// what is missing.
bool happens_write(BlockOrder *o, const Access *a)
{
    bool flag = a->span_count == 1 && a->span[0].bytes == a->bytes;
    const u32 number = a->warp->number;
    const WarpOrder *w = &o->warps[number];
    u64 last_ = 0;
    if (flag || releases(a->insn) || o->fenced[NEAR][number]) {
        Knowledge message[REACHES] = { { 0 } }, hint = { 0 }, reads = { 0 };
        for (u32 reach = NEAR; reach <= reach_of(a->insn->scope); reach++)
            compose(o, a->warp, &message[reach], releases(a->insn) ? NULL : o->fenced[reach]);
        if (flag) {
            compose(o, a->warp, &hint, NULL);
            knowledge_join(&hint, &w->hint);
            knowledge_join(&hint, &o->hint);
            compose_reads(o, a, &reads);
        }
        EACH_PLACE(a, address,
                   put(find_place(a, address, true), a, o->tick, message, &hint, &reads))
        if (a->atomic && !a->insn->reduces) hear_one_another(o, a);
        free_each(message);
        knowledge_free(&hint);
        knowledge_free(&reads);
    }
    o->tick++;
    return releases(a->insn);
}

// ---- mbarriers ----
// What the arrivals of the phase that goes on tell is its message that is near, what those of the
// phases that are over have told, far.

void happens_mbarrier_made(const Access *a)
{
    u64 last_ = 0;
    EACH_PLACE(a, address, Place *p = find_place(a, address, false); if (p) clear_each(p->message))
}

void happens_mbarrier_arrived(BlockOrder *o, const Access *a, bool completes)
{
    Knowledge message = { 0 };
    Place *p = find_place(a, a->address[__builtin_ctz(a->mask)], true);
    compose(o, a->warp, &message, releases(a->insn) ? NULL : o->fenced[NEAR]);
    knowledge_join(&p->message[NEAR], &message);
    knowledge_free(&message);
    o->tick++;
    if (!completes) return;
    knowledge_join(&p->message[FAR], &p->message[NEAR]);
    knowledge_clear(&p->message[NEAR]);
}

void happens_mbarrier_waited(BlockOrder *o, const Access *a)
{
    WarpOrder *w = &o->warps[a->warp->number];
    bool acquire = acquires(a->insn);
    u64 last_ = 0;
    o->told = true;
    EACH_PLACE(
        a, address, Place *p = find_place(a, address, false); if (p) {
            learn_own(acquire ? w->own : w->own_pending[NEAR], &p->message[FAR], a->warp->block);
            knowledge_join(acquire ? &w->known : &w->pending[NEAR], &p->message[FAR]);
        })
}

// ---- The barrier of a cluster ----

void happens_cluster_arrive(BlockOrder *o, const Warp *w, const Insn *i, Knowledge *message,
                            Knowledge *hint)
{
    compose(o, w, message, releases(i) ? NULL : o->fenced[CLUSTER]);
    compose(o, w, hint, NULL);
    o->tick++;
}

void happens_cluster_wait(BlockOrder *o, const Warp *warp, const Knowledge *message,
                          const Knowledge *hint)
{
    WarpOrder *w = &o->warps[warp->number];
    o->told = true;
    learn_own(w->own, message, warp->block);
    learn_own(w->own_hint, hint, warp->block);
    knowledge_join(&w->known, message);
    knowledge_join(&w->hint, hint);
}

// ---- The question ----

static bool is_pending(const WarpOrder *w, u32 block, u32 v, u32 tick)
{
    for (u32 reach = NEAR; reach < REACHES; reach++)
        if (tick <= knowledge_of(&w->pending[reach], block, v)) return true;
    return false;
}

static bool is_pending_own(const WarpOrder *w, u32 v, u32 tick)
{
    return tick <= w->own_pending[NEAR][v] || tick <= w->own_pending[CLUSTER][v]
        || tick <= w->own_pending[FAR][v];
}

static u32 version_observed(const Observed of[MOST_OBSERVED], u64 key)
{
    for (u32 n = 0; n < MOST_OBSERVED; n++)
        if (of[n].key == key) return of[n].version;
    return 0;
}

static bool is_observed(const BlockOrder *o, const Access *a, const Place *p, Writer w)
{
    u32 version = larger(version_observed(o->warps[a->warp->number].observed, p->key),
                         version_observed(o->observed, p->key));
    if (!version || p->version - version >= WRITERS
        || knowledge_of(&p->written, w.block, w.warp) < w.tick)
        return false;
    for (u32 later = version + 1; later <= p->version; later++) {
        const Writer *l = &p->writer[later % WRITERS];
        if (l->block == w.block && l->warp == w.warp && l->tick == w.tick) return false;
    }
    return true;
}

bool happens_observed(const BlockOrder *o, const Access *a, u64 address, u32 block, u32 warp,
                      u32 tick)
{
    const Place *p = find_place(a, address, false);
    return p && is_observed(o, a, p, (Writer){ block, warp, tick });
}

bool happens_heard_of(const BlockOrder *o, const Warp *warp, u32 block)
{
    const WarpOrder *w = &o->warps[warp->number];
    const Knowledge *all[] = { &o->known,        &w->known, &w->pending[NEAR], &w->pending[CLUSTER],
                               &w->pending[FAR], &w->hint,  &o->hint };
    for (u32 n = 0; n < sizeof all / sizeof *all; n++)
        if (knowledge_has(all[n], block, 1)) return true;
    return false;
}

// A fence keeps stores in order, and loads. A load that a barrier stands behind has its value: no
// store that waits for a flag which was written later can change that, fence or none. (So CUB
// compacts in place: each block has read what the one before it may store to.)
enum before happens_before(const BlockOrder *o, const Warp *warp, u32 block, u32 v, u32 tick,
                           bool store)
{
    const WarpOrder *w = &o->warps[warp->number];
    if (block == number_of(warp->block)) {
        if (tick <= own_tick(o, w, v)) return BEFORE;
        return is_pending_own(w, v, tick) || tick <= w->own_hint[v] ? FENCE_MISSING : UNORDERED;
    }
    if (tick <= knowledge_of(&o->known, block, v) || tick <= knowledge_of(&w->known, block, v))
        return BEFORE;
    if (!store
        && (tick <= knowledge_of(&o->reads, block, v) || tick <= knowledge_of(&w->reads, block, v)))
        return BEFORE;
    if (is_pending(w, block, v, tick) || tick <= knowledge_of(&w->hint, block, v)
        || tick <= knowledge_of(&o->hint, block, v))
        return FENCE_MISSING;
    return UNORDERED;
}
