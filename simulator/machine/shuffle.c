// A seed decides what CUDA leaves open: when each block begins, which resident block runs, which of
// its warps runs, and for how long, and which of a warp's lanes run first. This exposes kernels
// that rely on habits, such as that blocks of lower numbers have ended, that warps run in order, or
// that the lanes of a warp run in step. It concerns kernels whose threads communicate by atomics,
// fences or strong accesses; in other kernels the order changes nothing, or there is a race.
//
// A turn ends only after an instruction that others may see, or that shows what others did;
// elsewhere a switch could not be noticed. While nothing changes, a warp is preempted once, and
// then has full turns, so that deadlocks are found as usual (deadlock.c). In the same way lanes
// fall behind the others of their warp: until these have ended, wait for them, or have used up a
// turn, which they may have spent on waiting.

#include "shuffle.h"

#include "shard.h"

enum { CROWD = 64 }; // resident blocks that make progress
// Probabilities, each one in so many: a block begins beside CROWD others; a block's turn ends; a
// warp is preempted; lanes of a whole warp fall behind; a block is slow; a slow block that is drawn
// runs; a waiting block that is drawn runs.
enum {
    BEGINS_IN_CROWD = 512,
    ENDS = 2,
    CUTS = 4,
    PARTS = 2,
    SLOW = 16,
    SLOW_TURN = 256,
    SPIN_TURN = 512
};

static u64 seed; // 0: not shuffled

void grid_shuffle(u64 s) { seed = s; }

bool grid_is_shuffled(const Grid *g) { return g->stride; }

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
// 2014).
static u64 mix(u64 x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

static u32 draw(Grid *g, u32 below)
{
    return (u32)((mix(g->random += 0x9e3779b97f4a7c15) >> 32) * below >> 32);
}

static u64 divisor(u64 a, u64 b) { return b ? divisor(b, a % b) : a; }

// A stride that shares no divisor with the number of blocks visits every block once, and block 0
// last, when others have ended. Only cooperative launches are promised that all blocks are resident
// at once.
void shuffle_start(Grid *g)
{
    if (!seed || !kernel_communicates(g->kernel)) return;
    g->shuffled = true;
    g->random = mix(mix(seed) + g->number);
    g->pace = 2 << draw(g, 2);
    // CUB's and Thrust's blocks wait for the block of the next lower blockIdx. No document promises
    // that it has begun, though on NVIDIA's devices it has.
    if (g->blocks < 2 || g->cluster_blocks > 1 || kernel_is_nvidias(g->kernel)) return;
    g->stride = g->blocks / 3 + draw(g, 0xffff) % (g->blocks / 3 + 1);
    while (divisor(g->stride, g->blocks) != 1) g->stride++;
    if (!g->launch->cooperative && g->slot_limit >= g->blocks) g->slot_limit = (u32)g->blocks - 1;
}

u64 shuffle_block(const Grid *g, u64 n)
{
    return g->stride ? (u64)((u128)g->stride * (n + 1) % g->blocks) : n;
}

// A few resident blocks suffice to show an order and save memory. More begin where the resident
// ones wait for them (grid.c), or now and then, because a waiting block may look as if it made
// progress.
bool shuffle_begins(Grid *g)
{
    return draw(g, g->resident < CROWD ? g->pace : BEGINS_IN_CROWD) == 0;
}

// A block that waits for a change seldom runs before there is one, because it may count its
// attempts. A slow block falls behind as far as the others get without it.
static bool is_passed(Grid *g, const Block *b)
{
    if (!b->occupied) return true;
    return b->spun == g->progress ? draw(g, SPIN_TURN) : b->slow && draw(g, SLOW_TURN);
}

u32 shuffle_turn(Grid *g)
{
    u32 slot;
    do slot = draw(g, g->slot_count);
    while (is_passed(g, g->slots[slot]));
    return slot;
}

bool shuffle_slows(Grid *g) { return draw(g, SLOW) == 0; }

void shuffle_warps(Grid *g, u8 *order, u32 count)
{
    for (u32 n = 0; n < count; n++) {
        u32 at = draw(g, n + 1);
        order[n] = order[at];
        order[at] = (u8)n;
    }
}

bool shuffle_ends(Grid *g) { return draw(g, ENDS) == 0; }

u32 shuffle_parts(Warp *w, const Insn *i)
{
    Grid *g = w->block->grid;
    u32 lanes = w->active;
    if (!i->strong || lanes != w->live) return 0;
    w->parted = false;
    if (!(lanes & (lanes - 1)) || w->depth || w->parted_at == g->progress || draw(g, PARTS))
        return 0;
    w->parted_at = g->progress;
    u32 late = lanes & (draw(g, 1u << 16) | draw(g, 1u << 16) << 16);
    w->parted = late && late != lanes;
    return w->parted ? late : 0;
}

bool shuffle_preempts(Warp *w, const Insn *i)
{
    Grid *g = w->block->grid;
    if (!(i->strong || i->op == ISA_fence) || w->preempted_at == g->progress || draw(g, CUTS))
        return false;
    w->preempted_at = g->progress;
    return w->preempted = true;
}
