// From an instruction to the student's source line. Code of a header of the toolkit, inlined or
// not, counts as the line that called it.
#include <string.h>

#include "source.h"

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
    if (!l) return (Place){ 0 };
    return (
        Place){ .file = l->file, .function = l->function, .line = l->line, .column = l->column };
}

void source_callers(const Kernel *kernel, u32 pc, Place callers[PLACE_CALLERS])
{
    const Location *l = location_of(kernel, kernel->code[pc].location);
    for (u32 n = 0; l && l->inlined_at >= 0 && n < PLACE_CALLERS;) {
        l = &kernel->locations[l->inlined_at];
        if (!is_toolkits(l)) callers[n++] = (Place){ .file = l->file, .line = l->line };
    }
}

bool source_is_own(const Kernel *kernel, u32 pc)
{
    const Location *l = location_of(kernel, kernel->code[pc].location);
    return l && !is_toolkits(l);
}

bool source_is_toolkits(const Kernel *kernel, u32 pc)
{
    u32 location = kernel->code[pc].location;
    return location == ~0u || is_toolkits(&kernel->locations[location]);
}
