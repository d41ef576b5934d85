// Each kind of finding has a function that looks for it, and adds it with its cost. What the model
// of time can do without, it predicts again without that; the rest is its account of the time.
#define _GNU_SOURCE
#include "findings.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"
#include "machine/profile.h"
#include "program/source.h"
#include "whatif.h"

enum finding {
#define FINDING(id, title, cure) FOUND_##id,
#include "findings.def"
#undef FINDING
};

static const struct {
    const char *title, *cure;
} kinds[] = {
#define FINDING(id, title, cure) { title, cure },
#include "findings.def"
#undef FINDING
};

typedef struct Search {
    const Grid *grid;
    const Totals *totals;
    const KernelReport *kernel;
    Finding *found;
    size_t count;
} Search;

static const double LEAST_COST = 0.01; // of the time: what costs less is not told
static const double WASTE = 1.1;       // so many times what would do is a fault

static double ratio(double a, double b) { return b > 0 ? a / b : 0; }

// ---- Adding

static void __attribute__((format(printf, 6, 7)))
add(Search *s, enum finding kind, const Place *place, double cost, double without,
    const char *format, ...)
{
    va_list arguments;
    if (cost < LEAST_COST || s->count == MOST_FINDINGS) return;
    Finding *f = &s->found[s->count];
    *f = (Finding){ .title = kinds[kind].title,
                    .cure = kinds[kind].cure,
                    .cost = fmin(1, cost),
                    .without_ns = without * 1e9 };
    if (place) f->place = *place, f->lineless = !place->line;
    va_start(arguments, format);
    if (vasprintf(&f->words, format, arguments) >= 0) s->count++;
    va_end(arguments);
}

// What the launch waits for from elsewhere it would wait for in any case.
static double elsewhere(const Search *s) { return s->totals->seconds - s->totals->timing.seconds; }
static double cost_of(const Search *s, double without)
{
    return 1 - ratio(without, s->totals->seconds);
}

// ---- By source line

// The instructions of a line that do a certain thing.
typedef bool Does(const Grid *g, u32 pc);

static bool loads(const Grid *g, u32 pc)
{
    const IsaRow *row = &isa_rows[g->kernel->code[pc].row];
    return row->shape != ATOMIC && !row->store && counts_of(g)[pc].global.requests;
}
static bool stores(const Grid *g, u32 pc)
{
    const IsaRow *row = &isa_rows[g->kernel->code[pc].row];
    return row->shape != ATOMIC && row->store && counts_of(g)[pc].global.requests;
}
static bool is_local(const Grid *g, u32 pc) { return counts_of(g)[pc].local.sectors; }
static bool conflicts(const Grid *g, u32 pc) { return counts_of(g)[pc].conflicts; }

static bool is_at(const Grid *g, u32 pc, const Place *place)
{
    const Place own = source_place(g->kernel, pc);
    if (!place->line) return !own.line;
    return own.line == place->line && own.file && place->file && !strcmp(own.file, place->file);
}

// Those of the line. The caller frees it.
static bool *instructions(const Search *s, const Place *place, Does *does)
{
    const u32 count = s->grid->kernel->code_count;
    bool *at = calloc(count, sizeof *at);
    for (u32 pc = 0; at && pc < count; pc++)
        at[pc] = does(s->grid, pc) && is_at(s->grid, pc, place);
    return at;
}

// The launch's seconds if these instructions did better; as it was, if that cannot be said.
static double seconds_without(const Search *s, enum finding kind, const bool *at)
{
    WhatIf what;
    if (!at || !whatif_make(&what, s->grid)) return s->totals->seconds;
    switch (kind) {
    case FOUND_STORES: what.whole_sectors = true; // fall through
    case FOUND_LOADS: whatif_coalesced(&what, s->grid, at); break;
    case FOUND_CONFLICTS: whatif_without_conflicts(&what, at); break;
    default: whatif_in_registers(&what, at);
    }
    double seconds = whatif_seconds(&what, s->grid) + elsewhere(s);
    whatif_free(&what);
    return seconds;
}

static void find_uncoalesced(Search *s, const CounterLine *line, bool store)
{
    const u64 *v = line->values;
    const double sectors = v[store ? GLOBAL_ST_SECTORS : GLOBAL_LD_SECTORS],
                 least = v[store ? GLOBAL_ST_LEAST : GLOBAL_LD_LEAST],
                 requests = v[store ? GLOBAL_ST_REQUESTS : GLOBAL_LD_REQUESTS];
    if (sectors <= WASTE * least) return;
    bool *at = instructions(s, &line->place, store ? stores : loads);
    const enum finding kind = store ? FOUND_STORES : FOUND_LOADS;
    double without = seconds_without(s, kind, at);
    add(s, kind, &line->place, cost_of(s, without), without,
        "%.3g sectors a request where %.3g would do, of %.0f requests: %.0f %% of what is moved "
        "is not used.",
        ratio(sectors, requests), ratio(least, requests), requests, 100 * (1 - least / sectors));
    free(at);
}

static void find_conflicts(Search *s, const CounterLine *line)
{
    const u64 *v = line->values;
    const double lost = v[SHARED_LD_CONFLICTS] + v[SHARED_ST_CONFLICTS] + v[SHARED_ATOM_CONFLICTS]
                      + v[SHARED_COPY_CONFLICTS],
                 passes = v[SHARED_LD_WAVEFRONTS] + v[SHARED_ST_WAVEFRONTS]
                        + v[SHARED_ATOM_WAVEFRONTS] + v[SHARED_COPY_WAVEFRONTS];
    if (!lost || passes <= WASTE * (passes - lost)) return;
    bool *at = instructions(s, &line->place, conflicts);
    double without = seconds_without(s, FOUND_CONFLICTS, at);
    add(s, FOUND_CONFLICTS, &line->place, cost_of(s, without), without,
        "%.0f wavefronts where %.0f would do: %.3g times as many.", passes, passes - lost,
        ratio(passes, passes - lost));
    free(at);
}

static void find_local(Search *s, const CounterLine *line)
{
    const double sectors = line->values[LOCAL_LD_SECTORS] + line->values[LOCAL_ST_SECTORS];
    if (!sectors) return;
    bool *at = instructions(s, &line->place, is_local);
    double without = seconds_without(s, FOUND_LOCAL, at);
    add(s, FOUND_LOCAL, &line->place, cost_of(s, without), without,
        "An array of each thread's, or a function's frame, does not lie in registers: %.0f "
        "sectors.",
        sectors);
    free(at);
}

static void find_at_line(Search *s, const CounterLine *line)
{
    find_uncoalesced(s, line, false);
    find_uncoalesced(s, line, true);
    find_conflicts(s, line);
    find_local(s, line);
}

static const Place unknown; // without a line

// Where no line is known, all the kernel is one.
static void find_at_lines(Search *s)
{
    const CounterLine all = { .place = unknown, .values = s->totals->sum };
    for (size_t n = 0; n < s->kernel->line_count; n++) find_at_line(s, &s->kernel->lines[n]);
    if (!s->kernel->line_count) find_at_line(s, &all);
}

// The place of the line that has most of that, perhaps an unknown one.
static const Place *worst(const Search *s, double (*amount)(const u64 *values))
{
    const Place *place = &unknown;
    double most = 0;
    for (size_t n = 0; n < s->kernel->line_count; n++)
        if (amount(s->kernel->lines[n].values) > most)
            most = amount(s->kernel->lines[n].values), place = &s->kernel->lines[n].place;
    return place;
}

static double atomics(const u64 *v) { return v[GLOBAL_ATOM_SECTORS] + v[GLOBAL_RED_SECTORS]; }
static double divergent(const u64 *v) { return v[DIVERGENT]; }
static double moved(const u64 *v) { return v[BYTES_MIGRATED] + v[LINK_IN] + v[LINK_OUT]; }

// ---- Of the whole launch

static void find_contention(Search *s)
{
    const double clocks = trace_latest()->hottest;
    Assumed a = timing_as_it_was(s->grid);
    a.no_contention = true;
    if (clocks < LEAST_COST * s->totals->timing.clocks) return;
    double without = timing_if(s->grid, &a).seconds + elsewhere(s);
    add(s, FOUND_ATOMICS, worst(s, atomics), cost_of(s, without), without,
        "The atomic operations on one place wait for one another: they take %.0f clocks.", clocks);
}

static void find_spills(Search *s)
{
    const Spills spills = caches_spills(s->grid->kernel);
    Assumed a = timing_as_it_was(s->grid);
    a.no_spills = true;
    if (!spills.words_stored && !spills.words_loaded) return;
    double without = timing_if(s->grid, &a).seconds + elsewhere(s);
    add(s, FOUND_SPILLS, NULL, cost_of(s, without), without,
        "%.0f registers are not enough: each thread stores %u words to local memory and loads %u.",
        (double)s->grid->kernel->hardware_registers, spills.words_stored, spills.words_loaded);
}

// The part of the time that instructions are issued in, less what the active lanes need.
static void find_divergence(Search *s)
{
    const Totals *t = s->totals;
    const double lanes = ratio(t->sum[THREAD_INSTRUCTIONS], t->sum[INSTRUCTIONS]);
    const Place *place = worst(s, divergent);
    if (!t->sum[DIVERGENT]) return;
    add(s, FOUND_DIVERGENCE, place, (1 - lanes / LANES) * ratio(t->timing.sm, t->timing.clocks), 0,
        "%.1f of 32 threads are active in an instruction of the kernel, on average. At %.0f "
        "branches the threads of a warp parted, most of them here.",
        lanes, (double)t->sum[DIVERGENT]);
}

static void find_occupancy(Search *s)
{
    static const char *const what[] = { [OCCUPANCY_WARPS] = "warps",
                                        [OCCUPANCY_BLOCKS] = "the number of blocks",
                                        [OCCUPANCY_REGISTERS] = "registers",
                                        [OCCUPANCY_SHARED] = "shared memory" };
    const Occupancy *o = &s->totals->occupancy;
    const u32 warps = s->totals->warps_per_block,
              room = (u32)profile.max_threads_per_sm / LANES / warps;
    Assumed a = timing_as_it_was(s->grid);
    if (!s->grid->kernel->registers_known || o->limit == OCCUPANCY_WARPS || a.resident >= room)
        return;
    a.resident = room;
    double without = timing_if(s->grid, &a).seconds + elsewhere(s);
    add(s, FOUND_OCCUPANCY, NULL, cost_of(s, without), without,
        "An SM holds %u blocks of %u warps, of %d warps that it has room for: %s limits them.",
        o->blocks, warps, profile.max_threads_per_sm / LANES, what[o->limit]);
}

static void find_idle(Search *s)
{
    const Totals *t = s->totals;
    const double part = ratio(t->timing.clocks, t->seconds * profile.clock_hz);
    if (t->blocks >= profile.sm_count) return;
    add(s, FOUND_GRID, NULL, part * (1 - t->blocks / profile.sm_count), 0,
        "Of %d SMs, %.0f have nothing to do: the number of blocks is %.0f.", profile.sm_count,
        profile.sm_count - t->blocks, t->blocks);
}

// The time of the full waves, for as many blocks as there are.
static void find_tail(Search *s)
{
    const Totals *t = s->totals;
    Assumed a = timing_as_it_was(s->grid);
    Trace full = *a.trace;
    const double an_sm = t->blocks / profile.sm_count;
    const u32 waves = a.resident ? (u32)(an_sm / a.resident) : 0;
    full.block_count = waves * a.resident;
    if (full.full || !waves || full.block_count + 1 > a.trace->block_count
        || an_sm - full.block_count < 0.01)
        return;
    a.trace = &full;
    double clocks = timing_if(s->grid, &a).clocks * an_sm / full.block_count,
           without = profile.kernel_seconds + clocks / profile.clock_hz + elsewhere(s);
    add(s, FOUND_TAIL, NULL, cost_of(s, without), without,
        "The grid fills the device %.2f times: the last wave keeps it only partly busy.",
        an_sm / a.resident);
}

static void find_overhead(Search *s)
{
    const double saved = profile.kernel_seconds - profile.graph_kernel_seconds,
                 without = s->totals->seconds - saved;
    if (profile.kernel_seconds < 0.25 * s->totals->seconds) return;
    add(s, FOUND_LAUNCH, NULL, cost_of(s, without), without,
        "%.2f of the %.2f us pass before the first block begins.", profile.kernel_seconds * 1e6,
        s->totals->seconds * 1e6);
}

static void find_transfers(Search *s)
{
    const double without = s->totals->timing.seconds;
    const u64 *sum = s->totals->sum;
    add(s, FOUND_TRANSFERS, worst(s, moved), cost_of(s, without), without,
        "%.0f page faults bring %.0f bytes of managed memory; %.0f bytes come or go over links.",
        (double)sum[PAGE_FAULTS], (double)sum[BYTES_MIGRATED],
        (double)sum[LINK_IN] + (double)sum[LINK_OUT]);
}

// What is left if nothing is busy for most of the time. Other findings may be why.
static void find_latency(Search *s)
{
    const Totals *t = s->totals;
    const double part = ratio(t->timing.clocks, t->seconds * profile.clock_hz),
                 dram = ratio(metric_value(METRIC_DRAM_THROUGHPUT, t) / 100, part),
                 most = fmax(fmax(ratio(t->timing.l1, t->timing.clocks),
                                  ratio(t->timing.l2, t->timing.clocks)),
                             fmax(ratio(t->timing.sm, t->timing.clocks), dram));
    if (strcmp(t->bound, "latency") != 0 || most >= BOUNDS_FROM) return;
    add(s, FOUND_LATENCY, NULL, part * (1 - most), 0,
        "While blocks run, nothing is busy for more than %.0f %% of the time: the %.1f warps on "
        "an SM wait.%s",
        100 * most, t->timing.warps, s->count ? " What is told above may be why." : "");
}

static int by_cost(const void *a, const void *b)
{
    double x = ((const Finding *)a)->cost, y = ((const Finding *)b)->cost;
    return (x < y) - (x > y);
}

size_t findings_fill(Finding findings[MOST_FINDINGS], const Grid *g, const Totals *t,
                     const KernelReport *k)
{
    Search s = { .grid = g, .totals = t, .kernel = k, .found = findings };
    find_contention(&s);
    find_spills(&s);
    find_divergence(&s);
    find_occupancy(&s);
    find_idle(&s);
    find_tail(&s);
    find_overhead(&s);
    find_transfers(&s);
    find_at_lines(&s);
    qsort(findings, s.count, sizeof *findings, by_cost);
    find_latency(&s);
    return s.count;
}
