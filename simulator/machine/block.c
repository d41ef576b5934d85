// A block in its slot: its memory, special registers and barriers, and the turns of its warps, each
// of which runs until it ends, waits at a barrier, or its turn expires.
#include <driver_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "bulk.h"
#include "call.h"
#include "cluster.h"
#include "copy.h"
#include "mbarrier.h"
#include "observer.h"
#include "profile.h"
#include "source_fill.h"
#include "shuffle.h"
#include "special.h"
#include "shard.h"
#include "deadlock.h"

static void clear_stack(Warp *w, const Kernel *k)
{
    memset(w->launch_error, 0, sizeof w->launch_error);
    memset(w->lane_depth, 0, sizeof w->lane_depth);
    for (u32 l = 0; l < LANES; l++) w->frame_top[l] = k->frames_at;
    memset(w->inside, 0, k->function_count * sizeof *w->inside);
    w->stack_used = false;
}

void block_start(Block *b, u32 number, u32 sm)
{
    bool fresh = b->barrier_count == 0;
    const Grid *g = b->grid;
    const u32 *grid = g->launch->grid;
    b->number = number;
    b->sm = sm;
    b->occupied = true;
    b->spins = b->arrivals = b->gives_way = false;
    b->since = g->steps;
    b->rounds = b->meetings = 0;
    b->sweep.step_count = b->sweep.count = 0;
    b->index[0] = number % grid[0];
    b->index[1] = number / grid[0] % grid[1];
    b->index[2] = number / grid[0] / grid[1];
    b->barrier_count++;
    b->grid->progress++;
    memset(b->barriers, 0, sizeof b->barriers);
    mbarriers_forget(b);
    for (u32 n = 0; n < b->warp_count; n++) {
        Warp *w = &b->warps[n];
        u32 left = g->threads - n * LANES;
        w->live = left < LANES ? (1u << left) - 1 : ~0u;
        w->clock_ready = w->yielded = w->turn_expired = w->preempted = w->parted = w->check_stores =
            w->reads_host_memory = w->reads_clock = false;
        w->waited = 0;
        w->clock_insn = NULL;
        w->polls_clock = false;
        w->turn_limit = g->waits ? SPIN_TURNS : WARP_TURNS;
        w->arrival_count = w->votes = 0;
        w->arrival[0].pc = ~0u;
        w->depth = 0;
        if (fresh || w->stack_used) clear_stack(w, g->kernel);
        w->pc = w->active = w->unserved = w->waiting = w->arrived = w->skipped = w->stop =
            w->ready_count = 0;
        w->ready[w->ready_count++] = (Path){ .pc = 0, .mask = w->live };
        copies_forget(w);
    }
    special_fill(b, fresh);
    if (b->cluster) cluster_join(b);
    OBSERVERS(block_start, b);
}

static bool is_complete(const Block *b, u32 number)
{
    const Barrier *barrier = &b->barriers[number];
    if (barrier->wanted) return barrier->threads >= barrier->wanted;
    for (u32 n = 0; n < b->warp_count; n++)
        if (b->warps[n].live && (!b->warps[n].waiting || b->warps[n].barrier != number))
            return false;
    return true;
}

static void observe_barrier(Block *b, u32 arrived, u32 freed)
{
    bool all = true;
    for (u32 n = 0; n < b->warp_count; n++) all &= !b->warps[n].live || freed >> n & 1;
    if (all) {
        b->barrier_count++;
        OBSERVERS(barrier, b, arrived);
    } else {
        OBSERVERS(partial_barrier, b, arrived, freed);
    }
}

// Releases the barriers that are complete. False: there are none.
static bool release(Block *b)
{
    bool any = false;
    b->arrivals = false;
    for (u32 number = 0; number < BARRIERS; number++) {
        Barrier *barrier = &b->barriers[number];
        if (!(barrier->held | barrier->passed) || !is_complete(b, number)) continue;
        observe_barrier(b, barrier->held | barrier->passed, barrier->held);
        u64 waited = 0;
        for (u32 n = 0; n < b->warp_count; n++)
            if (barrier->held >> n & 1 && b->warps[n].waited > waited) waited = b->warps[n].waited;
        for (u32 n = 0; n < b->warp_count; n++) {
            if (!(barrier->held >> n & 1)) continue;
            barrier_free(&b->warps[n], barrier);
            b->warps[n].waited = waited;
            any = true;
        }
        b->grid->progress++;
        *barrier = (Barrier){ 0 };
    }
    return any;
}

static bool over_limit(Grid *g)
{
    const Launch *l = g->launch;
    if (g->shard && shard_is_aborted(g)) {
        grid_fail(g, cudaErrorUnknown);
        return true;
    }
    if (!l->limit || g->steps <= l->limit) return false;
    sweep_flush(g->running->block);
    const Warp *w = g->running;
    // Did the time go to blocks that have ended, and not to this one?
    bool many = g->steps - w->block->since < l->limit / 16;
    Report r = { .cause = many ? CAUSE_blocks_too_many : CAUSE_kernel_too_long,
                 .number = { { "instructions", (s64)l->limit },
                             { "block_number", w->block->number },
                             { "blocks", (s64)((u64)l->grid[0] * l->grid[1] * l->grid[2]) } } };
    u32 pc = w->active ? w->pc : w->ready_count ? w->ready[0].pc : 0;
    u32 mask = w->active ? w->active : w->ready_count ? w->ready[0].mask : 1;
    source_fill(&r, w, g->kernel->code + (pc < g->kernel->code_count ? pc : 0),
                __builtin_ctz(mask));
    report_error(&r);
    grid_fail(g, cudaErrorLaunchTimeout);
    return true;
}

// A round gives each warp of the block that can run a turn. How it ended:
enum round {
    ROUND_STUCK, // no warp could run
    ROUND_SPINS, // every warp has read the same again that others may change, and changed nothing
    ROUND_ASKS,  // they make progress, and one of them reads what others may change
    ROUND_MOVES,
};

static enum round run_warps(Block *b)
{
    Grid *g = b->grid;
    u32 ran = 0, spun = 0, asked = 0;
    while (g->in_step && !g->status && warps_run_together(b))
        if (ran++, over_limit(g)) break;
    u8 order[MOST_WARPS];
    if (g->shuffled) shuffle_warps(g, order, b->warp_count);
    for (u32 n = 0; n < b->warp_count && !g->status; n++) {
        Warp *w = &b->warps[g->shuffled ? order[n] : n];
        if (!w->live || w->waiting) continue;
        u64 steps = g->steps, progress = g->progress;
        if (!w->unserved) {
            w->polled = NULL;
            w->polled_low = ~0ull;
            w->polled_high = 0;
        }
        warp_run(w);
        if (over_limit(g)) break;
        bool spins = w->unserved ? w->spins
                                 : w->turn_expired && w->polled && g->progress == progress
                                       && deadlock_warp_spins(w);
        w->spins = spins;
        if (!w->preempted && !w->unserved) w->check_stores = w->turn_expired && w->polled;
        if (!spins) w->turn_limit = w->polled ? SPIN_TURNS : WARP_TURNS;
        g->waits |= spins;
        ran += g->steps != steps || w->unserved || w->preempted;
        spun += spins;
        asked += w->polled && !w->unserved;
    }
    sweep_flush(b);
    return !ran ? ROUND_STUCK : spun == ran ? ROUND_SPINS : asked ? ROUND_ASKS : ROUND_MOVES;
}

// The first live warp, `waiting` at a barrier or not.
static Warp *first_live(Block *b, bool waiting)
{
    for (u32 n = 0; n < b->warp_count; n++)
        if (b->warps[n].live && (waiting || !b->warps[n].waiting)) return &b->warps[n];
    return NULL;
}

// Every warp waits at a barrier, and none of the barriers will complete.
static void report_waiting(Warp *w)
{
    const Kernel *k = w->block->grid->kernel;
    const Barrier *barrier = &w->block->barriers[w->barrier];
    Report r = { .cause =
                     barrier->wanted ? CAUSE_barrier_of_some_waits : CAUSE_barrier_of_all_waits,
                 .number = { { "barrier", w->barrier },
                             { "wanted", barrier->wanted },
                             { "come", barrier->threads } } };
    source_fill(&r, w, &k->code[w->arrival[0].pc], __builtin_ctz(w->waiting));
    r.waiting_warps = deadlock_list_warps(w->block->grid, w->block);
    report_error(&r);
    free(r.waiting_warps);
    grid_fail(w->block->grid, cudaErrorLaunchFailure);
}

bool block_run(Block *b)
{
    Grid *g = b->grid;
    enum {
        MOST_ROUNDS = 256,
        MOST_MEETINGS = 1 << 14
    }; // barriers met, between which other blocks get a turn
    if (!g->shuffled) b->rounds = b->meetings = 0; // otherwise its turn continues later
    while (b->rounds < MOST_ROUNDS && b->meetings < MOST_MEETINGS) {
        enum round round = run_warps(b);
        if (g->status) return false;
        if (!first_live(b, true)) return true;
        if ((b->arrivals || round <= ROUND_SPINS) && release(b)) {
            b->meetings += round == ROUND_ASKS;
            if (g->shuffled && shuffle_ends(g)) return false;
            continue;
        }
        if (round == ROUND_SPINS) {
            b->spun = g->progress;
            break;
        }
        if (round == ROUND_STUCK && cluster_waits(b)) break;
        if (round == ROUND_STUCK) {
            Warp *stuck = first_live(b, false);
            if (stuck) warp_report_stuck(stuck);
            else report_waiting(first_live(b, true));
            return false;
        }
        if (b->gives_way) break;
        b->rounds += round == ROUND_ASKS;
        if (g->shuffled && shuffle_ends(g)) return false;
    }
    b->rounds = b->meetings = 0;
    b->gives_way = false;
    b->spins = true;
    return false;
}

// The memory that blocks of a slot use one after another. The gap between the kernel's part and the
// system's belongs to nothing.
enum { RESERVED_GAP = 256 };
Block *block_make(Grid *g, u32 slot)
{
    const Kernel *k = g->kernel;
    Block *b = malloc(sizeof *b);
    if (!b) return NULL;
    u32 asked = k->shared_bytes + g->launch->dynamic_shared,
        behind = (asked / RESERVED_GAP + 2) * RESERVED_GAP;
    *b = (Block){ .grid = g,
                  .warp_count = (g->threads + LANES - 1) / LANES,
                  .slot = slot,
                  .rank = slot % g->cluster_blocks,
                  .shared_base = slot % g->cluster_blocks * CLUSTER_WINDOW,
                  .shared_bytes = asked,
                  .reserved_at = k->asks_reserved ? behind : asked,
                  .shared_span =
                      k->asks_reserved ? behind + profile.shared_reserved_per_block : asked };
    if (b->rank) b->cluster = g->slots[slot - b->rank]->cluster;
    else if (g->cluster_blocks > 1 || k->has_cluster_barrier)
        b->cluster = cluster_make(g->cluster_blocks);
    b->warps = calloc(b->warp_count, sizeof *b->warps);
    b->invariant = calloc(k->invariant_count + 1, sizeof *b->invariant);
    b->shared = aligned_alloc(64, (b->shared_span + 127) / 64 * 64);
    if (!b->warps || !b->invariant || !b->shared
        || (!b->cluster && (g->cluster_blocks > 1 || k->has_cluster_barrier)))
        return NULL;
    memset(b->shared, 0xd5, b->shared_span); // undefined bytes are the same in every run
    for (u32 n = 0; n < b->warp_count; n++) {
        Warp *w = &b->warps[n];
        w->block = b;
        w->number = n;
        w->regs = aligned_alloc(64, k->register_bytes);
        w->local = calloc(LANES, k->local_bytes + 1);
        w->taint = calloc(k->register_bytes / 64, sizeof *w->taint);
        w->inside = calloc(k->function_count + 1, sizeof *w->inside);
        w->invariant = calloc(k->invariant_count + 1, sizeof *w->invariant);
        if (!w->regs || !w->local || !w->taint || !w->inside || !w->invariant) return NULL;
        memset(w->regs, 0, k->register_bytes);
    }
    OBSERVERS(block_make, b);
    return b;
}

void block_free(Block *b)
{
    OBSERVERS(block_free, b);
    for (u32 n = 0; n < b->warp_count; n++) {
        free(b->warps[n].regs);
        free(b->warps[n].local);
        free(b->warps[n].taint);
        free(b->warps[n].inside);
        free(b->warps[n].invariant);
        call_stacks_free(&b->warps[n]);
        copies_free(&b->warps[n]);
    }
    mbarriers_free(b);
    bulks_free(b);
    free(b->warps);
    free(b->invariant);
    if (!b->rank) free(b->cluster);
    free(b->shared);
    free(b);
}
