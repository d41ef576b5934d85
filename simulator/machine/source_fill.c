// A lane in the toolkit's own code is reported at the call that led there.
#include <string.h>

#include "grid_state.h"
#include "source_fill.h"

// Where the lane is in the program's own code, or the call by which it left that code.
static u32 own_code(const Warp *warp, u32 pc, u32 lane)
{
    const Kernel *kernel = warp->block->grid->kernel;
    for (u32 depth = warp->lane_depth[lane]; depth && !source_is_own(kernel, pc); depth--)
        pc = warp->frames[depth - 1].back[lane] - 1;
    return pc;
}

void source_fill(Report *report, const Warp *warp, const Insn *insn, u32 lane)
{
    const Block *block = warp->block;
    const Kernel *kernel = block->grid->kernel;
    u32 pc = own_code(warp, insn - kernel->code, lane);
    report->kernel = kernel->signature;
    report->place = source_place(kernel, pc);
    source_callers(kernel, pc, report->callers);
    report->has_thread = true;
    report->device = block->grid->launch->device;
    memcpy(report->block, block->index, sizeof report->block);
    warp_thread(warp, lane, report->thread);
}

enum report_access source_access(const Access *a)
{
    return a->atomic ? ACCESS_ATOMIC : a->store ? ACCESS_WRITE : ACCESS_READ;
}

void source_fill_access(Report *report, const Access *a, u32 lanes)
{
    u32 lane = __builtin_ctz(lanes);
    source_fill(report, a->warp, a->insn, lane);
    report->access = source_access(a);
    report->bytes = a->bytes;
    report->address = a->address[lane];
    report->space = a->space == SPACE_SHARED ? IN_SHARED
                  : a->space == SPACE_LOCAL  ? IN_LOCAL
                                             : IN_GLOBAL;
    report->threads = __builtin_popcount(lanes);
}

void source_owner(Report *report, const Block *owner)
{
    report->has_owner = true;
    memcpy(report->owner, owner->index, sizeof report->owner);
}
