// Counts what Nsight Compute counts, under its names, at every instruction, and sums it up by source line and by launch.
#include "counters.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"
#include "coalesce.h"
#include "managed.h"
#include "pipe.h"
#include "peer.h"
#include "profile.h"
#include "source.h"
#include "timing.h"

enum { COUNTED, ESTIMATED, OURS };

const CounterName counter_names[COUNTERS] = {
#define COUNTER(id, how, name, words) { name, how == ESTIMATED },
#define METRIC(id, how, name, value, words)
#include "counters.def"
#undef COUNTER
#undef METRIC
};

const CounterName metric_names[METRICS] = {
#define COUNTER(id, how, name, words)
#define METRIC(id, how, name, value, words) { name, how == ESTIMATED },
#include "counters.def"
#undef COUNTER
#undef METRIC
};

static double ratio(u64 a, u64 b) { return b ? (double)a / b : 0; }

// What ptxas gave the kernel is known where its native image is at hand. A launch has 16 registers at least.
static bool known(const Totals *t) { return t->launch->kernel->registers_known; }
static double registers(const Totals *t) { return known(t) ? fmax(16, t->launch->kernel->hardware_registers) : 0; }

double metric_value(enum metric metric, const Totals *t)
{
    switch (metric) {
#define COUNTER(id, how, name, words)
#define METRIC(id, how, name, value, words) case METRIC_##id: return value;
#include "counters.def"
#undef COUNTER
#undef METRIC
    case METRICS: break;
    }
    return 0;
}

// ---- At an instruction ----

static bool counters_access(Access *a)
{
    const Grid *g = a->warp->block->grid;
    Tally *t = &g->tally[a->insn - g->kernel->code];
    if (a->space == SPACE_SHARED) {
        u32 conflicts;
        t->wavefronts += access_wavefronts(a, &conflicts);
        t->conflicts += conflicts;
    } else if (!access_is_constant(a)) {
        MemoryTally *m = a->space == SPACE_LOCAL ? &t->local : &t->global;
        m->requests++;
        m->sectors += access_sectors(a);
    }
    return true;
}

// Where an instruction's requests and sectors go: loads, stores, atomics, reductions.
static const struct { enum counter requests, sectors; } global_kinds[] = {
    { GLOBAL_LD_REQUESTS, GLOBAL_LD_SECTORS }, { GLOBAL_ST_REQUESTS, GLOBAL_ST_SECTORS },
    { GLOBAL_ATOM_REQUESTS, GLOBAL_ATOM_SECTORS }, { GLOBAL_RED_REQUESTS, GLOBAL_RED_SECTORS },
}, local_kinds[] = { { LOCAL_LD_REQUESTS, LOCAL_LD_SECTORS }, { LOCAL_ST_REQUESTS, LOCAL_ST_SECTORS } };
static const enum counter global_hits[] = { GLOBAL_LD_HITS, GLOBAL_ST_HITS }, local_hits[] = { LOCAL_LD_HITS, LOCAL_ST_HITS };
static const struct { enum counter wavefronts, conflicts; } shared_kinds[] = {
    { SHARED_LD_WAVEFRONTS, SHARED_LD_CONFLICTS }, { SHARED_ST_WAVEFRONTS, SHARED_ST_CONFLICTS },
    { SHARED_ATOM_WAVEFRONTS, SHARED_ATOM_CONFLICTS }, { SHARED_ATOM_WAVEFRONTS, SHARED_ATOM_CONFLICTS },
};
static const enum counter pipe_counters[PIPES] = {
    [PIPE_ALU] = ALU_INSTRUCTIONS, [PIPE_FMA] = FMA_INSTRUCTIONS, [PIPE_FP64] = FP64_INSTRUCTIONS,
    [PIPE_XU] = XU_INSTRUCTIONS, [PIPE_LSU] = LSU_INSTRUCTIONS, [PIPE_ADU] = ADU_INSTRUCTIONS,
    [PIPE_CBU] = CBU_INSTRUCTIONS,
};

static bool is_barrier(const IsaRow *row) { return row->shape == FLOW && !strncmp(row->name, "bar", 3); }
static bool is_branch(const IsaRow *row) { return row_pipe(row) == PIPE_CBU && row->shape == FLOW; }

void counters_add(u64 sum[COUNTERS], const Insn *i, const Tally *t)
{
    const IsaRow *row = &isa_rows[i->row];
    u32 kind = row->shape == ATOMIC ? i->reduces ? 3 : 2 : row->store;
    sum[INSTRUCTIONS] += t->executed;
    sum[THREAD_INSTRUCTIONS] += t->threads;
    sum[pipe_counters[row_pipe(row)]] += t->executed;
    if (is_branch(row)) sum[BRANCHES] += t->executed;
    if (is_barrier(row)) sum[BARRIER_ARRIVALS] += t->executed;
    sum[DIVERGENT] += t->divergent;
    sum[global_kinds[kind].requests] += t->global.requests;
    sum[global_kinds[kind].sectors] += t->global.sectors;
    if (kind < 2) sum[global_hits[kind]] += t->global.hits, sum[local_hits[kind]] += t->local.hits;
    sum[local_kinds[row->store].requests] += t->local.requests;
    sum[local_kinds[row->store].sectors] += t->local.sectors;
    sum[shared_kinds[kind].wavefronts] += t->wavefronts;
    sum[shared_kinds[kind].conflicts] += t->conflicts;
    sum[DRAM_READ] += t->dram_sectors * SECTOR_BYTES;
    sum[LINK_IN] += t->received;
    sum[LINK_OUT] += t->sent;
    sum[PAGE_FAULTS] += t->faults;
    sum[BYTES_MIGRATED] += t->moved;
}

// ---- At the end of a launch ----

typedef struct Line { Place place; u64 sum[COUNTERS]; } Line;

static bool same_place(const Place *a, const Place *b)
{
    return a->line == b->line && (a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file)));
}

// Sums by source line, in the order in which the lines first appear in the code.
static u32 sum_lines(const Grid *g, Line *lines)
{
    u32 count = 0, n;
    for (u32 pc = 0; pc < g->kernel->code_count; pc++) {
        Place place = source_place(g->kernel, pc);
        if (!g->tally[pc].executed || !place.line) continue;
        for (n = count; n && !same_place(&lines[n - 1].place, &place); n--) {}
        if (!n) n = ++count, lines[n - 1].place = place;
        counters_add(lines[n - 1].sum, &g->kernel->code[pc], &g->tally[pc]);
    }
    return count;
}

static void report(const Grid *g, const Totals *t)
{
    const Kernel *k = g->kernel;
    double metrics[METRICS];
    for (u32 n = 0; n < METRICS; n++) metrics[n] = metric_value(n, t);
    Line *lines = calloc(k->code_count, sizeof *lines);
    CounterLine *rows = calloc(k->code_count, sizeof *rows);
    u32 count = lines && rows ? sum_lines(g, lines) : 0;
    for (u32 n = 0; n < count; n++) rows[n] = (CounterLine){ .place = lines[n].place, .values = lines[n].sum };
    KernelReport report = { .name = k->name, .signature = k->signature, .status = g->status,
                            .counters = counter_names, .values = t->sum, .counter_count = COUNTERS,
                            .metrics = metric_names, .figures = metrics, .metric_count = METRICS,
                            .lines = rows, .line_count = count, .time_ns = g->launch->seconds * 1e9 };
    memcpy(report.grid, g->launch->grid, sizeof report.grid);
    memcpy(report.block, g->launch->block, sizeof report.block);
    report_kernel(&report);
    free(lines);
    free(rows);
}

// What L2 and DRAM did, which no instruction alone is the cause of.
static void add_traffic(u64 sum[COUNTERS], const Traffic *t)
{
    sum[L2_READS] = t->l2_reads;
    sum[L2_WRITES] = t->l2_writes;
    sum[L2_ATOMICS] = t->l2_atomics;
    sum[L2_REDUCTIONS] = t->l2_reductions;
    sum[L2_HITS] = t->l2_hits;
    sum[L2_MISSES] = t->l2_misses;
    sum[DRAM_WRITTEN] = t->dram_written;
}

static void counters_grid_end(Grid *g)
{
    Launch *l = g->launch;
    Totals t = { .launch = l, .occupancy = occupancy_blocks(g->kernel, g->threads, l->dynamic_shared),
                 .blocks = (double)l->grid[0] * l->grid[1] * l->grid[2], .warps_per_block = (g->threads + LANES - 1) / LANES,
                 .shared_per_block = g->kernel->shared_bytes + l->dynamic_shared + profile.shared_reserved_per_block,
                 .shared_config = caches_carveout() };
    add_traffic(t.sum, caches_traffic());
    t.sum[LAUNCHES] = 1;
    t.sum[THREADS] = (u64)l->grid[0] * l->grid[1] * l->grid[2] * g->threads;
    for (u32 pc = 0; pc < g->kernel->code_count; pc++) counters_add(t.sum, &g->kernel->code[pc], &g->tally[pc]);
    l->seconds = timing_seconds(g) + managed_kernel_seconds() + peer_kernel_seconds();
    report(g, &t);
}

const Observer counters_observer = { .access = counters_access, .grid_end = counters_grid_end };
