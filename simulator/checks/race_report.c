// Writes the report of a race. Which access was seen first is chance, so the report does not depend
// on it: its place is the read, or else the later line, or else the later block.
#include <stdio.h>
#include <string.h>

#include "machine/source_fill.h"
#include "report/message.h"
#include "report/origin.h"
#include "race.h"
#include "program/source.h"

static bool is_copy(const Side *s) { return !s->operation->kernel; }

static bool is_bulk(const Side *s)
{
    return !is_copy(s) && s->operation->kernel->code[s->pc].op == ISA_bulk;
}

static void thread_of(const Side *s, u32 thread[3])
{
    const u32 *block = s->operation->block;
    u32 n = s->warp * LANES + s->lane;
    thread[0] = n % block[0];
    thread[1] = n / block[0] % block[1];
    thread[2] = n / block[0] / block[1];
}

static void block_of(const Side *s, u32 block[3])
{
    const u32 *grid = s->operation->grid;
    block[0] = s->block % grid[0];
    block[1] = s->block / grid[0] % grid[1];
    block[2] = s->block / grid[0] / grid[1];
}

static Place place_of(const Side *s)
{
    Place place = { 0 };
    if (!is_copy(s)) return source_place(s->operation->kernel, s->pc);
    origin_place(s->operation->callers, MEMORY_CALLERS, &place);
    return place;
}

// Does it store to global memory?
static bool is_bulk_store(const Side *s, bool shared) { return is_bulk(s) && s->store && !shared; }

// Is x the side that the report names second?
static bool stands_second(const Side *x, const Side *y)
{
    if (x->store != y->store) return x->store;
    if (x->operation != y->operation) return x->operation < y->operation;
    if (x->pc != y->pc) return x->pc < y->pc;
    if (x->block != y->block) return x->block < y->block;
    return x->warp < y->warp || (x->warp == y->warp && x->lane < y->lane);
}

// Does the kernel synchronise through flags or atomics and touch another device's memory?
static bool meets_others(const Side *s, const Report *r)
{
    const Operation *o = s->operation;
    return o->communicates && r->allocation && r->allocation->device != o->device;
}

// Two stores from one line to one address, between which no barrier helps. (A sum is read first, so
// its race is found at the read.)
static bool stores_to_one_place(const Report *r, const Race *race, const Side *x, const Side *y)
{
    return x->operation == y->operation && x->block == y->block && is_bulk(x) == is_bulk(y)
        && x->store && y->store && message_same_line(r) && !race->divergent_barrier;
}

// An atomic of 1 or 2 bytes, as in cuda::atomic_ref<char>, swaps the whole word around them, and
// the other access is to a part of that word.
static bool swaps_around(const Side *atomic, const Side *other)
{
    if (is_copy(atomic) || is_copy(other)) return false;
    const Insn *swap = &atomic->operation->kernel->code[atomic->pc],
               *part = &other->operation->kernel->code[other->pc];
    return swap->op == ISA_atom_cas && swap->width == 4 && isa_rows[part->row].shape == MEMORY
        && part->width * part->elements < swap->width;
}

static bool is_atomic(const Side *s)
{
    return !is_copy(s) && isa_rows[s->operation->kernel->code[s->pc].row].shape == ATOMIC;
}

static bool is_plain(const Side *s)
{
    const Insn *i = is_copy(s) ? NULL : &s->operation->kernel->code[s->pc];
    return i && isa_rows[i->row].shape == MEMORY && !i->strong;
}

// A plain access beside an atomic is the only fault: no barrier in a branch and no flag is
// involved.
static bool beside_atomic(const Race *race, const Side *x, const Side *y)
{
    return x->operation == y->operation
        && ((is_atomic(x) && is_plain(y)) || (is_plain(x) && is_atomic(y)))
        && race->order != FENCE_MISSING && !race->missed && !race->divergent_barrier;
}

// Of two launches, copies or fills.
static enum report_cause cause_of_operations(const Report *r, const Side *x, const Side *y)
{
    if (meets_others(x, r) || meets_others(y, r)) return CAUSE_race_of_devices;
    return x->store && y->store ? CAUSE_race_of_streams_that_write : CAUSE_race_of_streams;
}

// Of two threads that a barrier of their block, or of their warp, would order.
static enum report_cause cause_of_threads(const Report *r, const Race *race, bool shared,
                                          bool same_warp)
{
    bool line = message_same_line(r);
    if (race->missed)
        return race->in_loop ? CAUSE_race_past_barrier_in_loop : CAUSE_race_past_missed_barrier;
    if (!same_warp && shared)
        return line ? CAUSE_race_of_line_in_shared : CAUSE_race_of_lines_in_shared;
    if (!same_warp) return line ? CAUSE_race_of_line_in_global : CAUSE_race_of_lines_in_global;
    if (race->divergent_barrier) return CAUSE_race_past_divergent_barrier;
    if (race->in_step) return CAUSE_race_of_warp_in_step;
    return shared ? CAUSE_race_of_warp_in_shared : CAUSE_race_of_warp_in_global;
}

static enum report_cause cause_of(const Report *r, const Race *race, const Side *x, const Side *y)
{
    bool shared = race->space == SPACE_SHARED, fence_missing = race->order == FENCE_MISSING;
    if (swaps_around(x, y) || swaps_around(y, x)) return CAUSE_race_around_small_atomic;
    if (race->device_only) return CAUSE_race_of_device_scope;
    if (x->operation != y->operation && !fence_missing) return cause_of_operations(r, x, y);
    if (race->block_only) return CAUSE_race_of_block_scope;
    if (race->cluster_only) return CAUSE_race_of_cluster_scope;
    if (fence_missing) return CAUSE_race_without_fence;
    if (beside_atomic(race, x, y))
        return (is_atomic(x) ? y->store : x->store) ? CAUSE_race_of_atomic_and_write
                                                    : CAUSE_race_of_atomic_and_read;
    if (is_bulk_store(x, shared) != is_bulk_store(y, shared)) return CAUSE_race_with_bulk_store;
    if (x->block != y->block) return shared ? CAUSE_race_of_cluster_blocks : CAUSE_race_of_blocks;
    if (is_bulk(x) != is_bulk(y) && shared) return CAUSE_race_with_bulk_copy;
    if (stores_to_one_place(r, race, x, y)) return CAUSE_race_to_one_place;
    return cause_of_threads(r, race, shared, x->warp == y->warp);
}

// Of the races of one line the one is told whose remedy mends the others, too: a __syncwarp() would
// suffice for lanes of one warp, but not for two warps, nor a __syncthreads() for two blocks.
// (Where one line of a block races, the remedy is one for blocks.) A missed barrier may be a
// consequence.
static int severity_of(enum report_cause cause, bool same_block, bool same_warp)
{
    enum { OF_WARP, OF_MISSED, OF_BLOCK, OF_GRID };
    switch (cause) {
    case CAUSE_race_past_missed_barrier:
    case CAUSE_race_past_barrier_in_loop: return OF_MISSED;
    case CAUSE_race_to_one_place: return OF_BLOCK;
    case CAUSE_race_of_line_in_global: return OF_GRID;
    default: return !same_block ? OF_GRID : !same_warp ? OF_BLOCK : OF_WARP;
    }
}

static enum report_between between(const Report *r, const Race *race, const Side *x, const Side *y)
{
    if (race->device_only) return BETWEEN_DEVICES;
    if (x->operation != y->operation && race->order != FENCE_MISSING) return BETWEEN_OPERATIONS;
    if (race->order == FENCE_MISSING && !race->block_only && !race->cluster_only)
        return BETWEEN_FLAG;
    if (r->cause == CAUSE_race_with_bulk_store) return BETWEEN_BULK;
    if (x->block != y->block) return BETWEEN_BLOCKS;
    return stores_to_one_place(r, race, x, y) ? BETWEEN_LINE : BETWEEN_BARRIER;
}

static enum report_access access_of(const Side *s)
{
    return is_atomic(s) ? ACCESS_ATOMIC : s->store ? ACCESS_WRITE : ACCESS_READ;
}

void race_report_absent(const Side *s, const Block *owner, bool ends)
{
    Report r = { .cause = ends ? CAUSE_remote_block_may_have_ended
                               : CAUSE_remote_block_may_not_have_begun,
                 .place = place_of(s),
                 .kernel = s->operation->kernel->signature,
                 .has_thread = true,
                 .access = access_of(s),
                 .space = IN_SHARED };
    source_callers(s->operation->kernel, s->pc, r.callers);
    block_of(s, r.block);
    thread_of(s, r.thread);
    source_owner(&r, owner);
    report_error(&r);
}

// The side that stands first: its place is the report's own.
static void fill_first(Report *r, const Side *x)
{
    r->place = place_of(x);
    r->access = access_of(x);
    if (is_copy(x)) {
        r->call = x->operation->call;
        return;
    }
    r->kernel = x->operation->kernel->signature;
    source_callers(x->operation->kernel, x->pc, r->callers);
    r->has_thread = true;
    block_of(x, r->block);
    thread_of(x, r->thread);
}

static void fill_other(Report *r, const Side *x, const Side *y)
{
    ReportOther *o = &r->other;
    r->has_other = true;
    o->place = place_of(y);
    o->access = access_of(y);
    if (is_copy(y)) {
        o->call = y->operation->call;
        return;
    }
    if (x->operation != y->operation) o->kernel = y->operation->kernel->signature;
    thread_of(y, o->thread);
    block_of(y, o->block);
    o->has_block = x->operation != y->operation || x->block != y->block;
    o->same_warp = !o->has_block && x->warp == y->warp;
}

void race_report(const Race *race)
{
    const Side *x = &race->now, *y = &race->before;
    if (stands_second(x, y)) x = &race->before, y = &race->now;
    bool shared = race->space == SPACE_SHARED;
    Report r = { .address = race->address,
                 .space = shared ? IN_SHARED : IN_GLOBAL,
                 .allocation = shared ? NULL : memory_find(race->address) };
    if (shared && race->owner->grid->cluster_blocks > 1) source_owner(&r, race->owner);
    fill_first(&r, x);
    fill_other(&r, x, y);
    r.cause = cause_of(&r, race, x, y);
    r.between = between(&r, race, x, y);
    bool same_block = x->operation == y->operation && x->block == y->block;
    r.severity = severity_of(r.cause, same_block, same_block && x->warp == y->warp);
    const Insn *at = race->divergent_barrier ? race->divergent_barrier : race->missed;
    Place barrier = { 0 };
    if (at && !is_copy(x)) barrier = source_of(x->operation->kernel, at->location);
    if (barrier.line) r.number[0] = (ReportNumber){ "barrier_line", barrier.line };
    if (race->cooperative) r.number[1] = (ReportNumber){ "cooperative", 1 };
    report_error(&r);
}
