// Races in shared memory: two accesses to one place by different threads, at least one of them a store, with nothing
// between them that puts one before the other. What orders threads of a block is the barrier, so each place
// remembers who wrote and who read it since the last one; the order in which the simulator happens to run the warps
// plays no part.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observer.h"
#include "source.h"

typedef struct Slot {           // lanes of one warp that touched a place
    u32 epoch;                  // Block.epoch then; another one: the slot says nothing any more
    u32 visit;                  // which access of its slot's blocks it was
    u32 pc;
    u32 lanes;
    u8 warp;
    bool strong;
} Slot;

// Two readers are enough, if of different warps: a store conflicts with one of them or with none that is left out.
typedef struct Cell { Slot write, read[2]; } Cell;

// For each warp of the block and each pair of its lanes: how many accesses there had been when they last met at a
// __syncwarp().
typedef struct Met { u32 visit[LANES][LANES], all; } Met;   // all: the whole warp

// What is known of the blocks that a slot runs, one after another.
struct RaceBlock {
    Cell *cells;                // for each granule of shared memory
    Met *met;                   // for each warp
    u32 visit;                  // accesses so far
    u32 before[LANES][LANES];   // [to][from]: accesses of warp `from` up to this visit come before what warp `to` does now
};

static void race_block_make(Block *b)
{
    struct RaceBlock *r = b->race = calloc(1, sizeof *r);
    if (r) r->cells = calloc(b->shared_bytes / b->grid->kernel->shared_granule + 4, sizeof *r->cells);
    if (r) r->met = calloc(b->warp_count, sizeof *r->met);
    if (r && r->cells && r->met) return;
    perror("simulator: no memory left to look for races");
    exit(1);
}

static void race_block_free(Block *b)
{
    free(b->race->cells);
    free(b->race->met);
    free(b->race);
}

static void race_warp_barrier(Warp *w, u32 lanes)
{
    Met *met = &w->block->race->met[w->number];
    u32 visit = w->block->race->visit;
    if (lanes == w->live) met->all = visit;
    for (u32 x = 0; x < LANES; x++)
        for (u32 y = 0; lanes >> x & 1 && y < LANES; y++)
            if (lanes >> y & 1) met->visit[x][y] = visit;
}

// Those of `others` that lane has not met since an access.
static u32 unmet(const Warp *w, u32 lane, u32 others, u32 since)
{
    u32 lanes = 0;
    for (u32 rest = others & ~(1u << lane); rest; rest &= rest - 1) {
        u32 other = __builtin_ctz(rest);
        if (w->block->race->met[w->number].visit[lane][other] < since) lanes |= 1u << other;
    }
    return lanes;
}

// One side of a race.
typedef struct Side { const Warp *warp; u32 lane, pc; bool store; } Side;

// Which side came first here is chance, so the report does not depend on it: it stands at the read, or at the later line.
static void report_race(const Access *a, Side x, Side y)
{
    if (x.store && (!y.store || y.pc > x.pc)) {
        Side t = x;
        x = y, y = t;
    }
    const Kernel *kernel = a->warp->block->grid->kernel;
    Report r = { .kind = REPORT_RACE, .has_other = true, .address = a->address[a->first] };
    source_fill(&r, x.warp, &kernel->code[x.pc], x.lane);
    r.other = source_place(kernel, y.pc);
    warp_thread(y.warp, y.lane, r.other_thread);
    if (x.warp != y.warp) {
        r.why = "Nothing orders the two threads: which comes first changes from run to run.";
        r.next = "Put a __syncthreads() that all threads reach between the two lines.";
    } else {
        r.why = "Threads of one warp need not run in step.";
        r.next = "Put a __syncwarp() or a __syncthreads() between the two, or let one thread do it.";
    }
    u32 *t = r.thread, *o = r.other_thread;
    report_errorf(&r, "thread (%u,%u,%u) %s what thread (%u,%u,%u) writes in shared memory, with no barrier between",
                  t[0], t[1], t[2], x.store ? "also writes" : "reads", o[0], o[1], o[2]);
}

// `lanes` of this access against those of an earlier one.
static bool conflicts(const Access *a, u32 lanes, const Slot *s)
{
    const Warp *w = a->warp;
    const struct RaceBlock *r = w->block->race;
    if (s->epoch != w->block->epoch || s->visit == r->visit || (s->strong && a->insn->strong)) return false;
    if (s->warp != w->number) return r->before[w->number][s->warp] < s->visit;
    for (u32 rest = lanes; rest; rest &= rest - 1)
        if (unmet(w, __builtin_ctz(rest), s->lanes, s->visit)) return true;
    return false;
}

// Two lanes of one store instruction at one place, with different values: which one stays is not said.
static bool lanes_disagree(const Access *a, u32 lane, const Slot *s)
{
    if (s->visit != a->warp->block->race->visit || s->epoch != a->warp->block->epoch || a->atomic) return false;
    const Insn *i = a->insn;
    u32 first = __builtin_ctz(s->lanes);
    for (u32 e = 0; e < i->elements; e++) {
        const u8 *row = row_of(a->warp, i->vector[e]);
        if (memcmp(row + lane * i->register_width, row + first * i->register_width, i->width)) return true;
    }
    return false;
}

// The earlier access that this one races with, or NULL.
static const Slot *rival(const Access *a, u32 lanes, const Cell *c)
{
    if (conflicts(a, lanes, &c->write)) return &c->write;
    if (!a->store) return NULL;
    if (lanes_disagree(a, __builtin_ctz(lanes), &c->write)) return &c->write;
    for (u32 n = 0; n < 2; n++)
        if (conflicts(a, lanes, &c->read[n])) return &c->read[n];
    return NULL;
}

// The slot for this warp's reads: its own, else one that says nothing, else the second.
static Slot *read_slot(Cell *c, const Warp *w)
{
    for (u32 n = 0; n < 2; n++)
        if (c->read[n].epoch == w->block->epoch && c->read[n].warp == w->number) return &c->read[n];
    return c->read[0].epoch != w->block->epoch ? &c->read[0] : &c->read[1];
}

// Reads of one warp share a slot as of the oldest; those from before its lanes all met are of no more interest.
static void record(const Access *a, u32 lanes, Slot *s)
{
    const Warp *w = a->warp;
    const struct RaceBlock *r = w->block->race;
    u32 since = r->visit;
    if (!a->store && s->epoch == w->block->epoch && s->warp == w->number && s->visit > r->met[w->number].all) {
        lanes |= s->lanes;
        since = s->visit;
    }
    *s = (Slot){ .epoch = w->block->epoch, .visit = since, .pc = a->insn - w->block->grid->kernel->code,
                 .lanes = lanes, .warp = w->number, .strong = a->insn->strong };
}

// Lanes of the access that go to one cell: one lane, or, where all read the same place, all.
static bool touch(const Access *a, u32 lanes, Cell *c)
{
    const Slot *s = rival(a, lanes, c);
    if (s) {
        Warp *w = a->warp, *other = &w->block->warps[s->warp];
        u32 lane = __builtin_ctz(lanes), others = s->lanes;
        for (u32 rest = lanes; other == w && rest; rest &= rest - 1) {
            lane = __builtin_ctz(rest);
            if ((others = s->visit == w->block->race->visit ? s->lanes : unmet(w, lane, s->lanes, s->visit))) break;
        }
        Side now = { w, lane, a->insn - w->block->grid->kernel->code, a->store };
        report_race(a, now, (Side){ other, __builtin_ctz(others), s->pc, s == &c->write });
    }
    record(a, lanes, a->store ? &c->write : read_slot(c, a->warp));
    return s;
}

static void touch_all(const Access *a, u32 lanes)
{
    const Block *b = a->warp->block;
    u32 granule = b->grid->kernel->shared_granule;
    u64 address = a->address[__builtin_ctz(lanes)];
    u32 last = (address + a->bytes - 1) / granule;
    for (u32 n = address / granule; n <= last; n++)
        if (touch(a, lanes, &b->race->cells[n])) return;
}

static bool race_access(Access *a)
{
    if (a->space != SPACE_SHARED) return true;
    a->warp->block->race->visit++;
    if (!a->store && a->regular && a->stride == 0) {
        touch_all(a, a->mask);
        return true;
    }
    for (u32 lanes = a->mask; lanes; lanes &= lanes - 1) touch_all(a, lanes & -lanes);
    return true;
}

// What one of them did, and all that came before it, comes before what those do that go on.
static void race_part_barrier(Block *b, u32 arrived, u32 freed)
{
    struct RaceBlock *r = b->race;
    u32 latest[LANES] = { 0 };
    for (u32 p = arrived; p; p &= p - 1) {
        u32 warp = __builtin_ctz(p);
        for (u32 n = 0; n < LANES; n++) {
            u32 seen = n == warp ? r->visit : r->before[warp][n];
            if (seen > latest[n]) latest[n] = seen;
        }
    }
    for (u32 t = freed; t; t &= t - 1) {
        u32 warp = __builtin_ctz(t);
        race_warp_barrier(&b->warps[warp], b->warps[warp].live);
        for (u32 n = 0; n < LANES; n++)
            if (latest[n] > r->before[warp][n]) r->before[warp][n] = latest[n];
    }
}

const Observer race_observer = { .part_barrier = race_part_barrier, .block_make = race_block_make, .block_free = race_block_free,
                                 .warp_barrier = race_warp_barrier, .access = race_access };
