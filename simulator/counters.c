// Counts what Nsight Compute counts, under its names, at every memory instruction.
//
// A request is one warp instruction that has a lane in it; a sector is one of the 32-byte pieces of memory that its
// lanes touch together. Shared memory has 32 banks of 4 bytes: a pass (wavefront) gives each bank one word, so lanes
// that want different words of one bank need further passes, which are the bank conflicts. Accesses of 8 bytes a lane go
// by half warps and of 16 by quarters (measured: GPU microbenchmarks by Jia et al., arXiv:1804.06826).
#include <stdlib.h>
#include <string.h>

#include "managed.h"
#include "observer.h"
#include "profile.h"
#include "source.h"
#include "roofline.h"

enum counter {
    LAUNCHES, THREADS, INSTRUCTIONS, THREAD_INSTRUCTIONS,
    LOAD_REQUESTS, STORE_REQUESTS, LOAD_SECTORS, STORE_SECTORS,
    ATOMIC_REQUESTS, ATOMIC_SECTORS, REDUCTION_REQUESTS, REDUCTION_SECTORS,
    LOAD_WAVEFRONTS, STORE_WAVEFRONTS, LOAD_CONFLICTS, STORE_CONFLICTS, ATOMIC_CONFLICTS,
    PAGE_FAULTS, BYTES_MIGRATED,
    COUNTERS
};

static const CounterName names[COUNTERS] = {
    [LAUNCHES] = { "launch__count", false },
    [THREADS] = { "launch__thread_count", false },
    [INSTRUCTIONS] = { "smsp__inst_executed.sum", true },
    [THREAD_INSTRUCTIONS] = { "smsp__thread_inst_executed.sum", true },
    [LOAD_REQUESTS] = { "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", false },
    [STORE_REQUESTS] = { "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", false },
    [LOAD_SECTORS] = { "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", false },
    [STORE_SECTORS] = { "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", false },
    [ATOMIC_REQUESTS] = { "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", true },
    [ATOMIC_SECTORS] = { "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", true },
    [REDUCTION_REQUESTS] = { "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", true },
    [REDUCTION_SECTORS] = { "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", true },
    [LOAD_WAVEFRONTS] = { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", false },
    [STORE_WAVEFRONTS] = { "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", false },
    [LOAD_CONFLICTS] = { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", false },
    [STORE_CONFLICTS] = { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", false },
    [ATOMIC_CONFLICTS] = { "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", true },
    [PAGE_FAULTS] = { "unified_memory__gpu_page_faults.sum", false },
    [BYTES_MIGRATED] = { "unified_memory__bytes_htod.sum", false },
};

// Do the spans rise? Then each touches sectors of its own, but for the first, which may be the last of the one before.
static bool spans_rise(const Access *a, u32 *sectors)
{
    u64 last = 0;
    *sectors = 0;
    for (const Span *s = a->span; s < a->span + a->span_count; s++) {
        u64 from = s->address / SECTOR_BYTES, to = (s->address + s->bytes - 1) / SECTOR_BYTES;
        if (s > a->span && s->address == s[-1].address && s->bytes == s[-1].bytes) continue;
        if (from < last) return false;
        *sectors += to - from + (from != last);
        last = to;
    }
    return true;
}

// Aligned accesses of up to 16 bytes lie in one sector each.
u32 access_sectors(const Access *a)
{
    u64 seen[LANES];
    u32 count;
    if (spans_rise(a, &count)) return count;
    count = 0;
    for (u32 l = a->first; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        u64 sector = a->address[l] / SECTOR_BYTES;
        u32 n = count;
        while (n && seen[n - 1] != sector) n--;     // backwards: neighbours share
        if (!n) seen[count++] = sector;
    }
    return count;
}

// Passes over the banks for the lanes of a group, each wanting `words` words. Lanes that want the same word share a pass,
// but not in an atomic: each has to find what the one before it left.
static u32 count_passes(const Access *a, u32 lanes, u32 words)
{
    u32 wanted[BANKS][LANES], depth[BANKS] = { 0 }, most = 0;
    for (u32 l = 0; l < LANES; l++) {
        if (!(lanes >> l & 1)) continue;
        for (u32 n = 0; n < words; n++) {
            u32 word = a->address[l] / BANK_BYTES + n, bank = word % BANKS, k = 0;
            while (k < depth[bank] && (a->atomic || wanted[bank][k] != word)) k++;
            if (k == depth[bank]) wanted[bank][depth[bank]++] = word;
            if (depth[bank] > most) most = depth[bank];
        }
    }
    return most;
}

static void count_banks(const Access *a, Tally *t)
{
    if (a->bytes <= 4 && a->regular && ((a->stride == 0 && !a->atomic) || llabs(a->stride) == 4)) {
        t->wavefronts++;
        return;
    }
    u32 groups = a->bytes <= 4 ? 1 : a->bytes / 4, size = LANES / groups;
    for (u32 g = 0; g < groups; g++) {
        u32 lanes = a->mask & (u32)(((1ull << size) - 1) << g * size);
        u32 passes = count_passes(a, lanes, a->bytes <= 4 ? 1 : a->bytes / 4);
        t->wavefronts += passes;
        if (passes) t->conflicts += passes - 1;
    }
}

static bool counters_access(Access *a)
{
    const Grid *g = a->warp->block->grid;
    Tally *t = &g->tally[a->insn - g->kernel->code];
    t->requests++;
    if (a->space == SPACE_GLOBAL) t->sectors += access_sectors(a);
    else if (a->space == SPACE_SHARED) count_banks(a, t);
    return true;
}

// Which counters an instruction's requests, sectors, wavefronts and conflicts go to.
static const struct { enum counter requests, sectors, wavefronts, conflicts; } kinds[] = {
    { LOAD_REQUESTS, LOAD_SECTORS, LOAD_WAVEFRONTS, LOAD_CONFLICTS },
    { STORE_REQUESTS, STORE_SECTORS, STORE_WAVEFRONTS, STORE_CONFLICTS },
    { ATOMIC_REQUESTS, ATOMIC_SECTORS, COUNTERS, ATOMIC_CONFLICTS },
    { REDUCTION_REQUESTS, REDUCTION_SECTORS, COUNTERS, ATOMIC_CONFLICTS },
};

static void add(u64 *values, const Insn *i, const Tally *t)
{
    const IsaRow *row = &isa_rows[i->row];
    u32 kind = row->shape == ATOMIC ? i->reduces ? 3 : 2 : row->store;
    values[INSTRUCTIONS] += t->executed;
    values[THREAD_INSTRUCTIONS] += t->threads;
    if (t->sectors) values[kinds[kind].requests] += t->requests;
    values[kinds[kind].sectors] += t->sectors;
    if (kinds[kind].wavefronts < COUNTERS) values[kinds[kind].wavefronts] += t->wavefronts;
    values[kinds[kind].conflicts] += t->conflicts;
    values[PAGE_FAULTS] += t->faults;
    values[BYTES_MIGRATED] += t->moved;
}

typedef struct Line { Place place; u64 values[COUNTERS]; } Line;

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
        add(lines[n - 1].values, &g->kernel->code[pc], &g->tally[pc]);
    }
    return count;
}

static void counters_grid_end(Grid *g)
{
    const Kernel *k = g->kernel;
    Launch *l = g->launch;
    u64 totals[COUNTERS] = { [LAUNCHES] = 1, [THREADS] = (u64)l->grid[0] * l->grid[1] * l->grid[2] * g->threads };
    for (u32 pc = 0; pc < k->code_count; pc++) add(totals, &k->code[pc], &g->tally[pc]);
    l->seconds = roofline_seconds(totals[LOAD_SECTORS] + totals[STORE_SECTORS] + totals[ATOMIC_SECTORS]
                                  + totals[REDUCTION_SECTORS], totals[INSTRUCTIONS]) + managed_kernel_seconds();

    Line *lines = calloc(k->code_count, sizeof *lines);
    CounterLine *rows = calloc(k->code_count, sizeof *rows);
    u32 count = lines && rows ? sum_lines(g, lines) : 0;
    for (u32 n = 0; n < count; n++) rows[n] = (CounterLine){ .place = lines[n].place, .values = lines[n].values };
    KernelReport report = { .name = k->name, .signature = k->signature, .status = g->status, .counters = names,
                            .values = totals, .counter_count = COUNTERS, .lines = rows, .line_count = count,
                            .time_ns = l->seconds * 1e9 };
    memcpy(report.grid, l->grid, sizeof report.grid);
    memcpy(report.block, l->block, sizeof report.block);
    report_kernel(&report);
    free(lines);
    free(rows);
}

const Observer counters_observer = { .access = counters_access, .grid_end = counters_grid_end };
