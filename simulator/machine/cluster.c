// The barrier of a cluster. Threads arrive and wait by two instructions, between which they may do
// other work. Lanes of a warp may come separately. A thread that has arrived must wait before it
// arrives again, so at most two phases are in use.
#include <driver_types.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "cluster.h"
#include "handlers.h"
#include "observer.h"
#include "source_fill.h"
#include "deadlock.h"

u64 cluster_block(const Launch *l, u64 cluster, u32 rank)
{
    const u32 *size = l->cluster, *grid = l->grid;
    if (!size[0]) return cluster;
    u64 across = grid[0] / size[0], down = grid[1] / size[1];
    u64 x = cluster % across * size[0] + rank % size[0],
        y = cluster / across % down * size[1] + rank / size[0] % size[1];
    u64 z = cluster / across / down * size[2] + rank / size[0] / size[1];
    return (z * grid[1] + y) * grid[0] + x;
}

u64 cluster_first(const u32 grid[3], const u32 size[3], u64 block)
{
    u64 x = block % grid[0], y = block / grid[0] % grid[1], z = block / grid[0] / grid[1];
    return ((z - z % size[2]) * grid[1] + y - y % size[1]) * grid[0] + x - x % size[0];
}

Cluster *cluster_make(u32 size)
{
    Cluster *c = calloc(1, sizeof *c);
    if (c) c->size = size;
    return c;
}

void cluster_join(Block *b)
{
    Cluster *c = b->cluster;
    if (!b->rank) c->missing = c->phase = 0;
    c->blocks[b->rank] = b;
    c->missing += b->grid->threads;
    b->stuck = false;
    for (u32 n = 0; n < b->warp_count; n++)
        b->warps[n].cluster_arrived = b->warps[n].cluster_early = b->warps[n].cluster_waiting = 0;
}

// Waiting lanes continue after the barrier; the others will when they wait.
static void free_warp(Warp *w)
{
    u32 held = w->cluster_waiting;
    w->cluster_early |= w->cluster_arrived & ~held;
    w->cluster_arrived = w->cluster_waiting = 0;
    if (!held) return;
    for (u32 n = 0; n < w->ready_count; n++)
        if (w->ready[n].mask & held) w->ready[n].held = false;
    if (w->waiting && w->barrier == CLUSTER_BARRIER) w->waiting = 0;
    w->stop = 0;
    OBSERVERS(cluster_wait, w);
}

static void complete(Cluster *c)
{
    c->phase++;
    for (u32 rank = 0; rank < c->size; rank++) {
        Block *b = c->blocks[rank];
        b->stuck = b->spins = false;
        for (u32 n = 0; b->occupied && n < b->warp_count; n++) {
            free_warp(&b->warps[n]);
            c->missing += __builtin_popcount(b->warps[n].live);
        }
    }
    c->blocks[0]->grid->progress++;
}

void cluster_leave(Warp *w, u32 lanes)
{
    Cluster *c = w->block->cluster;
    c->missing -= __builtin_popcount(lanes & ~w->cluster_arrived);
    w->cluster_arrived &= ~lanes;
    w->cluster_early &= ~lanes;
    if (!c->missing) complete(c);
}

static void report_order(Warp *w, const Insn *i, u32 lanes, enum report_cause cause)
{
    Report r = { .cause = cause, .threads = __builtin_popcount(lanes) };
    source_fill(&r, w, i, __builtin_ctz(lanes));
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorLaunchFailure);
}

static void arrive(Warp *w, const Insn *i, u32 lanes)
{
    Cluster *c = w->block->cluster;
    u32 again = lanes & (w->cluster_arrived | w->cluster_early);
    if (again) {
        report_order(w, i, again, CAUSE_cluster_arrives_twice);
        return;
    }
    w->cluster_arrived |= lanes;
    c->missing -= __builtin_popcount(lanes);
    OBSERVERS(cluster_arrive, w, i);
    w->block->grid->progress++;
    if (!c->missing) complete(c);
}

static void wait(Warp *w, const Insn *i, u32 lanes)
{
    u32 never = lanes & ~(w->cluster_arrived | w->cluster_early), held = lanes & w->cluster_arrived;
    if (never) {
        report_order(w, i, never, CAUSE_cluster_waits_unarrived);
        return;
    }
    w->cluster_early &= ~lanes;
    if (lanes & ~held) OBSERVERS(cluster_wait, w);
    if (!held) return;
    w->active &= ~held;
    warp_hold(w, w->pc, held);
    w->cluster_waiting |= held;
    w->cluster_pc = w->pc - 1;
    if (w->cluster_waiting == w->live) w->waiting = w->live, w->barrier = CLUSTER_BARRIER;
}

// The .aligned forms need all live lanes of the warp.
void run_cluster_arrive(Warp *w, const Insn *i, u32 mask)
{
    if (insn_row(i)->aligned) mask = exchange_live(w, i, mask);
    if (mask) arrive(w, i, mask);
}

void run_cluster_wait(Warp *w, const Insn *i, u32 mask)
{
    if (insn_row(i)->aligned) mask = exchange_live(w, i, mask);
    if (mask) wait(w, i, mask);
}

// Is the address in the block's own shared memory?
void run_isspacep_own(Warp *w, const Insn *i, u32 mask)
{
    const u64 *a = row_of(w, i->a), own = SHARED_WINDOW + w->block->shared_base;
    u32 *p = row_of(w, i->d), yes = 0;
    for (u32 l = 0; l < LANES; l++) yes |= (u32)(a[l] - own < CLUSTER_WINDOW) << l;
    *p = (*p & ~mask) | (yes & mask);
}

// ---- Those that wait for ever ----

static Warp *first_held(const Block *b)
{
    for (u32 n = 0; n < b->warp_count; n++)
        if (b->warps[n].live && b->warps[n].cluster_waiting) return &b->warps[n];
    return NULL;
}

static void report_waiting(const Cluster *c, Warp *w)
{
    u32 threads = 0;
    for (u32 rank = 0; rank < c->size; rank++)
        for (u32 n = 0; c->blocks[rank]->occupied && n < c->blocks[rank]->warp_count; n++)
            threads += __builtin_popcount(c->blocks[rank]->warps[n].live);
    Grid *g = w->block->grid;
    Report r = { .cause = CAUSE_cluster_barrier_waits,
                 .number = { { "wanted", threads }, { "come", threads - c->missing } } };
    source_fill(&r, w, &g->kernel->code[w->cluster_pc], __builtin_ctz(w->cluster_waiting));
    r.waiting_warps = deadlock_list_warps(g, w->block->cluster->size > 1 ? NULL : w->block);
    report_error(&r);
    free(r.waiting_warps);
    grid_fail(g, cudaErrorLaunchFailure);
}

bool cluster_waits(Block *b)
{
    Cluster *c = b->cluster;
    if (!c || !first_held(b)) return false;
    b->stuck = true;
    for (u32 rank = 0; rank < c->size; rank++)
        if (c->blocks[rank]->occupied && !c->blocks[rank]->stuck) return true;
    report_waiting(c, first_held(b));
    return true;
}
