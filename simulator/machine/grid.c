// A launch. Blocks run one after another, lowest number first, each to its end if possible. When a
// block cannot continue because it waits for another, the next block begins beside it, up to as
// many as the device holds; then they take turns. Shuffled, they begin and take turns as a seed
// decides (shuffle.c).
#include <driver_types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "block.h"
#include "bulk.h"
#include "call.h"
#include "dynamic_launch.h"
#include "cluster.h"
#include "cooperative.h"
#include "handlers.h"
#include "invariant.h"
#include "observer.h"
#include "occupancy.h"
#include "profile.h"
#include "access_pattern.h"
#include "shuffle.h"
#include "special.h"
#include "shard.h"
#include "deadlock.h"

static void no_memory(const Kernel *k)
{
    fprintf(stderr, "simulator/run: no memory left to run %s\n", k->signature);
    exit(1);
}

const u32 grid_most_blocks[3] = { 0x7fffffff, 65535, 65535 },
          grid_most_threads[3] = { 1024, 1024, 64 };

static bool is_cluster(const Launch *l)
{
    u64 blocks = 1;
    for (u32 n = 0; n < 3; n++) {
        if (!l->cluster[n] || l->cluster[n] > MOST_CLUSTER_BLOCKS || l->grid[n] % l->cluster[n])
            return false;
        blocks *= l->cluster[n];
    }
    return blocks <= MOST_CLUSTER_BLOCKS;
}

int grid_check(const Launch *l)
{
    u64 threads = 1;
    for (u32 n = 0; n < 3; n++) {
        if (!l->grid[n] || !l->block[n] || l->grid[n] > grid_most_blocks[n])
            return cudaErrorInvalidValue;
        if (l->block[n] > grid_most_threads[n]) return cudaErrorInvalidValue;
        threads *= l->block[n];
    }
    if (threads > l->kernel->max_threads) return cudaErrorInvalidValue;
    if ((u64)l->kernel->shared_bytes + l->dynamic_shared > (u64)profile.shared_per_block_optin)
        return cudaErrorInvalidValue;
    // With the registers that ptxas allocated for each thread, so many threads exceed a
    // multiprocessor. A guess of registers refuses no launch.
    if (l->kernel->registers_known
        && !occupancy_blocks(l->kernel, (u32)threads, l->dynamic_shared).blocks)
        return cudaErrorLaunchOutOfResources;
    if (l->cluster[0] && !is_cluster(l)) return cudaErrorInvalidClusterSize;
    if (l->cooperative && (u64)l->grid[0] * l->grid[1] * l->grid[2] > occupancy_resident(l))
        return cudaErrorCooperativeLaunchTooLarge;
    return 0;
}

void grid_fail(Grid *g, int status)
{
    if (!g->status) g->status = status;
    if (g->running) g->running->stop = 0;
}

static u32 add_next(const Kernel *k, u32 pc, u32 *todo, u32 count)
{
    const Insn *i = &k->code[pc];
    if (i->op == ISA_bra) todo[count++] = i->target;
    if (i->guard || (i->op != ISA_bra && !insn_ends(i))) todo[count++] = pc + 1;
    return count;
}

// Marks what can run after the instruction at `from`, if not by way of that at `avoid`.
static void follow(const Kernel *k, u32 from, u32 avoid, bool *seen)
{
    u32 *todo = calloc(2 * k->code_count + 2, sizeof *todo), count = 0;
    if (!todo) no_memory(k);
    for (count = add_next(k, from, todo, count); count;) {
        u32 pc = todo[--count];
        if (pc >= k->code_count || pc == avoid || seen[pc]) continue;
        seen[pc] = true;
        count = add_next(k, pc, todo, count);
    }
    free(todo);
}

const bool *grid_beyond(Grid *g, u32 barrier)
{
    const Kernel *k = g->kernel;
    if (g->beyond && g->beyond_pc == barrier) return g->beyond;
    free(g->beyond);
    g->beyond = calloc(k->code_count, sizeof *g->beyond);
    if (!g->beyond) no_memory(k);
    g->beyond_pc = barrier;
    follow(k, barrier, ~0u, g->beyond);
    return g->beyond;
}

// The loop begins with the first of its instructions. A round leads from there to there.
bool grid_meets_each_round(Grid *g, u32 barrier)
{
    const Kernel *k = g->kernel;
    u32 begin = 0;
    if (!grid_beyond(g, barrier)[barrier]) return false;
    while (!grid_beyond(g, barrier)[begin] || !grid_beyond(g, begin)[barrier]) begin++;
    bool *seen = calloc(k->code_count, sizeof *seen);
    if (!seen) no_memory(k);
    if (begin != barrier) follow(k, begin, barrier, seen);
    bool around = seen[begin];
    free(seen);
    return !around;
}

// ---- Slots ----

static void make_slot(Grid *g)
{
    if ((g->slot_count & (g->slot_count - 1)) == 0) {
        Block **larger =
            realloc(g->slots, (g->slot_count ? 2 * g->slot_count : 1) * sizeof *larger);
        if (!larger) no_memory(g->kernel);
        g->slots = larger;
    }
    Block *b = g->slots[g->slot_count] = block_make(g, g->slot_count);
    if (!b) no_memory(g->kernel);
    g->slot_count++;
}

// The first of as many slots as a cluster has blocks: free ones, or new ones. What a cluster's
// block leaves behind is kept until the last of them has ended.
static u32 free_slots(Grid *g)
{
    u32 size = g->cluster_blocks, first = 0, free = 0;
    while (first < g->slot_count && free < size) {
        free = 0;
        while (free < size && !g->slots[first + free]->occupied) free++;
        if (free < size) first += size;
    }
    for (u32 n = 0; free < size && n < size; n++) make_slot(g);
    return first;
}

// Slots sm_count apart are on one multiprocessor. A block that runs alone is assumed to be on the
// multiprocessor of the blocks that would be resident with it.
static u32 place_block(Grid *g, u32 slot)
{
    u32 count = profile.sm_count;
    if (!g->resident) g->first_sm = (g->next + count - slot % count) % count;
    return (g->first_sm + slot) % count;
}

// The blocks of a cluster are on multiprocessors of one GPC, which are gpc_count apart.
static u32 place_in_gpc(u64 cluster, u32 size, u32 rank)
{
    u32 gpcs = (u32)profile.gpc_count, gpc = cluster % gpcs,
        sms = ((u32)profile.sm_count - gpc + gpcs - 1) / gpcs;
    u64 beside = sms < size ? 1 : sms / size;
    return gpc + (u32)((cluster / gpcs % beside * size + rank) % sms) * gpcs;
}

static bool all_spin(const Grid *g)
{
    for (u32 n = 0; n < g->slot_count; n++)
        if (g->slots[n]->occupied && !g->slots[n]->spins) return false;
    return true;
}

static bool can_start(const Grid *g)
{
    return g->next < g->blocks && g->resident + g->cluster_blocks <= g->slot_limit;
}

// Begins the next block, or all blocks of the next cluster. Returns the first.
static Block *start(Grid *g)
{
    u32 first = free_slots(g), size = g->cluster_blocks;
    u64 cluster = g->next / size;
    for (u32 rank = 0; rank < size; rank++) {
        Block *b = g->slots[first + rank];
        u64 number = size > 1 ? cluster_block(g->launch, cluster, rank) : shuffle_block(g, g->next);
        block_start(b, (u32)number,
                    size > 1 ? place_in_gpc(cluster, size, rank) : place_block(g, b->slot));
        b->slow = g->shuffled && shuffle_slows(g);
        g->next++;
        g->resident++;
    }
    return g->slots[g->turn = first];
}

// The block to run next: a new one if every resident one spins, otherwise the next resident one.
// Shuffled: a new one at other times too, and any resident one.
static Block *pick(Grid *g)
{
    if (can_start(g) && (all_spin(g) || (g->shuffled && shuffle_begins(g)))) return start(g);
    if (g->shuffled) return g->slots[g->turn = shuffle_turn(g)];
    do g->turn = (g->turn + 1) % g->slot_count;
    while (!g->slots[g->turn]->occupied);
    return g->slots[g->turn];
}

// The block has ended, which may let others continue.
static void end_block(Grid *g, Block *b)
{
    OBSERVERS(block_end, b);
    bulks_end(b);
    b->occupied = false;
    g->resident--;
    g->progress++;
    for (u32 n = 0; n < g->slot_count; n++) g->slots[n]->spins = false;
}

// Blocks take turns until all have ended or wait for others.
static enum grid_turn run_blocks(Grid *g, bool last, bool alone)
{
    enum { LONG_TURN = 1 << 22 }; // warp instructions
    u64 progress = g->progress, since = g->steps;
    for (u32 turns = 0; !g->status && (g->resident || g->next < g->blocks); turns++) {
        Block *b = pick(g);
        if (block_run(b)) end_block(g, b);
        b->seen = g->progress;
        if (!last && g->resident && g->steps - since > LONG_TURN && !can_start(g) && all_spin(g))
            return GRID_WAITS;
        if (g->progress != progress) {
            progress = g->progress;
            g->idle_since = g->steps;
            turns = 0;
        } else if (turns % g->resident == 0 && !can_start(g)) {
            if (!last && deadlock_all_wait(g)) return GRID_WAITS;
            if (last && deadlock_is_certain(g, alone)) return GRID_DEADLOCKED;
        }
    }
    return GRID_ENDED;
}

// Blocks whose batch was rolled back run here, up to the last of them.
static enum grid_turn run_spread(Grid *g, bool last, bool alone)
{
    enum grid_turn turn = GRID_ENDED;
    const u64 blocks = g->blocks;
    while (turn == GRID_ENDED && !g->status && (g->resident || g->next < blocks)) {
        g->blocks = g->resident ? blocks : shard_run(g);
        turn = run_blocks(g, last, alone);
        g->blocks = blocks;
    }
    return turn;
}

// The clocks of all grids count the warp instructions of all of them.
static u64 machine_steps;

enum grid_turn grid_run(Grid *g, bool last, bool alone)
{
    u64 before = g->steps + g->waited;
    g->steps_before = machine_steps - before;
    OBSERVERS(grid_turn, g);
    if (g->begun) { // others have run, and may have changed the kinds of memory
        access_pattern_reset_passes(g);
        g->progress++;
        for (u32 n = 0; n < g->slot_count; n++) g->slots[n]->spins = false;
    }
    g->begun = true;
    u64 progress = g->progress;
    enum grid_turn turn = g->sharding ? run_spread(g, last, alone) : run_blocks(g, last, alone);
    g->acted = g->progress != progress;
    machine_steps += g->steps + g->waited - before;
    if (turn == GRID_ENDED) machine_steps += g->waited_alone;
    return turn;
}

bool grid_acted(const Grid *g) { return g->acted; }

bool grid_reads_host_memory(const Grid *g)
{
    for (u32 n = 0; n < g->slot_count; n++)
        for (u32 k = 0; g->slots[n]->occupied && k < g->slots[n]->warp_count; k++)
            if (g->slots[n]->warps[k].live && g->slots[n]->warps[k].reads_host_memory) return true;
    return false;
}

void grid_drop(Grid *g, int status)
{
    OBSERVERS(grid_turn, g);
    grid_fail(g, status);
}

Grid *grid_start(Launch *l)
{
    static u32 launches;
    Grid *g = calloc(1, sizeof *g);
    if (!g) no_memory(l->kernel);
    *g = (Grid){ .launch = l,
                 .kernel = l->kernel,
                 .threads = l->block[0] * l->block[1] * l->block[2],
                 .blocks = (u64)l->grid[0] * l->grid[1] * l->grid[2],
                 .number = ++launches };
    g->cluster_blocks = cluster_blocks(l);
    g->slot_limit = occupancy_resident(l);
    call_make_room(l);
    special_find(g);
    handlers_bind(g->kernel);
    invariant_find(g->kernel);
    if (l->cooperative) g->workspace = cooperative_take(l->device);
    g->tally = calloc(l->kernel->code_count + 1, sizeof *g->tally);
    g->counts = calloc(l->kernel->code_count + 1, observer_count_bytes);
    g->patterns = access_patterns_make(l->kernel);
    if (!g->tally || !g->counts || !g->patterns) no_memory(l->kernel);
    access_start();
    shuffle_start(g);
    OBSERVERS(grid_start, g);
    g->in_step =
        observers_are_bare && !g->shuffled && !l->cooperative && !kernel_communicates(l->kernel);
    shard_start(g);
    return g;
}

static void sum_up(Tally *t, u32 count)
{
    for (u32 pc = 1; pc < count; pc++)
        t[pc].executed += t[pc - 1].executed, t[pc].threads += t[pc - 1].threads;
}

int grid_finish(Grid *g)
{
    for (u32 n = 0; n < g->slot_count; n++) block_free(g->slots[n]);
    g->slot_count = 0;
    shard_free(g);
    sum_up(g->tally, g->kernel->code_count);
    OBSERVERS(grid_end, g);
    if (g->workspace) cooperative_give_back(g->workspace);
    return g->status;
}

void grid_free(Grid *g)
{
    OBSERVERS(grid_free, g);
    dynamic_launches_drop(g);
    free(g->slots);
    free(g->tally);
    free(g->counts);
    free(g->patterns);
    free(g->beyond);
    free(g);
}
