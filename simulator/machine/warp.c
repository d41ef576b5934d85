// A warp runs its lowest path first and merges paths that meet, so that diverged lanes reconverge
// as soon as they are at the same instruction. A path that has branched backwards often enough lets
// another path run once, because it may wait for those lanes.
#include <driver_types.h>
#include <string.h>

#include "isa/isa.h"
#include "report/report.h"
#include "atomic.h"
#include "source_fill.h"
#include "handlers.h"
#include "invariant.h"
#include "observer.h"
#include "shuffle.h"
#include "grid_state.h"

void warp_park(Warp *w, u32 pc, u32 mask)
{
    while (mask) {
        u32 depth = w->lane_depth[__builtin_ctz(mask)], here = mask;
        for (u32 rest = mask; w->frames && rest; rest &= rest - 1)
            if (w->lane_depth[__builtin_ctz(rest)] != depth) here &= ~(rest & -rest);
        w->ready[w->ready_count++] = (Path){ .pc = pc, .mask = here, .depth = depth };
        mask &= ~here;
    }
    if (pc < w->stop) w->stop = pc;
}

void warp_give_way(Warp *w, bool blocks)
{
    w->preempted = w->turn_expired = true; // also for lanes of its own that are elsewhere
    w->block->gives_way |= blocks;
}

void warp_hold(Warp *w, u32 pc, u32 mask)
{
    w->ready[w->ready_count++] = (Path){ .pc = pc, .mask = mask, .held = true, .depth = w->depth };
    w->stop = 0;
}

u32 warp_complete(const Warp *w, u32 lanes, const u32 *members)
{
    for (u32 rest = lanes, same; rest; rest &= ~same) {
        u32 wanted = members[__builtin_ctz(rest)];
        same = 0;
        for (u32 l = 0; l < LANES; l++) same |= (u32)(members[l] == wanted) << l & rest;
        if (!(wanted & w->live & ~same)) return same;
    }
    return 0;
}

// Only lanes that wait for others are left: somewhere the last of those may have arrived or ended
// by now.
static bool all_held(Warp *w, u32 *pc, u32 *depth)
{
    for (u32 n = 0; n < w->ready_count; n++) {
        Path path = w->ready[n];
        if (path.mask & w->cluster_waiting) continue;
        const u32 *members = row_of(w, w->block->grid->kernel->code[path.pc].members);
        u32 here = 0;
        for (u32 k = 0; k < w->ready_count; k++)
            if (w->ready[k].pc == path.pc && w->ready[k].depth == path.depth)
                here |= w->ready[k].mask;
        if (!warp_complete(w, here, members)) continue;
        *pc = path.pc;
        *depth = path.depth;
        return true;
    }
    return false;
}

void warp_report_stuck(Warp *w)
{
    const Kernel *k = w->block->grid->kernel;
    Path first = w->ready_count ? w->ready[0] : (Path){ .pc = w->arrived_pc, .mask = w->arrived };
    Path other = w->arrived ? (Path){ .pc = w->arrived_pc, .mask = w->arrived }
                            : w->ready[w->ready_count - 1];
    Report r = { .cause = CAUSE_lanes_wait_for_lanes };
    source_fill(&r, w, &k->code[first.pc], __builtin_ctz(first.mask));
    r.threads = __builtin_popcount(first.mask);
    if (other.pc != first.pc) {
        r.has_other = true;
        r.other.place = source_place(k, other.pc);
        warp_thread(w, __builtin_ctz(other.mask), r.other.thread);
    }
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorLaunchFailure);
}

// While some lanes are at a barrier: have the others executed anything that follows it? Then they
// have passed it.
static void look_beyond(Warp *w)
{
    Grid *g = w->block->grid;
    const bool *beyond = grid_beyond(g, w->arrived_pc);
    if (beyond[w->pc] && !insn_ends(&g->kernel->code[w->pc])) {
        w->skipped |= w->active;
        return;
    }
    u32 pc = w->pc + 1;
    while (pc < g->kernel->code_count && !beyond[pc]) pc++;
    if (pc < w->stop) w->stop = pc;
}

// Does a path come before the best one so far? Lanes in a call finish it before the others
// continue.
static bool goes_first(const Path *path, u32 pc, u32 depth)
{
    return pc == ~0u || path->depth > depth || (path->depth == depth && path->pc < pc);
}

// Under --shuffle: lanes that fell behind go on when no others can, or at the end of a turn.
static void catch_up(Warp *w, bool turn_expired)
{
    bool others = false;
    for (u32 n = 0; n < w->ready_count; n++) others |= !(w->ready[n].held | w->ready[n].late);
    if (others && !turn_expired) return;
    for (u32 n = 0; n < w->ready_count; n++) w->ready[n].late = false;
}

// Picks the lanes at the lowest instruction, or, if the turn has expired, at the next lowest.
// False: there are none.
static bool pick(Warp *w, bool turn_expired)
{
    if (!w->active && w->ready_count == 1
        && !(w->ready[0].held | w->ready[0].late | w->arrived
             | w->cluster_waiting)) { // the common case
        w->pc = w->ready[0].pc;
        w->depth = w->ready[0].depth;
        w->active = w->ready[0].mask;
        w->stop = ~0u;
        w->ready_count = 0;
        return true;
    }
    u32 avoid = turn_expired ? w->pc : ~0u;
    if (w->active)
        w->ready[w->ready_count++] = (Path){ .pc = w->pc, .mask = w->active, .depth = w->depth };
    if (!w->ready_count) return false;
    u32 pc = ~0u, depth = w->depth, kept = 0;
    if (w->parted) catch_up(w, turn_expired);
    for (u32 n = 0; n < w->ready_count; n++) {
        Path path = w->ready[n];
        if (!(path.held | path.late) && path.pc != avoid && goes_first(&path, pc, depth))
            pc = path.pc, depth = path.depth;
    }
    for (u32 n = 0; pc == ~0u && avoid != ~0u && n < w->ready_count; n++)
        if (!w->ready[n].held) pc = w->ready[n].pc, depth = w->ready[n].depth;
    if (pc == ~0u && !all_held(w, &pc, &depth)) return false;
    w->pc = pc;
    w->depth = depth;
    w->active = 0;
    w->stop = ~0u;
    for (u32 n = 0; n < w->ready_count; n++) {
        Path path = w->ready[n];
        if (path.pc == pc && path.depth == depth && !path.late
            && !(path.mask & w->cluster_waiting)) {
            w->active |= path.mask;
        } else {
            w->ready[kept++] = path;
            if (path.depth == depth && path.pc > pc && path.pc < w->stop && !path.late)
                w->stop = path.pc;
        }
    }
    w->ready_count = kept;
    if (w->arrived && !w->parted && insn_row(&w->block->grid->kernel->code[w->arrived_pc])->aligned)
        look_beyond(w);
    return true;
}

// Under --shuffle: some lanes stay in front of the instruction.
static bool fall_behind(Warp *w, const Insn *i)
{
    u32 late = shuffle_parts(w, i);
    if (!late) return false;
    w->ready[w->ready_count++] = (Path){ .pc = w->pc - 1, .mask = late, .late = true };
    w->active &= ~late;
    return true;
}

// Runs the current path up to Warp.stop. Returns the number of instructions. `bare`: without
// tallies and observers. `shuffled`: the turn may be preempted. Runs of instructions are tallied
// together.
static inline __attribute__((always_inline)) u64 run_path(Warp *w, const Insn *code, Tally *tally,
                                                          bool bare, bool shuffled)
{
    u64 steps = 0;
    u32 pc = w->pc, first = pc, active = w->active;
    bool seen = !bare && (w->watch || w->trace);
    while (pc < w->stop) {
        const Insn *i = code + pc++;
        u32 mask = active;
        if (i->plain && !(i->guard | i->invariant) && !seen && !shuffled) {
            i->run(w, i, mask);
            continue;
        }
        if (i->invariant && !seen && !shuffled && pc - 1 + i->invariant_run <= w->stop
            && invariant_run_is_done(w, i, mask)) {
            pc += i->invariant_run - 1;
            continue;
        }
        w->pc = pc;
        if (shuffled && fall_behind(w, i)) {
            u64 ran = pc - 1 - first;
            steps += ran;
            if (!bare && ran) tally_run(tally, first, pc - 1, active);
            first = pc - 1;
            mask = active = w->active;
        }
        if (i->guard) mask &= *(u32 *)row_of(w, i->guard) ^ i->guard_flip;
        if (!bare && i->observable && w->block->sweep.count) sweep_flush(w->block);
        if (seen && w->watch) w->watch(w, i, mask);
        if (seen && w->preempted) {
            pc--;
            break;
        }
        if (seen && w->trace) OBSERVERS(step, w, i);
        if (mask && !(i->invariant && invariant_is_done(w, i, mask))) i->run(w, i, mask);
        seen = !bare && (w->watch || w->trace);
        if (i->moves) {
            steps += pc - first;
            if (!bare) tally_run(tally, first, pc, active);
            pc = first = w->pc;
            active = w->active;
        }
        if (shuffled && mask && shuffle_preempts(w, i)) break;
    }
    w->pc = pc;
    if (!bare && pc != first) tally_run(tally, first, pc, active);
    return steps + (pc - first);
}

static __attribute__((noinline)) u64 run_piece(Warp *w, const Insn *code, Tally *tally)
{
    return run_path(w, code, tally, observers_are_bare, true);
}

void warp_run(Warp *w)
{
    Grid *grid = w->block->grid;
    const Insn *code = grid->kernel->code;
    Tally *tally = grid->tally;
    bool turn_expired = w->turn_expired;
    if (!w->preempted && !w->unserved) w->turns = 0; // so paths yield to each other equally often
    w->turn_expired = w->preempted = false;
    grid->running = w;
    if (w->unserved) atomic_go_on(w);
    for (; !w->waiting && !w->unserved && !grid->status && pick(w, turn_expired);
         turn_expired = false) {
        grid->steps += grid->shuffled     ? run_piece(w, code, tally)
                     : observers_are_bare ? run_path(w, code, tally, true, false)
                                          : run_path(w, code, tally, false, false);
        w->turn_expired = w->preempted ? w->turn_expired : w->turns >= w->turn_limit;
        if (w->turn_expired || w->preempted) return; // others may have to run first
    }
}

// ---- Warps in step ----

typedef struct Row { // of warps, each with all its live lanes
    Warp *warp[MOST_WARPS];
    u32 mask[MOST_WARPS];
    u32 count, threads;
} Row;

// The warps of the block that are at the first one's instruction.
static void line_up(Row *row, Block *b)
{
    row->count = row->threads = 0;
    for (u32 n = 0; n < b->warp_count; n++) {
        Warp *w = &b->warps[n];
        if (!w->live || w->waiting || w->arrived || !pick(w, false) || w->active != w->live)
            continue;
        if (row->count && (w->pc != row->warp[0]->pc || w->depth != row->warp[0]->depth)) continue;
        w->turns = 0;
        row->mask[row->count] = w->active;
        row->warp[row->count++] = w;
        row->threads += __builtin_popcount(w->active);
    }
}

// Do all of them continue at one instruction, with the lanes that they had?
static bool is_in_line(const Row *row)
{
    u32 pc = row->warp[0]->pc, parted = 0;
    for (u32 n = 0; n < row->count; n++) {
        const Warp *w = row->warp[n];
        parted |= (w->pc ^ pc) | (w->active ^ row->mask[n]) | (pc >= w->stop);
    }
    return !parted;
}

static void run_in_line(const Row *row, const Insn *i, u32 next)
{
    Grid *g = row->warp[0]->block->grid;
    for (u32 n = 0; n < row->count && !g->status; n++) {
        Warp *w = g->running = row->warp[n];
        u32 mask = row->mask[n];
        w->pc = next;
        if (i->guard) mask &= *(u32 *)row_of(w, i->guard) ^ i->guard_flip;
        if (mask && !(i->invariant && invariant_is_done(w, i, mask))) i->run(w, i, mask);
    }
}

bool warps_run_together(Block *b)
{
    Grid *g = b->grid;
    Row row;
    line_up(&row, b);
    if (row.count < 2) return false;
    const Insn *code = g->kernel->code;
    u64 steps = g->steps;
    for (u32 pc = row.warp[0]->pc; !g->status;) {
        const Insn *i = code + pc++;
        g->steps += row.count;
        if (i->plain && !i->guard && !i->invariant) {
            for (u32 n = 0; n < row.count; n++) i->run(row.warp[n], i, row.mask[n]);
        } else if (!(i->invariant && b->invariant[i->invariant])) {
            run_in_line(&row, i, pc);
            b->invariant[i->invariant] = row.threads == g->threads;
        }
        if (!i->moves) continue;
        if (!is_in_line(&row)) break;
        pc = row.warp[0]->pc;
    }
    return g->steps - steps > row.count;
}

void warp_thread(const Warp *w, u32 lane, u32 thread[3])
{
    const u32 *block = w->block->grid->launch->block;
    u32 n = w->number * LANES + lane;
    thread[0] = n % block[0];
    thread[1] = n / block[0] % block[1];
    thread[2] = n / block[0] / block[1];
}
