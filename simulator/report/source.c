// From an instruction to the student's source line. Code of a header of the toolkit, inlined or
// not, counts as the line that called it.
#include <string.h>

#include "source.h"
#include "machine/grid_state.h"

Place source_place(const Kernel *kernel, u32 pc)
{
    return source_of(kernel, kernel->code[pc].location);
}

static bool is_toolkits(const Location *l) { return l->file && strstr(l->file, "/include/"); }

// The location that stands for the instruction, or NULL: it was built without -lineinfo.
static const Location *location_of(const Kernel *kernel, u32 location)
{
    if (location == ~0u) return NULL;
    const Location *l = &kernel->locations[location];
    while (l->inlined_at >= 0 && is_toolkits(l)) l = &kernel->locations[l->inlined_at];
    return l;
}

Place source_of(const Kernel *kernel, u32 location)
{
    const Location *l = location_of(kernel, location);
    return l ? (Place){ .file = l->file, .function = l->function, .line = l->line } : (Place){ 0 };
}

void source_callers(const Kernel *kernel, u32 pc, Place callers[REPORT_CALLERS])
{
    const Location *l = location_of(kernel, kernel->code[pc].location);
    for (u32 n = 0; l && l->inlined_at >= 0 && n < REPORT_CALLERS;) {
        l = &kernel->locations[l->inlined_at];
        if (!is_toolkits(l)) callers[n++] = (Place){ .file = l->file, .line = l->line };
    }
}

// Where the lane is in code of the program's own: that, or the call by which it left it.
static u32 own_code(const Warp *warp, u32 pc, u32 lane)
{
    const Kernel *kernel = warp->block->grid->kernel;
    for (u32 depth = warp->lane_depth[lane]; depth; depth--) {
        const Location *l = location_of(kernel, kernel->code[pc].location);
        if (l && !is_toolkits(l)) break;
        pc = warp->frames[depth - 1].back[lane] - 1;
    }
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
