// The time of a launch: that of one SM's blocks by the model in replay.c, and at least that of the
// atomics at the most contended place.
#include "timing.h"
#include <math.h>
#include <string.h>

#include "caches.h"
#include "machine/profile.h"
#include "replay.h"

// Spilled registers are in no trace: the clocks for which an SM sends them to L2 and fetches what
// its L1 lost.
static double spill_clocks(const Grid *g, double blocks, u32 active_sms)
{
    const Spills s = caches_spills(g->kernel);
    const double lines = blocks * ((g->threads + LANES - 1) / LANES),
                 bytes = SECTOR_BYTES / (double)active_sms;
    const double stored = lines * s.words_stored * LINE_SECTORS,
                 loaded = lines * s.words_loaded * LINE_SECTORS - caches_spilled(false).local_hits;
    return stored * bytes * active_sms / profile.l2_write_bytes_per_clock
         + loaded * bytes
               / fmin(profile.l2_bytes_per_sm_per_clock,
                      profile.l2_read_bytes_per_clock / active_sms);
}

static const char *bound_by(double memory, double compute, double atomics, double clocks)
{
    double most = fmax(fmax(memory, compute), atomics);
    return most < BOUNDS_FROM * clocks ? "latency"
         : most == atomics             ? "atomics"
         : most == memory              ? "memory"
                                       : "compute";
}

static const PredictionError errors[] = {
#define ERROR(device, bound, kernels, half, nine_tenths)                                           \
    { device, bound, kernels, half, nine_tenths },
#include "errors.def"
#undef ERROR
};

const PredictionError *timing_error(const char *bound)
{
    for (size_t n = 0; n < sizeof errors / sizeof *errors; n++)
        if (!strcmp(errors[n].device, profile.name) && !strcmp(errors[n].bound, bound))
            return &errors[n];
    return NULL;
}

Timing timing_of(const Grid *g)
{
    const Launch *l = g->launch;
    const Traffic *t = caches_traffic();
    const Trace *trace = trace_latest();
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2], stored = 0;
    for (u32 pc = 0; pc < trace->op_count; pc++)
        if (trace->op[pc].kind == OP_STORE || trace->op[pc].kind == OP_ATOMIC
            || (trace->op[pc].kind == OP_BULK && trace->op[pc].space == SPACE_GLOBAL))
            stored += counts_of(g)[pc].global.sectors + counts_of(g)[pc].local.sectors;
    DeviceLoad load = { .counts = counts_of(g),
                        .active_sms = (u32)fmin(blocks, profile.sm_count),
                        .resident = caches_resident(),
                        .l1_bytes = profile.l1_bytes - caches_carveout() };
    if (stored > 0)
        load.bytes_per_store = (t->dram_written - t->partial_written + t->filled) / stored,
        load.cost_per_store = t->partial_cost / stored;
    Replay replay = replay_blocks(trace, &load, g->kernel->register_bytes / 64);
    double scale = 1, spilled = spill_clocks(g, blocks, load.active_sms);
    if (trace->full && trace->steps)
        scale = fmax(1, (double)g->steps / load.active_sms / trace->steps);
    double clocks =
        fmax(fmax(replay.clocks * scale + spilled, trace->hottest), (double)g->waited_alone);
    double seconds = profile.kernel_seconds + clocks / profile.clock_hz;
    return (Timing){ .seconds = seconds,
                     .warps = replay.warps,
                     .bound = bound_by(replay.memory * scale + spilled, replay.issue * scale,
                                       fmax(replay.atomics * scale, trace->hottest),
                                       seconds * profile.clock_hz) };
}
