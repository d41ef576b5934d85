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

// What DRAM does for stored sectors. Sectors that are stored to whole cost it nothing else.
static void load_stores(DeviceLoad *load, const Assumed *a)
{
    const Traffic *t = caches_traffic();
    double stored = 0, bytes = (double)t->dram_written - t->partial_written + t->filled;
    for (u32 pc = 0; pc < a->trace->op_count; pc++) {
        const Op *op = &a->trace->op[pc];
        if (op->kind == OP_STORE || op->kind == OP_ATOMIC
            || (op->kind == OP_BULK && op->space == SPACE_GLOBAL))
            stored += a->counts[pc].global.sectors + a->counts[pc].local.sectors;
    }
    if (stored <= 0) return;
    load->bytes_per_store = bytes / stored;
    load->cost_per_store = t->partial_cost / stored;
    if (!a->whole_sectors) return;
    load->bytes_per_store = fmin(load->bytes_per_store, SECTOR_BYTES);
    load->cost_per_store = 0;
}

Timing timing_if(const Grid *g, const Assumed *a)
{
    const Launch *l = g->launch;
    const Trace *trace = a->trace;
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    DeviceLoad load = { .counts = a->counts,
                        .active_sms = (u32)fmin(blocks, profile.sm_count),
                        .resident = a->resident,
                        .l1_bytes = profile.l1_bytes - caches_carveout() };
    load_stores(&load, a);
    Replay replay = replay_blocks(trace, &load, g->kernel->register_bytes / 64);
    double scale = 1, spilled = a->no_spills ? 0 : spill_clocks(g, blocks, load.active_sms),
           hottest = a->no_contention ? 0 : trace->hottest;
    if (trace->full && trace->steps)
        scale = fmax(1, (double)g->steps / load.active_sms / trace->steps);
    double clocks = fmax(fmax(replay.clocks * scale + spilled, hottest), (double)g->waited_alone);
    double seconds = profile.kernel_seconds + clocks / profile.clock_hz;
    return (Timing){ .seconds = seconds,
                     .clocks = clocks,
                     .l1 = replay.l1 * scale,
                     .l2 = replay.l2 * scale + spilled,
                     .sm = replay.issue * scale,
                     .warps = replay.warps,
                     .bound = bound_by(replay.memory * scale + spilled, replay.issue * scale,
                                       fmax(replay.atomics * scale, hottest),
                                       seconds * profile.clock_hz) };
}

Assumed timing_as_it_was(const Grid *g)
{
    return (
        Assumed){ .trace = trace_latest(), .counts = counts_of(g), .resident = caches_resident() };
}

Timing timing_of(const Grid *g)
{
    const Assumed nothing = timing_as_it_was(g);
    return timing_if(g, &nothing);
}
