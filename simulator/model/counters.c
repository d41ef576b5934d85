// Computes Nsight Compute's counters, under its names, from the counts of every instruction, for
// each source line and for the launch.
#include "counters.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "caches.h"
#include "coalesce.h"
#include "findings.h"
#include "counts.h"
#include "isa/tensor.h"
#include "machine/access_pattern.h"
#include "machine/polling.h"
#include "managed.h"
#include "link.h"
#include "machine/profile.h"
#include "program/source.h"
#include "slots.h"
#include "timing.h"
#include "base/need.h"
#include "trace.h"

static double ratio(u64 a, u64 b) { return b ? (double)a / b : 0; }

// ---- At an instruction ----

// What a warp's latest poll of memory found that others may write.
typedef struct LastPoll {
    u64 at, value;
    u32 pc, mask, block;
} LastPoll;

// What is kept of a warp while its block runs.
typedef struct SeenWarp {
    LastPoll last;
    u32 busy;    // the lanes that have accessed memory
    u64 sectors; // of global memory, that it has touched
} SeenWarp;

static inline SeenWarp *seen_warp(Block *b, u32 warp)
{
    return (SeenWarp *)b->kept[BLOCK_SEEN] + warp;
}

// A thread is counted at its first access.
static inline void note_busy(Counts *t, SeenWarp *w, u32 lanes)
{
    const u32 fresh = lanes & ~w->busy;
    if (!fresh) return;
    w->busy |= fresh;
    t->busy_threads += (u32)__builtin_popcount(fresh);
}

// A polling warp reads a place until it finds a new value. How often depends on the order of turns
// in the simulator, and on time on an H200. So only its first poll counts, and each one that finds
// a new value.
static bool polls_again(const Access *a)
{
    if (!a->insn->strong || a->store || a->space != SPACE_GLOBAL || a->bytes > sizeof(u64))
        return false;
    if (a->mask & (a->mask - 1) && !(a->regular && !a->stride)) return false;
    LastPoll *last = &seen_warp(a->warp->block, a->warp->number)->last,
             now = { .at = a->base, .pc = a->pc, .mask = a->mask, .block = a->warp->block->number };
    memcpy(&now.value, (const u8 *)a->base, a->bytes);
    bool again = now.at == last->at && now.value == last->value && now.pc == last->pc
              && now.mask == last->mask && now.block == last->block;
    *last = now;
    return again;
}

static void counters_block_make(Block *b)
{
    b->kept[BLOCK_SEEN] = need(calloc(b->warp_count, sizeof(SeenWarp)));
}

static void counters_block_free(Block *b) { free(b->kept[BLOCK_SEEN]); }

static void counters_block_start(Block *b)
{
    for (u32 w = 0; w < b->warp_count; w++) seen_warp(b, w)->busy = 0, seen_warp(b, w)->sectors = 0;
}

// Were a warp's sectors shared by its busy lanes evenly, each would have sectors / lanes of them.
// The squares of those are summed, 32-fold, for all lanes.
static void counters_block_end(Block *b)
{
    Counts *t = &counts_of(b->grid)[0];
    for (u32 w = 0; w < b->warp_count; w++) {
        const SeenWarp *warp = seen_warp(b, w);
        if (!warp->sectors) continue;
        t->shared_out += warp->sectors;
        t->squares += warp->sectors * warp->sectors * LANES / (u32)__builtin_popcount(warp->busy);
    }
}

static u64 less(u64 a, u64 b) { return a > b ? a - b : 0; }

// Subtracts what was executed between polls that found an old value. False: no warp polled.
static bool drop_polls(Grid *g)
{
    bool any = false;
    for (u32 pc = 0, first, end; pc < g->kernel->code_count; pc++) {
        Counts *t = &counts_of(g)[pc];
        if (!t->polls) continue;
        if (!polling_loop(g->kernel, pc, &first, &end)) t->polls = t->polling_threads = 0;
        any |= t->polls > 0;
        for (u32 n = first; t->polls && n < end; n++) {
            g->tally[n].executed = less(g->tally[n].executed, t->polls);
            g->tally[n].threads = less(g->tally[n].threads, t->polling_threads);
        }
    }
    return any;
}

// The words of shared memory that a request's lanes want. ptxas may have made it a wider one, and a
// comparison takes each pass twice.
static u32 shared_words(const Access *a, Wide wide)
{
    u32 bytes = wide.bytes > a->bytes ? wide.bytes : a->bytes;
    u32 words = (bytes + BANK_BYTES - 1) / BANK_BYTES * (a->insn->op == ISA_atom_cas ? 2 : 1);
    return words * (u32)__builtin_popcount(a->mask);
}

static bool counters_access(Access *a)
{
    Counts *t = &counts_of(a->grid)[a->pc];
    if (access_is_constant(a) || access_is_in_registers(a)) return true;
    note_busy(t, seen_warp(a->warp->block, a->warp->number), a->mask);
    if (a->mbarrier || (a->bulk && a->space == SPACE_SHARED)) return true;
    if (access_is_far(a)) {
        t->far_requests += !a->again;
        t->far_sectors += access_sectors(a);
        t->far_bytes += a->bytes * (u32)__builtin_popcount(a->mask);
    } else if (a->space == SPACE_SHARED) {
        u32 conflicts;
        const Wide wide = trace_latest()->op[a->pc].wide;
        u32 wavefronts = access_wavefronts(a, wide, &conflicts);
        t->shared_requests += wavefronts > 0;
        t->wavefronts += wavefronts;
        t->conflicts += conflicts;
        if (wavefronts) t->shared_words += shared_words(a, wide);
    } else {
        MemoryCounts *m = a->space == SPACE_LOCAL ? &t->local : &t->global;
        m->requests += a->space == SPACE_LOCAL ? (a->bytes + WORD_BYTES - 1) / WORD_BYTES : 1;
        m->sectors += access_sectors(a);
        m->lines += a->lines;
        m->bytes += a->bytes;
        if (polls_again(a)) t->polls++, t->polling_threads += (u32)__builtin_popcount(a->mask);
        else if (a->space == SPACE_GLOBAL && !a->bulk)
            seen_warp(a->warp->block, a->warp->number)->sectors += access_sectors(a);
    }
    return true;
}

static void counters_known_lines(Warp *w, const Insn *i, u32 pc, u64 address,
                                 const struct PatternLines *lines)
{
    Counts *t = &counts_of(w->block->grid)[pc];
    MemoryCounts *m = &t->global;
    (void)address;
    if (i->row == ROW_ld_const) return;
    note_busy(t, seen_warp(w->block, w->number), w->block->grid->patterns[i->pattern].mask);
    m->requests++;
    m->sectors += lines->all;
    seen_warp(w->block, w->number)->sectors += lines->all;
    m->lines += lines->count;
    m->bytes += i->elements * i->width;
}

static void counters_swept(Block *b, u32 bit)
{
    const AccessSweep *f = &b->sweep;
    for (u32 n = 0; n < f->step_count; n++) {
        const SweepStep *l = &f->access[n];
        Counts *t = &counts_of(b->grid)[l->pc];
        MemoryCounts *m = &t->global;
        const u64 bytes = l->next - l->base - l->bytes; // of all warps that followed
        if (!(l->rest & bit) || l->insn->row == ROW_ld_const) continue;
        for (u32 w = 0; w < bytes / l->bytes; w++) {
            note_busy(t, seen_warp(b, f->first + 1 + w), ~0u);
            seen_warp(b, f->first + 1 + w)->sectors += l->bytes / SECTOR_BYTES;
        }
        m->requests += bytes / l->bytes;
        m->sectors += bytes / SECTOR_BYTES;
        m->lines += bytes / LINE_BYTES;
        m->bytes += bytes / LANES;
    }
}

// The counters of an instruction's requests and sectors: loads, stores, atomics, reductions.
static const struct {
    enum counter requests, sectors;
} global_kinds[] = {
    { GLOBAL_LD_REQUESTS, GLOBAL_LD_SECTORS }, { GLOBAL_ST_REQUESTS, GLOBAL_ST_SECTORS },
    { GLOBAL_ATOM_REQUESTS, GLOBAL_ATOM_SECTORS }, { GLOBAL_RED_REQUESTS, GLOBAL_RED_SECTORS },
}, local_kinds[] = { { LOCAL_LD_REQUESTS, LOCAL_LD_SECTORS }, { LOCAL_ST_REQUESTS, LOCAL_ST_SECTORS } };
static const struct {
    enum counter requests, sectors;
} far_kinds[] = {
    { FAR_LD_REQUESTS, FAR_LD_SECTORS },
    { FAR_ST_REQUESTS, FAR_ST_SECTORS },
    { FAR_ATOM_REQUESTS, FAR_ATOM_SECTORS },
    { FAR_ATOM_REQUESTS, FAR_ATOM_SECTORS },
};
static const enum counter lines_of[] = { GLOBAL_LD_LINES, GLOBAL_ST_LINES },
                          least_of[] = { GLOBAL_LD_LEAST, GLOBAL_ST_LEAST };
static const enum counter global_hits[] = { GLOBAL_LD_HITS, GLOBAL_ST_HITS },
                          local_hits[] = { LOCAL_LD_HITS, LOCAL_ST_HITS };
static const struct {
    enum counter wavefronts, conflicts;
} shared_kinds[] = {
    { SHARED_LD_WAVEFRONTS, SHARED_LD_CONFLICTS },
    { SHARED_ST_WAVEFRONTS, SHARED_ST_CONFLICTS },
    { SHARED_ATOM_WAVEFRONTS, SHARED_ATOM_CONFLICTS },
    { SHARED_ATOM_WAVEFRONTS, SHARED_ATOM_CONFLICTS },
};
static const enum counter shared_apart[] = { SHARED_LD_APART, SHARED_ST_APART, SHARED_ATOM_APART,
                                             SHARED_ATOM_APART };
static const enum counter shared_requests[] = { SHARED_LD_REQUESTS, SHARED_ST_REQUESTS };
static const enum counter unit_counters[UNITS] = {
    [UNIT_ALU] = ALU_INSTRUCTIONS,   [UNIT_FMA] = FMA_INSTRUCTIONS,
    [UNIT_HEAVY] = FMA_INSTRUCTIONS, [UNIT_INTEGER] = ALU_INSTRUCTIONS,
    [UNIT_FP64] = FP64_INSTRUCTIONS, [UNIT_XU] = XU_INSTRUCTIONS,
    [UNIT_LSU] = LSU_INSTRUCTIONS,   [UNIT_TENSOR] = TENSOR_INSTRUCTIONS,
    [UNIT_ADU] = ADU_INSTRUCTIONS,   [UNIT_TMA] = TMA_INSTRUCTIONS,
    [UNIT_NONE] = CBU_INSTRUCTIONS,
};

static bool is_barrier(const IsaRow *row)
{
    return row->op == ISA_bar_sync || row->op == ISA_bar_arrive || row->op == ISA_bar_red
        || row->op == ISA_mbarrier_arrive || row->op == ISA_cluster_arrive
        || row->op == ISA_cluster_wait;
}
static bool is_branch(const IsaRow *row) { return isa_pipe(row) == PIPE_CBU && row->shape == FLOW; }

// What the hardware executes for an instruction: op.c's estimate of ptxas's code. Predicated
// instructions that a branch would have skipped are issued all the same.
typedef struct Issued {
    double warps, threads;
    const Op *op;
} Issued;

static Issued issued(const Grid *g, u32 pc)
{
    const Op *op = &trace_latest()->op[pc];
    const Tally *t = &g->tally[op->over ? op->over - 1 : pc];
    return (Issued){ .warps = t->executed * (double)op->slots,
                     .threads = t->threads * (double)op->slots,
                     .op = op };
}

// Special registers are fetched: those that differ between threads by the LSU (S2R), the others
// like constants.
static enum counter unit_counter(const Kernel *k, const Insn *i, const Op *op)
{
    if (insn_row(i)->op == ISA_mov)
        for (u32 n = 0; n < k->constant_count; n++)
            if (k->constants[n].row == i->a && k->constants[n].special
                && k->constants[n].special != SPECIAL_SHARED)
                return k->constants[n].special <= SPECIAL_TID_Z
                            || k->constants[n].special == SPECIAL_LANEID
                         ? LSU_INSTRUCTIONS
                         : ADU_INSTRUCTIONS;
    return unit_counters[op->unit];
}

// What ptxas puts at a kernel's beginning: the stack pointer, and a descriptor if it touches global
// memory.
static u32 prologue(const Kernel *k)
{
    for (u32 pc = 0; pc < k->code_count; pc++) {
        const IsaRow *row = &isa_rows[k->code[pc].row];
        if (row->shape == ATOMIC
            || (row->shape == MEMORY
                && (row->space == SPACE_GLOBAL || row->space == SPACE_GENERIC)))
            return 2;
    }
    return 1;
}

static void add_prologue(u64 sum[COUNTERS], const Grid *g)
{
    u32 count = prologue(g->kernel);
    sum[INSTRUCTIONS] += count * g->tally[0].executed;
    sum[THREAD_INSTRUCTIONS] += count * g->tally[0].threads;
    sum[ADU_INSTRUCTIONS] += count * g->tally[0].executed;
}

u64 counters_least_sectors(const Counts *t, u64 threads)
{
    const MemoryCounts *m = &t->global;
    double lanes = fmin(LANES, ratio(threads, m->requests));
    return fmax(m->requests, ceil(lanes * m->bytes / SECTOR_BYTES));
}

static void add_bulk(u64 sum[COUNTERS], const Insn *i, const Counts *t)
{
    enum counter to = !i->matrix->stores ? BULK_LD_BYTES
                    : i->matrix->reduces ? BULK_RED_BYTES
                                         : BULK_ST_BYTES;
    sum[to] += t->global.sectors * SECTOR_BYTES;
    sum[to == BULK_LD_BYTES ? BULK_LD_SECTORS : BULK_ST_SECTORS] += t->global.sectors;
}

// What lanes cost that use shared memory one after the other, or by way of the network between SMs:
// passes that are no conflicts, beyond those that each quarter of a pass would need for itself; and
// sectors beyond those that the lanes' bytes fill.
static u64 passes_apart(const Counts *t)
{
    u64 would_do = (t->shared_words + BANKS / 4 - 1) / (BANKS / 4);
    return less(less(t->wavefronts, t->conflicts), would_do)
         + less(t->far_sectors, (t->far_bytes + SECTOR_BYTES - 1) / SECTOR_BYTES);
}

// Counts of the load/store unit and L1, which copies in bulk bypass.
static void add_accesses(u64 sum[COUNTERS], const Insn *i, const Counts *t, u64 threads)
{
    const IsaRow *row = &isa_rows[i->row];
    u32 kind = row->shape == ATOMIC ? i->reduces ? 3 : 2 : row->store;
    if (i->op == ISA_bulk) {
        add_bulk(sum, i, t);
        return;
    }
    sum[global_kinds[kind].requests] += t->global.requests - t->polls; // of one sector each
    sum[global_kinds[kind].sectors] += t->global.sectors - t->polls;
    if (kind < 2) sum[global_hits[kind]] += t->global.hits, sum[local_hits[kind]] += t->local.hits;
    if (kind < 2)
        sum[lines_of[kind]] += t->global.lines - t->polls,
            sum[least_of[kind]] += counters_least_sectors(t, threads) - t->polls;
    sum[local_kinds[row->store].requests] += t->local.requests;
    sum[local_kinds[row->store].sectors] += t->local.sectors;
    if (i->op == ISA_copy && !i->matrix->past_l1)
        sum[LDGSTS_REQUESTS] += t->global.requests, sum[LDGSTS_SECTORS] += t->global.sectors;
    if (i->op == ISA_copy) {
        sum[SHARED_COPY_WAVEFRONTS] += t->wavefronts;
        sum[SHARED_COPY_CONFLICTS] += i->matrix->past_l1 ? 0 : t->conflicts;
    } else {
        sum[shared_kinds[kind].wavefronts] += t->wavefronts;
        sum[shared_kinds[kind].conflicts] += t->conflicts;
        sum[shared_apart[kind]] += passes_apart(t);
        if (kind < 2) sum[shared_requests[kind]] += t->shared_requests;
    }
    sum[far_kinds[kind].requests] += t->far_requests;
    sum[far_kinds[kind].sectors] += t->far_sectors;
}

// A branch in native code. Where lanes may diverge, ptxas first declares the point of reconvergence
// (BSSY), at which each part waits for the others (BSYNC). ncu counts branches in no pipe, and the
// other two not as branches.
static void add_branch(u64 sum[COUNTERS], const Grid *g, u32 pc, const Op *op)
{
    const Insn *i = &g->kernel->code[pc];
    const Tally *t = &g->tally[pc];
    if (op->skips) return;
    sum[BRANCHES] += t->executed;
    if (op->ends) {
        sum[CBU_INSTRUCTIONS] += t->executed;
        return;
    }
    sum[DIVERGENT] += t->divergent;
    if (!i->may_diverge || insn_ends(i + 1)) return;
    bool loops = i->target <= pc,
         falls_in = i->target && !insn_jumps(&g->kernel->code[i->target - 1]);
    u64 begun = !loops ? t->executed : g->tally[falls_in ? i->target - 1 : 0].executed,
        met = begun + t->divergent;
    sum[BRANCHES] += met;
    sum[CBU_INSTRUCTIONS] += begun + met;
}

// Adds the counts of one instruction.
static void add_instruction(u64 sum[COUNTERS], const Grid *g, u32 pc)
{
    const Insn *i = &g->kernel->code[pc];
    const Tally *ran = &g->tally[pc];
    const Counts *t = &counts_of(g)[pc];
    const IsaRow *row = &isa_rows[i->row];
    Issued o = issued(g, pc);
    double own = o.op->slots > 0 ? o.warps * o.op->own / o.op->slots : 0, others = o.warps - own;
    enum counter unit = unit_counter(g->kernel, i, o.op);
    if (o.op->unit == UNIT_INTEGER && unit == ALU_INSTRUCTIONS) others += own, own = 0;
    sum[INSTRUCTIONS] += o.warps + 0.5;
    sum[THREAD_INSTRUCTIONS] += o.threads + 0.5;
    if (i->op != ISA_bra) sum[unit] += own + 0.5;
    if (!pc) add_prologue(sum, g);
    sum[ALU_INSTRUCTIONS] += others / 2; // ptxas spreads simple integer work over two pipes
    sum[FMA_INSTRUCTIONS] += others / 2 + 0.5;
    if (i->op == ISA_bra) add_branch(sum, g, pc, o.op);
    else if (is_branch(row)) sum[BRANCHES] += o.warps + 0.5;
    if (is_barrier(row)) sum[BARRIER_ARRIVALS] += ran->executed;
    add_accesses(sum, i, t, ran->threads);
    sum[DRAM_READ] += t->dram_sectors * SECTOR_BYTES;
    sum[LINK_IN] += t->received;
    sum[LINK_OUT] += t->sent;
    sum[PAGE_FAULTS] += t->faults;
    sum[BYTES_MIGRATED] += t->moved;
    bool stored = row->store || row->way == FROM_SHARED, both = row->shape == ATOMIC;
    bool loads = !stored || both, stores = stored || both;
    if (loads) sum[HOST_READ] += t->host_sectors * SECTOR_BYTES;
    if (stores) sum[HOST_WRITTEN] += t->host_sectors * SECTOR_BYTES;
    if (loads) sum[MANAGED_READ] += t->managed_sectors * SECTOR_BYTES;
    if (stores) sum[MANAGED_WRITTEN] += t->managed_sectors * SECTOR_BYTES;
}

// ---- At the end of a launch ----

typedef struct Line {
    Place place;
    u64 sum[COUNTERS];
} Line;

static bool same_place(const Place *a, const Place *b)
{
    return a->line == b->line
        && (a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file)));
}

// Sums by source line, in the order in which lines first appear in the code.
static u32 sum_lines(const Grid *g, Line *lines)
{
    u32 count = 0, n;
    for (u32 pc = 0; pc < g->kernel->code_count; pc++) {
        Place place = source_place(g->kernel, pc);
        if (!g->tally[pc].executed || !place.line) continue;
        for (n = count; n && !same_place(&lines[n - 1].place, &place); n--) {}
        if (!n) n = ++count, lines[n - 1].place = place;
        add_instruction(lines[n - 1].sum, g, pc);
    }
    return count;
}

// Where a warp polled, an H200 counts loads that are not counted here.
static void mark_loads(CounterName counters[COUNTERS], CounterName metrics[METRICS])
{
    counters[GLOBAL_LD_REQUESTS].estimate = counters[GLOBAL_LD_SECTORS].estimate =
        counters[GLOBAL_LD_LINES].estimate = true;
    metrics[METRIC_LD_SECTORS_A_REQUEST].estimate = true;
}

// For copies that need more wavefronts than the ideal, not all rules are known
// (simulator/test/accesses/departures.txt).
static void mark_copies(CounterName counters[COUNTERS], const Grid *g)
{
    for (u32 pc = 0; pc < g->kernel->code_count; pc++)
        if (g->kernel->code[pc].op == ISA_copy && counts_of(g)[pc].conflicts)
            counters[SHARED_COPY_WAVEFRONTS].estimate = counters[SHARED_COPY_CONFLICTS].estimate =
                true;
}

static void report(const Grid *g, const Totals *t, bool waited)
{
    const Kernel *k = g->kernel;
    double metrics[METRICS];
    CounterName counter_name[COUNTERS], metric_name[METRICS];
    memcpy(counter_name, counter_names, sizeof counter_name);
    memcpy(metric_name, metric_names, sizeof metric_name);
    if (waited) mark_loads(counter_name, metric_name);
    mark_copies(counter_name, g);
    for (u32 n = 0; n < METRICS; n++) metrics[n] = metric_value(n, t);
    Line *lines = calloc(k->code_count, sizeof *lines);
    CounterLine *rows = calloc(k->code_count, sizeof *rows);
    u32 count = lines && rows ? sum_lines(g, lines) : 0;
    for (u32 n = 0; n < count; n++)
        rows[n] = (CounterLine){ .place = lines[n].place, .values = lines[n].sum };
    KernelReport report = { .name = k->name,
                            .signature = k->signature,
                            .status = g->status,
                            .counters = counter_name,
                            .values = t->sum,
                            .counter_count = COUNTERS,
                            .metrics = metric_name,
                            .figures = metrics,
                            .metric_count = METRICS,
                            .lines = rows,
                            .line_count = count,
                            .columns = counter_columns,
                            .column_count = counter_column_count,
                            .time_ns = t->seconds * 1e9,
                            .bound = t->bound,
                            .roof = t->roofline.roof,
                            .error = timing_error(t->bound),
                            .device = g->launch->device };
    memcpy(report.grid, g->launch->grid, sizeof report.grid);
    memcpy(report.block, g->launch->block, sizeof report.block);
    Detail details[MOST_DETAILS];
    report.details = details;
    report.detail_count = details_fill(details, t, &report);
    Finding findings[MOST_FINDINGS];
    report.findings = findings;
    if (report_wants_findings(&report))
        report.finding_count = findings_fill(findings, g, t, &report);
    report_kernel(&report);
    for (size_t n = 0; n < report.finding_count; n++) free(findings[n].words);
    free(lines);
    free(rows);
}

// The counters of L2 and DRAM, which no single instruction causes.
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

// Nor spilled registers, which are in the native code alone.
static void add_spills(u64 sum[COUNTERS], const Grid *g, u64 warps)
{
    const Spills s = caches_spills(g->kernel);
    const u64 executed = warps * (s.stores + s.loads);
    sum[INSTRUCTIONS] += executed;
    sum[THREAD_INSTRUCTIONS] += sum[THREADS] * (s.stores + s.loads);
    sum[LSU_INSTRUCTIONS] += executed;
    sum[LOCAL_ST_REQUESTS] += warps * s.words_stored;
    sum[LOCAL_LD_REQUESTS] += warps * s.words_loaded;
    sum[LOCAL_ST_SECTORS] += warps * s.words_stored * LINE_SECTORS;
    sum[LOCAL_LD_SECTORS] += warps * s.words_loaded * LINE_SECTORS;
    sum[LOCAL_ST_HITS] += caches_spilled(true).local_hits;
    sum[LOCAL_LD_HITS] += caches_spilled(false).local_hits;
    sum[DRAM_READ] +=
        (caches_spilled(true).dram_sectors + caches_spilled(false).dram_sectors) * SECTOR_BYTES;
}

// As many threads as would touch the same sectors with the same sum of squares, if each touched as
// many as the others. `busy`: those that access memory at all.
static double sharing_threads(const Counts *t, u64 busy)
{
    if (!t->squares) return busy;
    return fmin(busy, LANES * (double)t->shared_out * t->shared_out / t->squares);
}

// The launch's instructions of threads, times those of a thread. Over all launches, this divided by
// the instructions is the work of a thread, each launch's by its part of the whole: launches with
// many threads and next to no work change nothing.
static u64 work_of_a_thread(u64 instructions, double threads)
{
    enum { MOST_BITS = 54 }; // the sum over all launches has 64
    double all = instructions;
    return threads > 0 ? llround(fmin(all * all / threads, 1ull << MOST_BITS)) : 0;
}

static void counters_grid_end(Grid *g)
{
    Launch *l = g->launch;
    Totals t = { .launch = l,
                 .occupancy = occupancy_blocks(g->kernel, g->threads, l->dynamic_shared),
                 .blocks = (double)l->grid[0] * l->grid[1] * l->grid[2],
                 .warps_per_block = (g->threads + LANES - 1) / LANES,
                 .shared_per_block = g->kernel->shared_bytes + l->dynamic_shared
                                   + profile.shared_reserved_per_block,
                 .shared_config = caches_carveout() };
    add_traffic(t.sum, caches_traffic());
    t.sum[LAUNCHES] = 1;
    t.sum[PARAMETER_BYTES] = g->kernel->param_bytes;
    t.sum[THREADS] = (u64)l->grid[0] * l->grid[1] * l->grid[2] * g->threads;
    bool waited = drop_polls(g);
    for (u32 pc = 0; pc < g->kernel->code_count; pc++) {
        add_instruction(t.sum, g, pc);
        t.sum[BUSY_THREADS] += counts_of(g)[pc].busy_threads;
    }
    t.sum[WORK_OF_A_THREAD] = work_of_a_thread(
        t.sum[THREAD_INSTRUCTIONS], sharing_threads(&counts_of(g)[0], t.sum[BUSY_THREADS]));
    add_spills(t.sum, g, (u64)t.blocks * t.warps_per_block);
    t.timing = timing_of(g);
    t.bound = t.timing.bound;
    u64 fetched, written;
    caches_under_way(fmax(t.timing.seconds - profile.kernel_seconds, profile.l2_write_seconds),
                     &fetched, &written);
    t.sum[DRAM_READ] -= fetched;
    t.sum[DRAM_WRITTEN] -= written;
    l->seconds =
        fmax(t.timing.seconds + managed_kernel_seconds(g) + link_kernel_seconds(g), l->at_least);
    if (l->seconds * (1 - BOUNDS_FROM) > t.timing.seconds) t.bound = "transfers";
    t.seconds = l->seconds;
    t.roofline = roofline_of(g, t.sum, t.seconds);
    report(g, &t, waited);
}

const Observer counters_observer = { .block_make = counters_block_make,
                                     .block_free = counters_block_free,
                                     .block_start = counters_block_start,
                                     .block_end = counters_block_end,
                                     .access = counters_access,
                                     .known_lines = counters_known_lines,
                                     .swept = counters_swept,
                                     .frugal = true,
                                     .grid_end = counters_grid_end };
