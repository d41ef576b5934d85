// Writes the report of a race. Which access was seen first is chance, so the report does not depend
// on it: its place is the read, or else the later line, or else the later block.
#include <stdio.h>
#include <string.h>

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

// Is x the side that the report names second?
static bool stands_second(const Side *x, const Side *y)
{
    if (x->store != y->store) return x->store;
    if (x->operation != y->operation) return x->operation < y->operation;
    if (x->pc != y->pc) return x->pc < y->pc;
    if (x->block != y->block) return x->block < y->block;
    return x->warp < y->warp || (x->warp == y->warp && x->lane < y->lane);
}

static void name_side(const Side *s, const Side *beside, bool by_atomic, char *text, size_t size)
{
    u32 block[3], thread[3];
    if (is_copy(s)) {
        snprintf(text, size, "%s", s->operation->call);
        return;
    }
    block_of(s, block);
    thread_of(s, thread);
    bool same = s->operation == beside->operation && s->block == beside->block;
    int n = snprintf(text, size, "%sthread (%u,%u,%u)", by_atomic ? "an atomic of " : "", thread[0],
                     thread[1], thread[2]);
    if (!same)
        n += snprintf(text + n, size - n, " of block (%u,%u,%u)", block[0], block[1], block[2]);
    if (s->operation != beside->operation)
        snprintf(text + n, size - n, " of %.60s", s->operation->kernel->signature);
}

// One line with both accesses, as in `x++` or a loop.
static bool same_line(const Report *r)
{
    return r->place.file && r->other.file && r->place.line == r->other.line
        && !strcmp(r->place.file, r->other.file);
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
        && x->store && y->store && same_line(r) && !race->divergent_barrier;
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

// What would order the two accesses.
static const char *order_between(const Report *r, const Race *race, const Side *x, const Side *y)
{
    const bool lines = !same_line(r);
    if (x->block != y->block && race->space == SPACE_SHARED)
        return "Put a cluster.sync() that all threads of the cluster reach between the two";
    if (x->block != y->block) return "Do the second part in another launch";
    if (x->warp == y->warp) return "Put a __syncwarp() or a __syncthreads() between the two";
    if (race->space == SPACE_SHARED)
        return lines ? "Put a __syncthreads() that all threads reach between the two lines"
                     : "Put a __syncthreads() that all threads reach between the two";
    return "If this block alone comes to that place, put a __syncthreads() that all threads reach "
           "between the two";
}

static void advise_beside_atomic(Report *r, const Race *race, const Side *x, const Side *y)
{
    static char next[320];
    const bool writes = is_atomic(x) ? y->store : x->store;
    snprintf(next, sizeof next, "%s; where any order will do, let the %s.",
             order_between(r, race, x, y),
             writes ? "write be an atomic, too: atomicExch(), or store() of a cuda::atomic_ref"
                    : "read be an atomic, too: atomicAdd() of 0, or load() of a cuda::atomic_ref");
    r->why = writes ? "Atomics take turns with one another, but not with a plain write: which "
                      "comes first changes from run to run."
                    : "Atomics take turns with one another, but not with a plain read: which comes "
                      "first changes from run to run.";
    r->next = next;
    r->severity = x->block == y->block && x->warp != y->warp;
}

// A table: of each cause why it comes to a race, and what to do next. The first that holds is told.
static void advise(Report *r, const Race *race, const Side *x, const Side *y)
{
    bool shared = race->space == SPACE_SHARED;
    if (swaps_around(x, y) || swaps_around(y, x)) {
        r->why = "An atomic of 1 or 2 bytes is carried out on the whole word of 4 around them, and "
                 "stores their neighbours with them.";
        r->next = "Let all that share a word with it be atomics too, or give what is atomic a word "
                  "of its own.";
    } else if (race->device_only) {
        r->why =
            "What is atomic for its own device only is not so for the kernels of other devices.";
        r->next = "Take the whole machine's: atomicAdd_system for atomicAdd, "
                  "cuda::thread_scope_system for thread_scope_device.";
    } else if (x->operation != y->operation && race->order != FENCE_MISSING
               && (meets_others(x, r) || meets_others(y, r))) {
        r->why = "Work of several devices is done in any order, but where streams wait for events, "
                 "or kernels for flags.";
        r->next = "Let the blocks of all devices meet before they touch each other's memory, and "
                  "again before they end: store a flag "
                  "of a new number as a release, behind a __syncthreads(), wait for all others' as "
                  "an acquire, then another __syncthreads().";
    } else if (x->operation != y->operation && race->order != FENCE_MISSING) {
        r->why = "Work on different streams is done in any order, or at the same time.";
        r->next = x->store && y->store
                    ? "Should both write there? If so, put both on one stream, or record an event "
                      "behind the one and let the other's stream wait for it."
                    : "Put both on one stream, or record an event behind the one and let the "
                      "other's stream wait for it.";
    } else if (race->block_only) {
        r->why = "What is atomic for its own block only is not so for the threads of other blocks.";
        r->next = "Take the atomic of the whole device: atomicAdd for atomicAdd_block.";
    } else if (race->cluster_only) {
        r->why = "What is atomic for its own cluster only is not so for the blocks of others; "
                 "without clusters, each block is one.";
        r->next = "Take the atomic of the whole device: a scope of gpu for cluster, "
                  "cuda::thread_scope_device.";
    } else if (race->order == FENCE_MISSING) {
        r->why = "A flag hands the data over, but with no fence other threads may see the flag "
                 "before the data.";
        r->next = "Put a __threadfence() between writing the data and the flag, and one between "
                  "reading the flag and the data.";
    } else if (beside_atomic(race, x, y)) {
        advise_beside_atomic(r, race, x, y);
    } else if (x->block != y->block && shared) {
        r->why = "Nothing orders the two blocks of the cluster: which comes first changes from run "
                 "to run.";
        r->next = "Put a cluster.sync() that all threads of the cluster reach between the two "
                  "lines; where both add to one place, use an atomic.";
    } else if (x->block != y->block) {
        r->why = "Blocks run in any order, or at the same time: which comes first changes from run "
                 "to run.";
        r->next = "Let each block write places of its own, use an atomic, or do the second part in "
                  "another launch.";
    } else if (is_bulk(x) != is_bulk(y) && shared) {
        r->why = "A copy in bulk goes on beside the threads: who does not wait for it may come "
                 "before or after it.";
        r->next = "Let each thread that touches those bytes wait at the mbarrier that the copy "
                  "tells of its bytes (mbarrier.try_wait), and "
                  "put a barrier between all that they do there and the next copy.";
    } else if (stores_to_one_place(r, race, x, y)) {
        r->why =
            "One line gives both threads the same place, and only the later one's value stays.";
        r->next = "Work out by hand which place each of the two stores to: no two should have the "
                  "same. Where they add, use an atomic.";
        r->severity = 1;
    } else if (race->missed) {
        r->why = "One of the two threads has ended, and its warp did not come to the barrier at "
                 "which the others have met: it is in a branch, or behind a return.";
        r->next = "Move the barrier out of the condition, and keep only the work inside it; and "
                  "let no thread return before the last barrier.";
        r->severity = 1;
    } else if (x->warp != y->warp) {
        r->why = shared
                   ? "Nothing orders the two threads: which comes first changes from run to run."
                   : "Nothing orders the two threads. A barrier orders those of one block alone.";
        r->next = shared       ? same_line(r)
                                   ? "Put a __syncthreads() that all threads reach between the two; "
                                     "where both add to one place, use an atomic."
                                   : "Put a __syncthreads() that all threads reach between the two lines."
                : same_line(r) ? "Where both add to one place, use an atomic; else let each thread "
                                 "write places of its own, and read from another array."
                               : "If this block alone comes to that place, put a __syncthreads() "
                                 "that all threads reach between the two lines; else "
                                 "write to another array, or do the second part in another launch.";
        r->severity = 1; // a __syncwarp() would suffice for lanes of one warp, but not here
    } else if (race->divergent_barrier) {
        static char why[160];
        Place barrier = source_of(x->operation->kernel, race->divergent_barrier->location);
        char line[24] = "";
        if (barrier.line) snprintf(line, sizeof line, " in line %u", barrier.line);
        snprintf(why, sizeof why,
                 "Some threads of the warp wait at the barrier%s, and others go on without them: "
                 "it is in a branch.",
                 line);
        r->why = why;
        r->next = "Move the barrier out of the condition, and keep only the work inside it.";
    } else {
        r->why = "Threads of one warp need not run in step.";
        r->next = shared ? "Put a __syncwarp() or a __syncthreads() between the two; where both "
                           "add to one place, use an atomic."
                         : "Put a __syncwarp() or a __syncthreads() between the two, or write to "
                           "another array.";
    }
}

static const char *between(const Report *r, const Race *race, const Side *x, const Side *y)
{
    if (race->device_only) return ", and the two are on different devices";
    if (x->operation != y->operation && race->order != FENCE_MISSING)
        return ", and nothing puts the two operations in order";
    if (race->order == FENCE_MISSING && !race->block_only && !race->cluster_only)
        return ", with a flag but no fence between";
    if (x->block != y->block) return ", and nothing puts one block before the other";
    return stores_to_one_place(r, race, x, y) ? ", by the same line" : ", with no barrier between";
}

void race_report_absent(const Side *s, const Block *owner, bool ends)
{
    Report r = { .kind = REPORT_RACE,
                 .place = place_of(s),
                 .kernel = s->operation->kernel->signature,
                 .has_thread = true };
    source_callers(s->operation->kernel, s->pc, r.callers);
    block_of(s, r.block);
    thread_of(s, r.thread);
    const u32 *b = owner->index;
    r.why = ends ? "A block's shared memory is gone when it ends; nothing keeps the block until "
                   "this has been done."
                 : "A block's shared memory is there from when it begins; blocks of a cluster "
                   "begin in any order.";
    r.next = ends ? "Put a cluster.sync() that all threads of the cluster reach behind the last "
                    "access to other blocks' shared memory."
                  : "Put a cluster.sync() that all threads of the cluster reach before the first "
                    "access to other blocks' shared memory.";
    report_errorf(&r,
                  "thread (%u,%u,%u) of block (%u,%u,%u) %s the shared memory of block (%u,%u,%u), "
                  "which may %s",
                  r.thread[0], r.thread[1], r.thread[2], r.block[0], r.block[1], r.block[2],
                  s->store ? "writes to" : "reads", b[0], b[1], b[2],
                  ends ? "have ended by then" : "not have begun");
}

void race_report(const Race *race)
{
    const Side *x = &race->now, *y = &race->before;
    if (stands_second(x, y)) x = &race->before, y = &race->now;
    char first[160], second[160], where[512] = "in shared memory";
    Report r = { .kind = REPORT_RACE,
                 .address = race->address,
                 .place = place_of(x),
                 .has_other = true,
                 .other = place_of(y) };
    const Allocation *in = race->space == SPACE_SHARED ? NULL : memory_find(race->address);
    if (in) report_beside(in, race->address, where, sizeof where);
    r.allocation = in;
    if (race->space == SPACE_SHARED && race->owner->grid->cluster_blocks > 1)
        snprintf(where, sizeof where, "in the shared memory of block (%u,%u,%u)",
                 race->owner->index[0], race->owner->index[1], race->owner->index[2]);
    if (!is_copy(x)) {
        r.kernel = x->operation->kernel->signature;
        source_callers(x->operation->kernel, x->pc, r.callers);
        r.has_thread = true;
        block_of(x, r.block);
        thread_of(x, r.thread);
    }
    if (is_copy(y)) {
        r.other_call = y->operation->call;
    } else {
        thread_of(y, r.other_thread);
        block_of(y, r.other_block);
        r.has_other_block = x->operation != y->operation || x->block != y->block;
    }
    advise(&r, race, x, y);
    const bool atomic = beside_atomic(race, x, y);
    name_side(x, y, atomic && is_atomic(x), first, sizeof first);
    name_side(y, x, atomic && is_atomic(y), second, sizeof second);
    report_errorf(&r, "%s %s what %s writes%s %s%s", first, x->store ? "also writes" : "reads",
                  second, in ? "," : "", where, between(&r, race, x, y));
}
