// Instructions that change a warp's path: branches, exits, barriers, calls.
#include <driver_types.h>
#include <string.h>

#include "call.h"
#include "cluster.h"
#include "handlers.h"
#include "observer.h"
#include "occupancy.h"
#include "print.h"
#include "report/report.h"
#include "source_fill.h"

void run_bra(Warp *w, const Insn *i, u32 mask)
{
    u32 next = w->pc, stay = w->active & ~mask;
    bool back = i->target < next;
    if (stay) {
        Grid *g = w->block->grid;
        g->tally[i - g->kernel->code].divergent++;
        // There are two paths now. The lower one continues; the higher one waits until the lower
        // one reaches it.
        if (back) warp_park(w, next, stay), w->pc = i->target;
        else warp_park(w, i->target, mask);
        w->active = back ? mask : stay;
    } else {
        w->pc = i->target;
    }
    w->turns += back;
    if (w->arrived || w->turns >= w->turn_limit || (back && w->ready_count)) w->stop = 0;
}

// Each lane jumps where its index says. PTX leaves an index beyond the list open; the last entry is
// taken.
void run_brx(Warp *w, const Insn *i, u32 mask)
{
    const u32 *index = row_of(w, i->a);
    w->active &= ~mask;
    while (mask) {
        u32 chosen = index[__builtin_ctz(mask)], same = 0;
        for (u32 rest = mask; rest; rest &= rest - 1)
            if (index[__builtin_ctz(rest)] == chosen) same |= rest & -rest;
        warp_park(w, i->list[chosen < i->target ? chosen : i->target - 1], same);
        mask &= ~same;
    }
    w->turns++;
    w->stop = 0;
}

static void report_barrier(Warp *w, u32 pc, u32 others)
{
    bool in_loop = grid_meets_each_round(w->block->grid, pc);
    Report r = { .cause = in_loop ? CAUSE_barrier_in_loop : CAUSE_barrier_in_branch,
                 .threads = __builtin_popcount(w->arrived),
                 .number = { { "warp_threads", __builtin_popcount(w->arrived | others) } } };
    source_fill(&r, w, &w->block->grid->kernel->code[pc], __builtin_ctz(w->arrived));
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorLaunchFailure);
}

// When every live lane has reached the barrier, the warp waits for the others, or continues if it
// only arrives.
static void settle(Warp *w)
{
    if (!w->arrived || w->arrived != w->live) return;
    Block *block = w->block;
    const Insn *i = &block->grid->kernel->code[w->arrived_pc];
    Barrier *b = &block->barriers[w->arrived_at];
    u32 yes = w->votes & w->arrived;
    b->threads += LANES;
    if (i->b) b->wanted = ((const u32 *)row_of(w, i->b))[__builtin_ctz(w->arrived)];
    b->some |= yes;
    b->count += __builtin_popcount(yes);
    b->not_all |= yes != w->arrived;
    if (i->op == ISA_bar_arrive) {
        b->passed |= 1u << w->number;
    } else {
        b->held |= 1u << w->number;
        w->waiting = w->arrived;
        w->barrier = w->arrived_at;
    }
    for (u32 n = 0; n < w->arrival_count; n++)
        warp_park(w, w->arrival[n].pc + 1, w->arrival[n].mask);
    if (!w->waiting) w->arrival_count = 0;
    w->arrived = w->skipped = w->votes = 0;
    w->stop = 0;
    block->arrivals = true;
    block->grid->progress++;
}

// A lane may end without coming to a barrier at which others wait, but it may not run past the
// barrier and then end.
static void end_lanes(Warp *w, u32 mask)
{
    if (w->arrived && w->skipped & mask) report_barrier(w, w->arrived_pc, w->skipped & mask);
    w->block->grid->progress++;
    w->live &= ~mask;
    w->active &= ~mask;
    if (w->block->cluster) cluster_leave(w, mask);
    if (!w->active) w->stop = 0;
    settle(w);
}

void run_ret(Warp *w, const Insn *i, u32 mask)
{
    (void)i;
    if (w->depth) call_return(w, mask);
    else end_lanes(w, mask);
}

void run_exit(Warp *w, const Insn *i, u32 mask)
{
    (void)i;
    end_lanes(w, mask);
}

void run_trap(Warp *w, const Insn *i, u32 mask)
{
    const Grid *g = w->block->grid;
    bool no_workspace = g->asked_workspace && !g->workspace
                     && source_is_toolkits(g->kernel, (u32)(i - g->kernel->code));
    Report r = { .cause = CAUSE_trap };
    if (no_workspace)
        r = (Report){ .cause = CAUSE_trap_in_grid_sync,
                      .number = { { "resident", occupancy_resident(g->launch) } } };
    source_fill(&r, w, i, __builtin_ctz(mask));
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorLaunchFailure);
}

void run_brkpt(Warp *w, const Insn *i, u32 mask)
{
    Report r = { .cause = CAUSE_breakpoint };
    source_fill(&r, w, i, __builtin_ctz(mask));
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorLaunchFailure);
}

// bar.sync is for whole warps; the lanes of a warp may reach barrier.sync by different
// instructions. Lanes wait here until the rest of their warp has arrived or ended.
static void come(Warp *w, const Insn *i, u32 mask)
{
    u32 pc = i - w->block->grid->kernel->code,
        number = ((const u32 *)row_of(w, i->a))[__builtin_ctz(mask)] % BARRIERS;
    if (w->arrived && (w->arrived_at != number || (insn_row(i)->aligned && w->arrived_pc != pc))) {
        report_barrier(w, w->arrived_pc, mask);
        return;
    }
    if (i->op == ISA_bar_red) w->votes |= (*(const u32 *)row_of(w, i->c) ^ i->flip) & mask;
    w->arrived |= mask;
    w->arrived_pc = pc;
    w->arrived_at = number;
    w->arrival[w->arrival_count++] = (Path){ .pc = pc, .mask = mask };
    w->skipped &= ~mask;
    w->active &= ~mask;
    w->stop = 0;
    settle(w);
}

void barrier_free(Warp *w, const Barrier *b)
{
    for (u32 n = 0; n < w->arrival_count; n++) {
        const Insn *i = &w->block->grid->kernel->code[w->arrival[n].pc];
        enum vote vote = insn_row(i)->vote;
        u32 mask = w->arrival[n].mask, *d = row_of(w, i->d),
            yes = vote == VOTE_ALL ? !b->not_all : b->some != 0;
        if (vote == VOTE_NONE) continue;
        if (vote == VOTE_COUNT) {
            for (u32 l = 0; l < LANES; l++)
                if (mask >> l & 1) d[l] = b->count;
        } else {
            *d = (*d & ~mask) | (yes ? mask : 0);
        }
    }
    w->arrival_count = 0;
    w->waiting = 0;
}

void run_bar_sync(Warp *w, const Insn *i, u32 mask) { come(w, i, mask); }
void run_bar_arrive(Warp *w, const Insn *i, u32 mask) { come(w, i, mask); }
void run_bar_red(Warp *w, const Insn *i, u32 mask) { come(w, i, mask); }

// One warp instruction completes before the next begins, so memory is always in order here. What a
// program may rely on is less; the instruction's order and scope say what.
void run_fence(Warp *w, const Insn *i, u32 mask)
{
    (void)mask;
    w->polled = i;
    OBSERVERS(fence, w, i);
}

// Hints. A launch begins after the one before it has ended, so griddepcontrol never has to wait.
#define NOTHING(name)                                                                              \
    void run_##name(Warp *w, const Insn *i, u32 mask) { (void)w, (void)i, (void)mask; }
NOTHING(pmevent)
NOTHING(prefetch)
NOTHING(prefetchu)
NOTHING(bulk_prefetch)
NOTHING(applypriority)
NOTHING(discard)
NOTHING(griddepcontrol)
#undef NOTHING

// Only loads and stores receive the policy, and they ignore it.
void run_createpolicy(Warp *w, const Insn *i, u32 mask)
{
    u64 *d = row_of(w, i->d);
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1) d[l] = 0;
}

void run_call(Warp *w, const Insn *i, u32 mask)
{
    w->block->grid->progress++;
    print_functions[i->target](w, i, mask);
}
