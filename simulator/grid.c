// A launch. Blocks run one after another, lowest number first; a block's warps take turns, each running until it
// ends, waits at a barrier, or has had its turn.
#include <driver_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "observer.h"
#include "profile.h"
#include "source.h"

static void no_memory(const Kernel *k)
{
    fprintf(stderr, "simulator: no memory left to run %s\n", k->signature);
    exit(1);
}

int grid_check(const Launch *l)
{
    static const u64 most_blocks[3] = { 0x7fffffff, 65535, 65535 }, most_threads[3] = { 1024, 1024, 64 };
    u64 threads = 1;
    for (u32 n = 0; n < 3; n++) {
        if (!l->grid[n] || !l->block[n] || l->grid[n] > most_blocks[n]) return cudaErrorInvalidConfiguration;
        if (l->block[n] > most_threads[n]) return cudaErrorInvalidValue;
        threads *= l->block[n];
    }
    if (threads > l->kernel->max_threads) return cudaErrorInvalidValue;
    if ((u64)l->kernel->shared_bytes + l->dynamic_shared > (u64)profile.shared_per_block_optin)
        return cudaErrorInvalidValue;
    return 0;
}

void grid_fail(Grid *g, int status)
{
    if (!g->status) g->status = status;
    if (g->running) g->running->stop = 0;
}

const bool *grid_beyond(Grid *g, u32 barrier)
{
    const Kernel *k = g->kernel;
    if (g->beyond && g->beyond_pc == barrier) return g->beyond;
    free(g->beyond);
    g->beyond = calloc(k->code_count, sizeof *g->beyond);
    u32 *todo = calloc(2 * k->code_count, sizeof *todo), count = 0;
    if (!g->beyond || !todo) no_memory(k);
    g->beyond_pc = barrier;
    for (u32 pc = barrier + 1;; pc = todo[--count]) {
        for (; pc < k->code_count && !g->beyond[pc]; pc++) {
            const Insn *i = &k->code[pc];
            g->beyond[pc] = true;
            if (i->run == run_bra) todo[count++] = i->target;
            if (!i->guard && (i->run == run_bra || i->run == run_ret || i->run == run_exit)) break;
        }
        if (!count) break;
    }
    free(todo);
    return g->beyond;
}

static u64 special_value(const Warp *w, u32 special, u32 lane)
{
    const Launch *l = w->block->grid->launch;
    u32 thread[3];
    warp_thread(w, lane, thread);
    switch (special) {
    case SPECIAL_TID_X: case SPECIAL_TID_Y: case SPECIAL_TID_Z: return thread[special - SPECIAL_TID_X];
    case SPECIAL_NTID_X: case SPECIAL_NTID_Y: case SPECIAL_NTID_Z: return l->block[special - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X: case SPECIAL_CTAID_Y: case SPECIAL_CTAID_Z: return w->block->index[special - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X: case SPECIAL_NCTAID_Y: case SPECIAL_NCTAID_Z: return l->grid[special - SPECIAL_NCTAID_X];
    case SPECIAL_LANEID: return lane;
    case SPECIAL_WARPID: return w->number;
    case SPECIAL_NWARPID: return w->block->warp_count;
    case SPECIAL_DYNAMIC_SMEM: return l->dynamic_shared;
    case SPECIAL_TOTAL_SMEM: return w->block->shared_bytes;
    case SPECIAL_DYNAMIC_BASE: return w->block->grid->kernel->shared_bytes;
    case SPECIAL_SMID: return w->block->sm;
    case SPECIAL_NSMID: return profile.sm_count;
    case SPECIAL_GRIDID: return w->block->grid->number;
    case SPECIAL_LANEMASK_EQ: return 1u << lane;
    case SPECIAL_LANEMASK_LT: return (1u << lane) - 1;
    case SPECIAL_LANEMASK_LE: return ~0u >> (31 - lane);
    case SPECIAL_LANEMASK_GT: return ~(~0u >> (31 - lane));
    case SPECIAL_LANEMASK_GE: return ~((1u << lane) - 1);
    }
    return 0;
}

static bool changes_with_block(u32 special)
{
    return (special >= SPECIAL_CTAID_X && special <= SPECIAL_CTAID_Z) || special == SPECIAL_SMID;
}

// Fills the rows of constants and special registers: all of them for a fresh warp, then those that a block changes.
static void fill_constants(Warp *w, bool fresh)
{
    const Kernel *k = w->block->grid->kernel;
    for (u32 n = 0; n < k->constant_count; n++) {
        const Constant *c = &k->constants[n];
        if (!fresh && !changes_with_block(c->special)) continue;
        for (u32 l = 0; l < LANES; l++) {
            u64 value = c->special ? special_value(w, c->special, l) : c->value;
            memcpy((u8 *)row_of(w, c->row) + l * c->width, &value, c->width);
        }
    }
}

static void block_start(Block *b, u32 number, bool fresh)
{
    const Grid *g = b->grid;
    const u32 *grid = g->launch->grid;
    b->number = number;
    b->sm = number % profile.sm_count;
    b->index[0] = number % grid[0];
    b->index[1] = number / grid[0] % grid[1];
    b->index[2] = number / grid[0] / grid[1];
    b->epoch++;
    memset(b->barriers, 0, sizeof b->barriers);
    for (u32 n = 0; n < b->warp_count; n++) {
        Warp *w = &b->warps[n];
        u32 left = g->threads - n * LANES;
        w->live = left < LANES ? (1u << left) - 1 : ~0u;
        w->clock_ready = false;
        w->come_count = w->votes = 0;
        w->depth = 0;
        memset(w->lane_depth, 0, sizeof w->lane_depth);
        for (u32 l = 0; l < LANES; l++) w->frame_top[l] = g->kernel->frames_at;
        memset(w->inside, 0, g->kernel->function_count * sizeof *w->inside);
        w->pc = w->active = w->waiting = w->arrived = w->skipped = w->stop = w->ready_count = 0;
        w->ready[w->ready_count++] = (Path){ .pc = 0, .mask = w->live };
        fill_constants(w, fresh);
    }
    OBSERVERS(block_start, b);
}

static bool is_complete(const Block *b, u32 number)
{
    const Barrier *barrier = &b->barriers[number];
    if (barrier->wanted) return barrier->threads >= barrier->wanted;
    for (u32 n = 0; n < b->warp_count; n++)
        if (b->warps[n].live && (!b->warps[n].waiting || b->warps[n].barrier != number)) return false;
    return true;
}

static void observe_barrier(Block *b, u32 arrived, u32 freed)
{
    bool all = true;
    for (u32 n = 0; n < b->warp_count; n++) all &= !b->warps[n].live || freed >> n & 1;
    if (all) {
        b->epoch++;
        OBSERVERS(barrier, b);
    } else {
        OBSERVERS(part_barrier, b, arrived, freed);
    }
}

// Lets those go on whose barrier has all that it waits for. False: there are none.
static bool release(Block *b)
{
    bool any = false;
    b->arrivals = false;
    for (u32 number = 0; number < BARRIERS; number++) {
        Barrier *barrier = &b->barriers[number];
        if (!(barrier->held | barrier->passed) || !is_complete(b, number)) continue;
        observe_barrier(b, barrier->held | barrier->passed, barrier->held);
        for (u32 n = 0; n < b->warp_count; n++)
            if (barrier->held >> n & 1) barrier_free(&b->warps[n], barrier), any = true;
        *barrier = (Barrier){ 0 };
    }
    return any;
}

static bool over_limit(Grid *g)
{
    const Launch *l = g->launch;
    if (!l->limit || g->steps <= l->limit) return false;
    Report r = { .kind = REPORT_TIMEOUT, .why = "It may never end: look for a loop whose condition does not change.",
                 .next = "Check the loop's condition, its step, and what each thread compares." };
    const Warp *w = g->running;
    u32 pc = w->active ? w->pc : w->ready_count ? w->ready[0].pc : 0;
    u32 mask = w->active ? w->active : w->ready_count ? w->ready[0].mask : 1;
    source_fill(&r, w, g->kernel->code + (pc < g->kernel->code_count ? pc : 0), __builtin_ctz(mask));
    report_errorf(&r, "the kernel was stopped after %llu warp instructions", (unsigned long long)l->limit);
    grid_fail(g, cudaErrorLaunchTimeout);
    return true;
}

// Gives each warp that can run a turn. False: none of them got anywhere.
static bool run_warps(Block *b)
{
    Grid *g = b->grid;
    u64 before = g->steps;
    for (u32 n = 0; n < b->warp_count && !g->status; n++) {
        Warp *w = &b->warps[n];
        if (!w->live || w->waiting) continue;
        warp_run(w);
        if (over_limit(g)) return false;
    }
    return g->steps != before;
}

static Warp *first_live(Block *b, bool waiting)
{
    for (u32 n = 0; n < b->warp_count; n++)
        if (b->warps[n].live && (waiting || !b->warps[n].waiting)) return &b->warps[n];
    return NULL;
}

// Every warp waits at a barrier, and none of the barriers gets all that it waits for.
static void report_waiting(Warp *w)
{
    const Kernel *k = w->block->grid->kernel;
    const Barrier *barrier = &w->block->barriers[w->barrier];
    Report r = { .kind = REPORT_DEADLOCK, .why = "The other threads have ended, or wait at another barrier.",
                 .next = "Let as many threads come to each barrier as it is told to wait for." };
    source_fill(&r, w, &k->code[w->come[0].pc], __builtin_ctz(w->waiting));
    if (barrier->wanted) report_errorf(&r, "barrier %u waits for %u threads, and %u come", w->barrier, barrier->wanted, barrier->threads);
    else report_errorf(&r, "barrier %u waits for all threads of the block, and %u come", w->barrier, barrier->threads);
    grid_fail(w->block->grid, cudaErrorLaunchFailure);
}

static void block_run(Block *b)
{
    Grid *g = b->grid;
    do {
        while (run_warps(b)) if (b->arrivals) release(b);
        if (g->status || !first_live(b, true)) return;
    } while (release(b));
    Warp *stuck = first_live(b, false);
    if (stuck) warp_report_stuck(stuck);
    else report_waiting(first_live(b, true));
}

// Memory for one resident block, of a size that all blocks of the grid share.
static bool block_make(Block *b, Grid *g, u32 slot)
{
    const Kernel *k = g->kernel;
    *b = (Block){ .grid = g, .warp_count = (g->threads + LANES - 1) / LANES,
                  .shared_bytes = k->shared_bytes + g->launch->dynamic_shared, .slot = slot };
    b->warps = calloc(b->warp_count, sizeof *b->warps);
    b->shared = aligned_alloc(64, (b->shared_bytes + 127) / 64 * 64);
    if (!b->warps || !b->shared) return false;
    memset(b->shared, 0xd5, b->shared_bytes);       // what nothing wrote is the same rubbish in every run
    for (u32 n = 0; n < b->warp_count; n++) {
        Warp *w = &b->warps[n];
        w->block = b;
        w->number = n;
        w->regs = aligned_alloc(64, k->register_bytes);
        w->local = calloc(LANES, k->local_bytes + 1);
        w->taint = calloc(k->register_bytes / 64, sizeof *w->taint);
        w->inside = calloc(k->function_count + 1, sizeof *w->inside);
        if (!w->regs || !w->local || !w->taint || !w->inside) return false;
        memset(w->regs, 0, k->register_bytes);
    }
    OBSERVERS(block_make, b);
    return true;
}

static void block_free(Block *b)
{
    OBSERVERS(block_free, b);
    for (u32 n = 0; b->warps && n < b->warp_count; n++) {
        free(b->warps[n].regs);
        free(b->warps[n].local);
        free(b->warps[n].taint);
        free(b->warps[n].inside);
        call_stacks_free(&b->warps[n]);
    }
    free(b->warps);
    free(b->shared);
}

int grid_run(Launch *l)
{
    Grid g = { .launch = l, .kernel = l->kernel, .threads = l->block[0] * l->block[1] * l->block[2] };
    static u64 steps_before;
    static u32 launches;
    g.steps_before = steps_before;
    g.number = ++launches;
    Block block;
    g.tally = calloc(l->kernel->code_count + 1, sizeof *g.tally);
    if (!g.tally) no_memory(l->kernel);
    OBSERVERS(grid_start, &g);
    if (!block_make(&block, &g, 0)) no_memory(l->kernel);
    u64 blocks = (u64)l->grid[0] * l->grid[1] * l->grid[2];
    for (u64 n = 0; n < blocks && !g.status; n++) {
        block_start(&block, n, n == 0);
        block_run(&block);
        if (!g.status) OBSERVERS(block_end, &block);
    }
    block_free(&block);
    OBSERVERS(grid_end, &g);
    steps_before += g.steps;
    free(g.tally);
    free(g.beyond);
    return g.status;
}
