// From an instruction to the student's source line. Code inlined from a header of the toolkit counts as the line that
// called it.
#include <string.h>

#include "source.h"

Place source_place(const Kernel *kernel, u32 pc) { return source_of(kernel, kernel->code[pc].location); }

Place source_of(const Kernel *kernel, u32 location)
{
    if (location == ~0u) return (Place){ 0 };           // built without -lineinfo
    const Location *l = &kernel->locations[location];
    while (l->inlined_at >= 0 && l->file && strstr(l->file, "/include/")) l = &kernel->locations[l->inlined_at];
    return (Place){ .file = l->file, .function = l->function, .line = l->line };
}

void source_fill(Report *report, const Warp *warp, const Insn *insn, u32 lane)
{
    const Block *block = warp->block;
    const Kernel *kernel = block->grid->kernel;
    report->kernel = kernel->signature;
    report->place = source_place(kernel, insn - kernel->code);
    report->has_thread = true;
    memcpy(report->block, block->index, sizeof report->block);
    warp_thread(warp, lane, report->thread);
}
