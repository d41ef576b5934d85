// alloca: memory on a thread's stack, after the frames of its calls. It is freed when its function
// returns, or by stackrestore.
#include <driver_types.h>

#include "report/report.h"
#include "source_fill.h"
#include "grid_state.h"
#include "handlers.h"

static void report_full(Warp *w, const Insn *i, u32 lane, u64 bytes)
{
    Report r = { .cause = CAUSE_stack_has_no_room, .bytes = bytes };
    source_fill(&r, w, i, lane);
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorIllegalAddress);
}

void run_alloca(Warp *w, const Insn *i, u32 mask)
{
    u64 *d = row_of(w, i->d), room = w->block->grid->kernel->local_bytes;
    const u64 *bytes = row_of(w, i->a), unit = i->offset ? i->offset : 1;
    for (; mask; mask &= mask - 1) {
        u32 l = __builtin_ctz(mask);
        u64 at = (w->frame_top[l] + unit - 1) / unit * unit;
        if (bytes[l] > room || at + bytes[l] > room) {
            report_full(w, i, l, bytes[l]);
            return;
        }
        d[l] = at;
        w->stack_used = true;
        w->frame_top[l] = at + bytes[l];
    }
}

void run_stacksave(Warp *w, const Insn *i, u32 mask)
{
    u64 *d = row_of(w, i->d);
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1) d[l] = w->frame_top[l];
}

void run_stackrestore(Warp *w, const Insn *i, u32 mask)
{
    const u64 *a = row_of(w, i->a);
    w->stack_used = true;
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1) w->frame_top[l] = a[l];
}
