// Is an access a race with an earlier one of the same bytes? They conflict, are not both strong,
// and nothing orders them.
#include "race.h"
#include <stdlib.h>
#include <string.h>

#include "machine/cluster.h"
#include "machine/grid_state.h"
#include "machine/shard.h"

enum { MOST_RACES = 1000 }; // reported of one launch; more would tell nobody anything new
static u32 races_found;

void race_conflicts_reset(void) { races_found = 0; }

static bool is_transfer(const Site *s) { return !operations[s->operation].kernel; }

bool race_may_be_flag(const Site *of_kernel)
{
    return of_kernel->strong && !of_kernel->block_only && !of_kernel->changes;
}

static bool same_cluster(const Site *a, const Site *b)
{
    const Operation *o = &operations[a->operation];
    return a->operation == b->operation
        && cluster_first(o->grid, o->cluster, a->block)
               == cluster_first(o->grid, o->cluster, b->block);
}

static bool reach_each_other(const Site *a, const Site *b)
{
    if (!a->strong || !b->strong) return false;
    if (a->operation == b->operation && a->block == b->block) return true;
    if (a->block_only || b->block_only) return false;
    if (a->cluster_only || b->cluster_only) return same_cluster(a, b);
    bool two_devices = operations[a->operation].device != operations[b->operation].device;
    return !two_devices || (!a->device_only && !b->device_only);
}

bool race_stores_same(const Access *a, u32 lane, u32 other)
{
    const u8 *memory = a->space == SPACE_SHARED ? a->owner->shared + a->address[lane]
                                                : (const u8 *)a->address[lane];
    if (a->unchanged)
        return other < LANES
            || *a->unchanged >> lane & 1; // lanes_unchanged() has compared the lanes
    if (a->values)
        return !memcmp(a->values + VALUE_BYTES * lane,
                       other < LANES ? a->values + VALUE_BYTES * other : memory, a->bytes);
    for (u32 e = 0; e < a->elements; e++) {
        const u8 *row = row_of(a->warp, a->vector[e]),
                 *there = other < LANES ? row + other * a->register_width : memory + e * a->width;
        if (memcmp(row + lane * a->register_width, there, a->width)) return false;
    }
    return true;
}

static bool swaps(const Site *s)
{
    const Kernel *kernel = operations[s->operation].kernel;
    return kernel && kernel->code[s->pc].op == ISA_atom_cas;
}

static bool begins_loop(const Site *load)
{
    return !load->store && kernel_order(operations[load->operation].kernel)->swaps;
}

// Is one a plain load and the other a compare-and-swap, of kernels that both swap?
static bool is_load_before_swap(const Site *a, const Site *b)
{
    return (begins_loop(a) && swaps(b)) || (begins_loop(b) && swaps(a));
}

// The barrier at which the warp's lane `other` waits while `lane` has not arrived, or NULL.
static const Insn *divergent_barrier_of(const Warp *w, u32 lane, u32 other)
{
    return w->arrived >> other & ~w->arrived >> lane & 1
             ? &w->block->grid->kernel->code[w->arrived_pc]
             : NULL;
}

// Is `missed` in a loop, of which the warp has run a round, and whose rounds all come to it?
static bool in_one_loop(Grid *g, u32 missed, u32 met)
{
    return met < g->kernel->code_count && grid_beyond(g, missed)[met] && grid_beyond(g, met)[missed]
        && grid_meets_each_round(g, missed);
}

// A warp that has read a flag too early or too late leaves its loop in another round than the
// others, and no barrier orders what it did last: its race for the flag is told, and not this one.
static bool is_consequence(const Block *b, const Site *now, const Site *s, Race *race)
{
    struct RaceBlock *r = race_block(b);
    if (!(r->missed >> s->warp & 1)) {
        if (!now->store || !s->store) r->misread |= 1u << (now->store ? s->warp : now->warp);
        return false;
    }
    race->missed = r->missed_barrier;
    race->in_loop = in_one_loop(b->grid, (u32)(r->missed_barrier - b->grid->kernel->code),
                                b->warps[s->warp].arrival[0].pc);
    return race->in_loop && r->misread >> s->warp & 1;
}

bool race_found(const Access *a, const ShadowCheck *k, const Site *s, u32 lane, u32 other,
                enum causality order)
{
    const Site *now = &k->site;
    Grid *g = a->warp->block->grid;
    if (g->shard) {
        shard_abort(g);
        return true;
    }
    u64 address = a->unchanged ? now->base + site_place(now, lane) * now->stride
                               : a->address[lane]; // deferred accesses do not keep every address
    Race race = { .space = a->space,
                  .owner = a->owner,
                  .address = address,
                  .order = order,
                  .block_only = now->strong && s->strong && (now->block_only || s->block_only) };
    race.cluster_only =
        now->strong && s->strong && !race.block_only && (now->cluster_only || s->cluster_only);
    race.in_step = reach_each_other(s, now);
    race.cooperative = g->launch->cooperative;
    race.device_only = now->strong && s->strong && !race.block_only && !race.cluster_only
                    && operations[now->operation].device != operations[s->operation].device;
    if (now->operation == s->operation && now->block == s->block) {
        if (now->warp == s->warp)
            race.divergent_barrier = divergent_barrier_of(a->warp, lane, other);
        if (is_consequence(a->warp->block, now, s, &race)) return true;
    }
    race.now =
        (Side){ &operations[now->operation], now->block, now->warp, lane, now->pc, now->store };
    race.before = (Side){ &operations[s->operation], s->block, s->warp, other, s->pc, s->store };
    race_report(&race);
    __atomic_fetch_add(&races_found, 1, __ATOMIC_RELAXED);
    return true;
}

// The lanes of an earlier write whose value the warp has not observed. Both sides must be strong,
// and their scopes must include each other.
static u32 unobserved(const Access *a, const Site *s, const Site *now, u32 lanes)
{
    const Site read = { .operation = now->operation, .block = now->block, .strong = true };
    if (!s->store || !reach_each_other(s, &read)) return lanes;
    for (u32 rest = lanes; rest; rest &= rest - 1) {
        u64 address = s->base + site_place(s, __builtin_ctz(rest)) * s->stride;
        if (causality_observed(&race_block(a->warp->block)->order, a, address, operation_block(s),
                               s->warp, s->epoch))
            lanes &= ~(rest & -rest);
    }
    return lanes;
}

// The lanes that have passed the value on from which this one has worked out what it stores. Which
// lanes those are is not known of deferred accesses.
static u32 passed_on(const Access *a, u32 lane, u32 others, u32 sequence)
{
    const struct RaceBlock *r = race_block(a->warp->block);
    return r->serial ? exchanges_reach(r->exchanges, a->warp, r->serial, lane, others, sequence)
                     : others;
}

// Cooperative groups pass data between warps through the system's part of shared memory, and rely
// on shuffles to order the accesses of one warp there.
static bool is_reserved(const Access *a, u64 address)
{
    return a->space == SPACE_SHARED && address >= a->owner->reserved_at;
}

static bool is_volatile(const Site *s)
{
    const Insn *i = &operations[s->operation].kernel->code[s->pc];
    return i->order == ORDER_VOLATILE && insn_row(i)->shape == MEMORY;
}

// Lanes that read what others of their warp have stored, by volatile accesses alone: it is there if
// the warp runs in step, which nothing promises. Not in kernels that may have flags there, for
// which a lane waits. What lanes have passed one another, by shuffles and the like, has made them
// wait, too.
static bool find_in_step(const ShadowCheck *k, const Site *s, u64 from, u64 to)
{
    const Access *a = k->context;
    const Site *now = &k->site;
    if (now->store || !s->store || s->operation != now->operation || s->block != now->block
        || s->warp != now->warp || is_reserved(a, from) || !is_volatile(now) || !is_volatile(s)
        || exchanges_have_flags(a->warp->block->grid, a->space))
        return false;
    for (u32 rest = site_lanes(now, from, to); rest; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        u64 low = now->base + site_place(now, lane) * now->stride, high = low + now->bytes;
        u32 others = site_lanes(s, low > from ? low : from, high < to ? high : to);
        others = causality_unsynchronised(&race_block(a->warp->block)->order, a->warp, lane, others,
                                          s->sequence);
        if (others) others &= ~passed_on(a, lane, others, s->sequence);
        if (others) return race_found(a, k, s, lane, __builtin_ctz(others), UNORDERED);
    }
    return false;
}

// Finds lanes that touch the same bytes as an earlier, unordered access, and reports the race.
static bool find_conflict(const ShadowCheck *k, const Site *s, u64 from, u64 to,
                          enum causality order)
{
    const Access *a = k->context;
    const BlockClocks *o = &race_block(a->warp->block)->order;
    const Site *now = &k->site;
    bool same_warp =
        s->operation == now->operation && s->block == now->block && s->warp == now->warp;
    bool same_access = same_warp && s->sequence == now->sequence,
         both_store = s->store && now->store && !a->atomic;
    for (u32 rest = site_lanes(now, from, to); rest; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        u64 low = now->base + site_place(now, lane) * now->stride, high = low + now->bytes;
        u32 others = site_lanes(s, low > from ? low : from, high < to ? high : to);
        if (same_access) others &= ~(1u << lane);
        else if (same_warp)
            others = causality_unsynchronised(o, a->warp, lane, others, s->sequence);
        u32 passed = same_warp && others && now->store && !s->store
                       ? passed_on(a, lane, others, s->sequence)
                       : 0;
        if (passed && exchanges_decide(a->warp->block->grid, s->pc, now->pc)) others &= ~passed;
        if (!same_warp) others = unobserved(a, s, now, others);
        if (!others) continue;
        u32 other = __builtin_ctz(others);
        if (both_store && race_stores_same(a, lane, same_access ? other : LANES)) continue;
        if (s->operation != now->operation
            && operation_clock_covers(now->operation, o, a->warp->number, s))
            return false;
        bool flag = now->strong && causality_is_flag(a, low, operation_block(s), s->warp, s->epoch);
        return race_found(a, k, s, lane, other, flag ? UNORDERED : order);
    }
    return false;
}

bool race_conflicts(ShadowCheck *k, const Site *s, u64 from, u64 to)
{
    const Access *a = k->context;
    const Site *now = &k->site;
    if (__atomic_load_n(&races_found, __ATOMIC_RELAXED) >= MOST_RACES) return false;
    if (reach_each_other(s, now)) return find_in_step(k, s, from, to);
    if (s->operation != now->operation && operation_before(s->operation, now->operation))
        return false;
    if (is_transfer(s)) return !race_may_be_flag(now) && find_conflict(k, s, from, to, UNORDERED);
    bool same_warp =
        s->operation == now->operation && s->block == now->block && s->warp == now->warp;
    if (same_warp && s->repeats == now->repeats && s->base == now->base && s->stride == now->stride
        && (u64)llabs(now->stride) >= now->bytes && s->bytes == now->bytes)
        return false; // each lane touches what it touched before
    if (same_warp && (a->mbarrier || is_reserved(a, from))) return false;
    if (same_warp && a->sequence && *a->sequence == s->sequence && now->sequence != s->sequence)
        return false; // the beginning of this asynchronous copy, which has been checked
    enum causality order = causality_before(&race_block(a->warp->block)->order, a->warp,
                                            operation_block(s), s->warp, s->epoch, s->store);
    if (order == BEFORE || is_load_before_swap(s, now)) return false;
    return find_conflict(k, s, from, to, order);
}

// Does the earlier read come before this one?
bool race_follows(ShadowCheck *k, const Site *s)
{
    const Access *a = k->context;
    return !is_transfer(s)
        && causality_before(&race_block(a->warp->block)->order, a->warp, operation_block(s),
                            s->warp, s->epoch, s->store)
               == BEFORE;
}
