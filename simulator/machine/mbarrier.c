// mbarriers: barriers in shared memory. Threads arrive, and copies bring bytes. When everything
// that a phase waits for has come, the next phase begins, and threads that wait for the end of the
// previous one continue. The 64 bits in memory are the whole state (isa/mbarrier.h). Beside them it
// is only recorded where an mbarrier was initialised and invalidated, to report uses of one that is
// not valid.
#include "mbarrier.h"

#include <driver_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "cluster.h"
#include "bulk.h"
#include "copy.h"
#include "isa/mbarrier.h"
#include "report/report.h"
#include "source_fill.h"
#include "handlers.h"
#include "base/need.h"

typedef struct KnownMbarrier {
    u32 at;        // byte of shared memory
    u32 pc;        // the instruction that initialised or invalidated it
    u32 thread[3]; // of the block
    bool valid;
} KnownMbarrier;

enum { MBARRIER_BYTES = 8 };

void mbarriers_forget(Block *b) { b->mbarriers.count = 0; }
void mbarriers_free(Block *b) { free(b->mbarriers.known); }

static KnownMbarrier *find(const Block *b, u64 at)
{
    for (u32 n = 0; n < b->mbarriers.count; n++)
        if (b->mbarriers.known[n].at == at) return &b->mbarriers.known[n];
    return NULL;
}

// Records that the lane has initialised or invalidated the mbarrier there.
static void note(const Access *a, u32 lane, bool valid)
{
    Block *b = a->warp->block;
    Mbarriers *all = &b->mbarriers;
    KnownMbarrier *known = find(b, a->address[lane]);
    if (!known && all->count == all->room) {
        all->room = all->room ? 2 * all->room : 8;
        all->known = need(realloc(all->known, all->room * sizeof *all->known));
    }
    if (!known) known = &all->known[all->count++];
    *known = (KnownMbarrier){ .at = (u32)a->address[lane],
                              .pc = (u32)(a->insn - b->grid->kernel->code),
                              .valid = valid };
    warp_thread(a->warp, lane, known->thread);
}

static Mbarrier load(const Block *b, u64 at)
{
    u64 bits;
    memcpy(&bits, b->shared + at, sizeof bits);
    return mbarrier_of(bits);
}

static void store(Block *b, u64 at, const Mbarrier *m)
{
    u64 bits = mbarrier_bits(m);
    memcpy(b->shared + at, &bits, sizeof bits);
    b->grid->progress++;
}

// ---- What is amiss ----

static Report report_of(const Access *a, u32 lane, enum report_cause cause)
{
    Report r = { .cause = cause };
    source_fill(&r, a->warp, a->insn, lane);
    return r;
}

static bool fail(const Access *a)
{
    grid_fail(a->warp->block->grid, cudaErrorLaunchFailure);
    return false;
}

static bool all_in_shared(const Access *a)
{
    Report r = report_of(a, __builtin_ctz(a->mask), CAUSE_mbarrier_not_in_shared);
    report_error(&r);
    return fail(a);
}

static void tell_of_maker(const Access *a, Report *r, const KnownMbarrier *known)
{
    r->has_other = true;
    r->other.place = source_place(a->owner->grid->kernel, known->pc);
    memcpy(r->other.thread, known->thread, sizeof r->other.thread);
    r->other.has_block = a->owner != a->warp->block;
    memcpy(r->other.block, a->owner->index, sizeof r->other.block);
}

// Is there an mbarrier that was initialised and not invalidated?
static bool is_valid(const Access *a, u32 lane)
{
    const Block *b = a->owner;
    const KnownMbarrier *known = find(b, a->address[lane]);
    if (known && known->valid) return true;
    Report r =
        report_of(a, lane, known ? CAUSE_mbarrier_invalidated : CAUSE_mbarrier_not_initialised);
    if (known) tell_of_maker(a, &r, known);
    report_error(&r);
    return fail(a);
}

// Undefined by the PTX ISA ("mbarrier.init"). The device continues, as hardware does.
static void report_made_again(const Access *a, u32 lane)
{
    const KnownMbarrier *known = find(a->owner, a->address[lane]);
    if (!known || !known->valid) return;
    Report r = report_of(a, lane, CAUSE_mbarrier_initialised_again);
    if (memcmp(r.thread, known->thread, sizeof r.thread))
        r.cause = CAUSE_mbarrier_initialised_by_several;
    tell_of_maker(a, &r, known);
    report_error(&r);
}

static bool too_many(const Access *a, u32 lane, u32 arrivals, const Mbarrier *m)
{
    Report r = report_of(a, lane, CAUSE_mbarrier_arrivals_too_many);
    r.number[0] = (ReportNumber){ "arrivals", arrivals };
    r.number[1] = (ReportNumber){ "pending", m->pending };
    r.number[2] = (ReportNumber){ "count", m->count };
    report_error(&r);
    return fail(a);
}

static bool out_of_range(const Access *a, u32 lane, enum report_cause cause, s64 value)
{
    Report r = report_of(a, lane, cause);
    r.number[0] = (ReportNumber){ "value", value };
    report_error(&r);
    return fail(a);
}

static bool must_not_complete(const Access *a, u32 lane)
{
    Report r = report_of(a, lane, CAUSE_mbarrier_completed);
    report_error(&r);
    return fail(a);
}

// ---- Access ----

#define EACH_LANE(l, mask)                                                                         \
    for (u32 rest_ = (mask), l; rest_ && (l = __builtin_ctz(rest_), true); rest_ &= rest_ - 1)

static void prepare(Access *a, Warp *w, const Insn *i, u32 mask)
{
    memset(a, 0, offsetof(Access, address));
    a->warp = w;
    a->owner = w->block;
    a->insn = i;
    a->mask = mask;
    a->space = SPACE_SHARED;
    a->bytes = a->width = MBARRIER_BYTES;
    a->elements = 1;
    a->mbarrier = true;
}

// Do the observers allow the access; and are there mbarriers, where there must be?
static bool may(Access *a)
{
    if (!access_allow(a, NULL)) return false;
    EACH_LANE (l, a->values ? 0 : a->mask)
        if (!is_valid(a, l)) return false;
    return true;
}

// False: the addresses are not in shared memory, which is reported.
static bool locate(Access *a, Warp *w, const Insn *i, u32 mask)
{
    prepare(a, w, i, mask);
    const void *at = row_of(w, i->a);
    for (u32 l = 0; l < LANES; l++)
        a->address[l] = i->source_width == 8 ? ((const u64 *)at)[l] + i->offset
                                             : ((const u32 *)at)[l] + (u32)i->offset;
    if (i->space == SPACE_GENERIC && access_generic(w, a->address, mask) != SPACE_SHARED)
        return all_in_shared(a);
    for (u32 l = 0; i->space == SPACE_SHARED && l < LANES; l++)
        a->address[l] -= w->block->shared_base;
    return true;
}

// Shows the observers what lanes do to mbarriers, or (`values`) to memory that is no mbarrier yet,
// or no longer. False: it must not happen.
static bool touch(Access *a, Warp *w, const Insn *i, u32 mask, bool writes, const void *values)
{
    if (!locate(a, w, i, mask)) return false;
    a->store = writes;
    a->atomic = writes && !values;
    a->values = values;
    return may(a);
}

// Splits a located access: the lanes of `left` whose mbarriers are in the same block's shared
// memory as the first one's.
static Access part_of(const Access *a, u32 left)
{
    const Block *own = a->warp->block;
    u32 rank = cluster_rank(a->address[__builtin_ctz(left)] + own->shared_base);
    Access part = *a;
    part.mask = cluster_lanes(a->address, own->shared_base, left);
    if (!own->cluster || rank >= own->cluster->size) return part;
    part.owner = own->cluster->blocks[rank];
    for (u32 l = 0; l < LANES; l++)
        part.address[l] += (u64)own->shared_base - part.owner->shared_base;
    return part;
}

typedef u64 Values[LANES][VALUE_BYTES / sizeof(u64)];

void run_mbarrier_init(Warp *w, const Insn *i, u32 mask)
{
    Access a;
    Values values = { 0 };
    const u32 *count = row_of(w, i->b);
    EACH_LANE (l, mask) {
        Mbarrier m = { .pending = count[l], .count = count[l] };
        values[l][0] = mbarrier_bits(&m);
    }
    if (!touch(&a, w, i, mask, true, values)) return;
    EACH_LANE (l, mask) {
        if ((!count[l] || count[l] > MBARRIER_MOST)
            && !out_of_range(&a, l, CAUSE_mbarrier_count_out_of_range, count[l]))
            return;
        report_made_again(&a, l);
        memcpy(w->block->shared + a.address[l], values[l], MBARRIER_BYTES);
        note(&a, l, true);
    }
    OBSERVERS(mbarrier_init, &a);
}

void run_mbarrier_inval(Warp *w, const Insn *i, u32 mask)
{
    Access a;
    Values other; // differs from every value that is there
    memset(other, 0xff, sizeof other);
    if (!touch(&a, w, i, mask, true, other)) return;
    EACH_LANE (l, mask) {
        if (!is_valid(&a, l)) return;
        note(&a, l, false);
    }
}

// ---- Arriving ----

// A phase that waits for nothing is over. Returns whether it is.
static bool settle(Mbarrier *m)
{
    if (m->pending || m->bytes) return false;
    m->phase ^= 1;
    m->pending = m->count;
    return true;
}

static bool count_bytes(const Access *a, u32 lane, Mbarrier *m, s64 bytes)
{
    s64 all = m->bytes + bytes;
    if (all > MBARRIER_MOST || all < -MBARRIER_MOST)
        return out_of_range(a, lane, CAUSE_mbarrier_bytes_out_of_range, all);
    m->bytes = (s32)all;
    return true;
}

static bool count_arrivals(const Access *a, u32 lane, Mbarrier *m, u32 arrivals, enum arrival how)
{
    if (!arrivals || arrivals > MBARRIER_MOST)
        return out_of_range(a, lane, CAUSE_mbarrier_arrivals_out_of_range, arrivals);
    if (arrivals > m->pending) return too_many(a, lane, arrivals, m);
    if (how & COMPLETES_NOT && arrivals == m->pending) return must_not_complete(a, lane);
    m->pending -= arrivals;
    if (how & DROPS) m->count -= arrivals;
    return true;
}

// Tells the observers that lanes have arrived at one mbarrier; the last of them may have completed
// its phase.
static void tell(Access *a, u32 lanes, bool completes)
{
    u32 mask = a->mask;
    a->mask = lanes;
    OBSERVERS(mbarrier_arrived, a, completes);
    a->mask = mask;
}

// Runs the lanes of an access, which observers have seen, one after another. `operand`: each lane's
// arrivals or bytes; NULL: one arrival.
static void arrive_each(Access *a, const u32 *operand, u64 *state, enum arrival how)
{
    Block *b = a->owner;
    u64 last = 0;
    u32 told = 0;
    EACH_LANE (l, a->mask) {
        u64 at = a->address[l];
        Mbarrier m = load(b, at);
        if (told && at != last) tell(a, told, false), told = 0;
        if (state) state[l] = mbarrier_bits(&m);
        if (how & EXPECTS && !count_bytes(a, l, &m, operand[l])) return;
        if (how & BRINGS && !count_bytes(a, l, &m, -(s64)operand[l])) return;
        if (how & ARRIVES
            && !count_arrivals(a, l, &m, how & EXPECTS || !operand ? 1 : operand[l], how))
            return;
        bool completes = settle(&m);
        store(b, at, &m);
        last = at;
        told |= 1u << l;
        if (completes) tell(a, told, true), told = 0;
    }
    if (told) tell(a, told, false);
}

static void arrive(Warp *w, const Insn *i, u32 mask)
{
    enum arrival how = insn_row(i)->arrival;
    Access all;
    if (!locate(&all, w, i, mask)) return;
    all.store = all.atomic = true;
    for (u32 left = mask; left;) {
        Access a = part_of(&all, left);
        left &= ~a.mask;
        if (!may(&a)) return;
        arrive_each(&a, row_of(w, i->b), how & ARRIVES ? row_of(w, i->d) : NULL, how);
    }
}

void run_mbarrier_arrive(Warp *w, const Insn *i, u32 mask) { arrive(w, i, mask); }
void run_mbarrier_expect_tx(Warp *w, const Insn *i, u32 mask) { arrive(w, i, mask); }
void run_mbarrier_complete_tx(Warp *w, const Insn *i, u32 mask) { arrive(w, i, mask); }

// ---- Arrivals of copies ----

bool mbarrier_expect_arrivals(Warp *w, const Insn *i, u32 lanes, bool more, u64 at[LANES])
{
    Access a;
    if (!touch(&a, w, i, lanes, true, NULL)) return false;
    memcpy(at, a.address, sizeof a.address);
    EACH_LANE (l, more ? lanes : 0) {
        Mbarrier m = load(w->block, at[l]);
        if (m.pending == MBARRIER_MOST)
            return out_of_range(&a, l, CAUSE_mbarrier_pending_out_of_range, m.pending + 1ll);
        m.pending++;
        store(w->block, at[l], &m);
    }
    return true;
}

void mbarrier_arrive_expected(Warp *w, const Insn *i, u32 lanes, const u64 at[LANES])
{
    Access a;
    prepare(&a, w, i, lanes);
    a.store = a.atomic = true;
    memcpy(a.address, at, sizeof a.address);
    EACH_LANE (l, lanes)
        if (!is_valid(&a, l)) return;
    arrive_each(&a, NULL, NULL, ARRIVES);
}

bool mbarrier_is_initialised(Warp *w, const Insn *i, u32 lane, u64 at)
{
    Access a;
    prepare(&a, w, i, 1u << lane);
    a.store = a.atomic = true;
    for (u32 l = 0; l < LANES; l++) a.address[l] = at;
    return may(&a);
}

void mbarrier_complete_bytes(Warp *w, const Insn *i, u32 lane, u64 at, u32 bytes)
{
    Access a;
    u32 operand[LANES];
    prepare(&a, w, i, 1u << lane);
    a.store = a.atomic = true;
    a.address[lane] = at;
    operand[lane] = bytes;
    if (is_valid(&a, lane)) arrive_each(&a, operand, NULL, BRINGS);
}

// ---- Waiting ----

// Lanes that test for the end of a phase. A warp that finds the phase not over lets others run.
static void wait(Warp *w, const Insn *i, u32 mask)
{
    bool parity = insn_row(i)->parity;
    Access a;
    if (!touch(&a, w, i, mask, false, NULL)) return;
    u32 over = 0, *d = row_of(w, i->d);
    const void *of = row_of(w, i->b);
    EACH_LANE (l, mask) {
        u32 phase = parity ? ((const u32 *)of)[l] & 1 : mbarrier_of(((const u64 *)of)[l]).phase;
        bool is_over = load(w->block, a.address[l]).phase != phase;
        if (!is_over
            && copies_arrive(w->block, a.address[l]) | bulks_arrive(w->block, a.address[l]))
            is_over = load(w->block, a.address[l]).phase != phase;
        over |= (u32)is_over << l;
    }
    *d = (*d & ~mask) | over;
    if (over) {
        a.mask = over;
        OBSERVERS(mbarrier_waited, &a);
    }
    w->yielded = over != mask;
    if (over == mask) return;
    w->turns = w->turn_limit;
    w->stop = 0;
}

void run_mbarrier_test_wait(Warp *w, const Insn *i, u32 mask) { wait(w, i, mask); }
void run_mbarrier_try_wait(Warp *w, const Insn *i, u32 mask) { wait(w, i, mask); }

void run_mbarrier_pending_count(Warp *w, const Insn *i, u32 mask)
{
    const u64 *state = row_of(w, i->b);
    u32 *d = row_of(w, i->d);
    EACH_LANE (l, mask) d[l] = mbarrier_of(state[l]).pending;
}

bool mbarrier_waits(const Insn *i)
{
    return i->op == ISA_mbarrier_test_wait || i->op == ISA_mbarrier_try_wait;
}

bool mbarrier_missing(const Warp *w, Report *r)
{
    if (!w->polled || !mbarrier_waits(w->polled)) return false;
    const KnownMbarrier *known = find(w->block, w->polled_low);
    if (!known || !known->valid) return false;
    Mbarrier m = load(w->block, known->at);
    bool arrivals = m.pending || !m.bytes;
    r->cause = CAUSE_mbarrier_phase_misses;
    if (arrivals) {
        r->number[0] = (ReportNumber){ "pending", m.pending };
        r->number[1] = (ReportNumber){ "count", m.count };
        r->number[2] = (ReportNumber){ "both", m.bytes != 0 };
    }
    if (m.bytes > 0) r->number[3] = (ReportNumber){ "missing_bytes", m.bytes };
    if (m.bytes < 0) r->number[3] = (ReportNumber){ "unexpected_bytes", -m.bytes };
    return true;
}

// After initialising an mbarrier a thread needs a barrier of the block, or of the cluster, before
// others use it.
void run_fence_mbarrier_init(Warp *w, const Insn *i, u32 mask)
{
    (void)mask;
    OBSERVERS(fence, w, i);
}
