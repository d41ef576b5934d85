// The values that decide what a graph's conditional nodes run: kernels set them, and the host reads
// them when it launches.
#include <stdlib.h>

#include "condition.h"
#include "base/need.h"

static u32 *values, count;

u32 condition_make(void)
{
    if (count % 64 == 0) values = need(realloc(values, (count + 64) * sizeof *values));
    values[count] = 0;
    return ++count; // 0 is no handle
}

u32 *condition_at(u64 handle) { return handle && handle <= count ? &values[handle - 1] : NULL; }

void run_set_condition(Warp *w, const Insn *i, u32 mask)
{
    const u64 *handle = row_of(w, i->a);
    const u32 *value = row_of(w, i->b);
    for (; mask; mask &= mask - 1) {
        u32 lane = __builtin_ctz(mask), *to = condition_at(handle[lane]);
        if (to) __atomic_store_n(to, value[lane], __ATOMIC_RELAXED);
    }
}
