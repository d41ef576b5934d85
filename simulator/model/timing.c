// A launch's time: of one SM's blocks by the model in replay.c, and at least what the atomics on one place take.
#include "timing.h"
#include <math.h>

#include "caches.h"
#include "machine/profile.h"
#include "replay.h"

Timing timing_of(const Grid *g)
{
    const Launch *l = g->launch;
    const Traffic *t = caches_traffic();
    const Trace *trace = trace_latest();
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2], stored = 0;
    for (u32 pc = 0; pc < trace->op_count; pc++)
        if (trace->op[pc].kind == OP_STORE || trace->op[pc].kind == OP_ATOMIC || (trace->op[pc].kind == OP_BULK && trace->op[pc].space == SPACE_GLOBAL))
            stored += g->tally[pc].global.sectors + g->tally[pc].local.sectors;
    Load load = { .tally = g->tally, .active_sms = (u32)fmin(blocks, profile.sm_count), .resident = caches_resident(),
                  .l1_bytes = profile.l1_bytes - caches_carveout() };
    if (stored > 0) load.bytes_per_store = (t->dram_written - t->apart + t->filled) / stored, load.cost_per_store = t->apart_cost / stored;
    Replay replay = replay_blocks(trace, &load, g->kernel->register_bytes / 64);
    double clocks = replay.clocks;
    if (trace->full && trace->steps) clocks *= fmax(1, (double)g->steps / load.active_sms / trace->steps);
    double hottest = trace->hottest / profile.atomic_one_place_per_clock;
    return (Timing){ .seconds = profile.kernel_seconds + fmax(clocks, hottest) / profile.clock_hz, .warps = replay.warps };
}
