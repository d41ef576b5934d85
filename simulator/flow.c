// Instructions that change a warp's path: branches, ends, barriers, calls.
#include "observer.h"
#include "print.h"
#include "report.h"
#include "source.h"

void run_bra(Warp *w, const Insn *i, u32 mask)
{
    u32 next = w->pc, stay = w->active & ~mask;
    bool back = i->target < next;
    if (stay) {
        // Two paths now: the lower goes on, the higher is parked until the lower has caught up with it.
        if (back) warp_park(w, next, stay), w->pc = i->target;
        else warp_park(w, i->target, mask);
        w->active = back ? mask : stay;
    } else {
        w->pc = i->target;
    }
    if (back && ++w->turns >= WARP_TURNS) w->stop = 0;
}

static void end_lanes(Warp *w, u32 mask)
{
    w->live &= ~mask;
    w->active &= ~mask;
    if (!w->active) w->stop = 0;
}

void run_ret(Warp *w, const Insn *i, u32 mask) { (void)i; end_lanes(w, mask); }
void run_exit(Warp *w, const Insn *i, u32 mask) { (void)i; end_lanes(w, mask); }

void run_trap(Warp *w, const Insn *i, u32 mask)
{
    Report r = { .kind = REPORT_TRAP, .message = "the kernel stopped itself with a trap",
                 .why = "__trap() ends the whole grid; every later call returns an error.",
                 .next = "Look at the condition in front of it." };
    source_fill(&r, w, i, __builtin_ctz(mask));
    report_error(&r);
    grid_fail(w->block->grid, 719);
}

// bar.sync is for whole warps: every thread that has not ended has to come to it together.
void run_bar_sync(Warp *w, const Insn *i, u32 mask)
{
    if (mask != w->live) {
        u32 missing = w->live & ~mask;
        Report r = { .kind = REPORT_BARRIER,
                     .why = "Every thread of the block must reach the same __syncthreads(); here some lanes of a "
                            "warp took another branch.",
                     .next = "Move the barrier out of the condition, and keep only the work inside it." };
        source_fill(&r, w, i, __builtin_ctz(mask));
        report_errorf(&r, "%d of %d threads of a warp reach this barrier; the others do not",
                      __builtin_popcount(mask), __builtin_popcount(mask | missing));
        grid_fail(w->block->grid, 719);
        return;
    }
    w->waiting = mask;
    warp_park(w, w->pc, mask);
    w->active = 0;
    w->stop = 0;
}

// One warp instruction is done before the next begins, so memory is always in order here.
void run_membar_cta(Warp *w, const Insn *i, u32 mask) { (void)w, (void)i, (void)mask; }
void run_membar_gl(Warp *w, const Insn *i, u32 mask) { (void)w, (void)i, (void)mask; }
void run_membar_sys(Warp *w, const Insn *i, u32 mask) { (void)w, (void)i, (void)mask; }

void run_call(Warp *w, const Insn *i, u32 mask) { print_functions[i->target].run(w, i, mask); }
