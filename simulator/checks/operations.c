// The remembered launches, copies and fills: what comes before each by stream order, and what its
// blocks acquired through flags. A kernel that has ended passes on what it acquired.
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"
#include "operations.h"
#include "streams/clock.h"
#include "base/need.h"

Operation *operations;
u32 operation_count = 1;

static u32 room;
static u32 block_count; // of all remembered launches

u32 operation_add(const Operation *o)
{
    if (operation_count >= room) {
        room = room ? 2 * room : 64;
        operations = need(realloc(operations, room * sizeof *operations));
    }
    Operation *new = &operations[operation_count];
    *new = *o;
    new->first_block = block_count;
    block_count += (u32)o->blocks;
    if (o->number) order_join(&new->before, clock_before(o->number));
    return operation_count++;
}

void operations_forget(void)
{
    for (u32 n = 1; n < operation_count; n++)
        vector_clock_free(&operations[n].clock), order_free(&operations[n].before);
    operation_count = 1;
    block_count = 0;
}

// May it acquire, or, at an mbarrier, see that others have arrived?
static bool may_acquire(const Insn *i) { return i->strong && !i->reduces && i->op != ISA_store; }

// May it release what was done so far to other blocks, perhaps of another kernel?
static bool may_release(const Insn *i)
{
    return i->order >= ORDER_RELEASE && i->scope != SCOPE_CTA;
}

static bool is_barrier(const Insn *i) { return i->op == ISA_bar_sync || i->op == ISA_bar_red; }

static bool is_partial_barrier(const Insn *i)
{
    return (is_barrier(i) && i->b) || i->op == ISA_bar_arrive;
}

// May some warps end here while others reach a later barrier?
static bool may_exit_early(const Kernel *k, u32 pc)
{
    const Insn *i = &k->code[pc];
    bool out = i->guard && (insn_ends(i) || (i->op == ISA_bra && insn_ends(&k->code[i->target])));
    u32 next = pc + 1, end = insn_ends(i) ? k->code_count : i->target;
    while (out && next < end && !is_barrier(&k->code[next])) next++;
    return out && next < end;
}

void operation_classify_kernel(Kernel *k)
{
    if (k->kept[KERNEL_ORDER]) return;
    KernelOrder *o = k->kept[KERNEL_ORDER] = need(calloc(1, sizeof *o));
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const Insn *i = &k->code[pc];
        o->synchronises |= may_acquire(i) || may_release(i);
        o->swaps |= i->op == ISA_atom_cas;
        o->has_partial_barriers |= is_partial_barrier(i) || may_exit_early(k, pc);
    }
    o->synchronises |= k->has_cluster_barrier;
}

bool operation_before(u32 earlier, u32 operation)
{
    Operation *now = &operations[operation];
    if (earlier == now->ordered_after) return true;
    if (!clock_ordered(operations[earlier].number, now->number)) return false;
    now->ordered_after = earlier;
    return true;
}

// ---- What flags tell, and the ends of kernels hand on ----

enum { MOST_HOPS = 4 }; // kernels through which the order may be passed on

static bool clock_covers(const VectorClock *, const Site *, u32 hops);

// Does the earlier access come before the beginning of an operation: by stream order, or because a
// kernel before it acquired from the access's warp?
static bool precedes(u32 operation, const Site *s, u32 hops)
{
    const Order *before = &operations[operation].before;
    if (order_has(before, operations[s->operation].number)) return true;
    for (u32 n = 1; n < operation_count; n++)
        if (n != operation && operations[n].clock.count && order_has(before, operations[n].number)
            && clock_covers(&operations[n].clock, s, hops))
            return true;
    return false;
}

// A clock that covers any part of a launch covers everything before the launch's beginning.
static bool clock_covers(const VectorClock *k, const Site *s, u32 hops)
{
    const Operation *o = &operations[s->operation];
    if (o->kernel && s->epoch <= vector_clock_at(k, operation_block(s), s->warp)) return true;
    for (u32 n = 1; n < operation_count && hops; n++)
        if (n != s->operation && operations[n].kernel
            && vector_clock_has(k, operations[n].first_block, operations[n].blocks)
            && precedes(n, s, hops - 1))
            return true;
    return false;
}

bool operation_clock_covers(u32 operation, const BlockClocks *o, u32 warp, const Site *s)
{
    return precedes(operation, s, MOST_HOPS)
        || (o
            && (clock_covers(&o->clock, s, MOST_HOPS)
                || clock_covers(&o->warps[warp].clock, s, MOST_HOPS)));
}
