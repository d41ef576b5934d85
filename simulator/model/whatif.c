#include "whatif.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    if (to && bytes) memcpy(to, from, bytes);
    return to;
}

bool whatif_make(WhatIf *w, const Grid *g)
{
    const Trace *t = trace_latest();
    *w = (WhatIf){ .trace = *t, .count = g->kernel->code_count };
    w->trace.access = copy_of(t->access, t->access_count * sizeof *t->access);
    w->trace.piece = copy_of(t->piece, t->piece_count * sizeof *t->piece);
    w->counts = copy_of(counts_of(g), w->count * sizeof *w->counts);
    if (w->trace.access && w->trace.piece && w->counts) return true;
    whatif_free(w);
    return false;
}

void whatif_free(WhatIf *w)
{
    free(w->trace.access);
    free(w->trace.piece);
    free(w->counts);
}

double whatif_seconds(const WhatIf *w, const Grid *g)
{
    Assumed a = timing_as_it_was(g);
    a.trace = &w->trace;
    a.counts = w->counts;
    a.whole_sectors = w->whole_sectors;
    return timing_if(g, &a).seconds;
}

// ---- The accesses of the trace

typedef void Mend(WhatIf *what, TraceAccess *access, u32 pc, u32 nth);

// The instruction of the PTX that a step executes, or for which a native one stands.
static u32 pc_of(const Trace *t, const Step *step)
{
    const Op *op = &t->op[step->pc];
    return op->native.known ? op->native.pc : step->pc;
}

// Mends each access of these instructions: a warp's nth of one instruction, from 0.
static void mend(WhatIf *w, const bool *at, Mend *how)
{
    u32 *nth = malloc(w->count * sizeof *nth);
    for (u32 b = 0; nth && b < w->trace.block_count; b++)
        for (u32 n = 0; n < w->trace.block[b]->warp_count; n++) {
            const TraceWarp *warp = &w->trace.block[b]->warp[n];
            memset(nth, 0, w->count * sizeof *nth);
            for (const Step *s = warp->step; s < warp->step + warp->count; s++) {
                const u32 pc = pc_of(&w->trace, s);
                if (s->access && at[pc]) how(w, &w->trace.access[s->access - 1], pc, nth[pc]++);
            }
        }
    free(nth);
}

// ---- What they do better

static u32 sectors_of(const WhatIf *w, const TraceAccess *a)
{
    u32 sectors = 0;
    for (u32 n = 0; n < a->count; n++)
        sectors += (u32)__builtin_popcount(w->trace.piece[a->first + n].sectors);
    return sectors;
}

// The access touches whole lines, of those that it did touch. Which of them differs from one access
// of the warp to its next, so that together they touch as many as before.
static void coalesce(WhatIf *w, TraceAccess *a, u32 pc, u32 nth)
{
    const MemoryCounts *m = &w->counts[pc].global;
    Piece *piece = &w->trace.piece[a->first];
    u32 left = (u32)fmax(1, rint((double)m->sectors / fmax(1, m->requests)));
    const u32 lines = (left + LINE_SECTORS - 1) / LINE_SECTORS;
    if (a->space == SPACE_SHARED || left >= sectors_of(w, a) || lines > MOST_PIECES) return;
    u64 line[MOST_PIECES];
    for (u32 n = 0; n < lines && n < a->count; n++)
        line[n] = piece[(nth * lines + n) % a->count].line;
    a->count = lines < a->count ? lines : a->count;
    for (u32 n = 0; n < a->count; n++, left -= LINE_SECTORS)
        piece[n] =
            (Piece){ .line = line[n], .sectors = left < LINE_SECTORS ? (1u << left) - 1 : 0xf };
}

static u64 least(u64 a, u64 b) { return a < b ? a : b; }

// What goes beyond L1, and beyond L2, is at most what is needed once: L1 or L2 may have kept the
// rest of a sector until it was needed.
void whatif_coalesced(WhatIf *w, const Grid *g, const bool *at)
{
    for (u32 pc = 0; pc < w->count; pc++) {
        Counts *t = &w->counts[pc];
        if (!at[pc]) continue;
        const u64 needed = counters_least_sectors(t, g->tally[pc].threads),
                  asked = least(t->global.sectors - t->global.hits, needed);
        t->global.sectors = needed;
        t->global.hits = needed - asked;
        t->l2_misses = least(t->l2_misses, asked);
        t->l2_late = least(t->l2_late, asked - t->l2_misses);
        t->dram_sectors = least(t->dram_sectors, needed);
    }
    mend(w, at, coalesce);
}

static void pass_once(WhatIf *w, TraceAccess *a, u32 pc, u32 nth)
{
    const Counts *t = &w->counts[pc];
    const u64 passes =
        (t->wavefronts - t->conflicts) / (t->shared_requests ? t->shared_requests : 1);
    (void)nth;
    if (a->space == SPACE_SHARED && a->passes > passes) a->passes = passes ? (u32)passes : 1;
}

void whatif_without_conflicts(WhatIf *w, const bool *at) { mend(w, at, pass_once); }

static void leave_out(WhatIf *w, TraceAccess *a, u32 pc, u32 nth)
{
    (void)w, (void)pc, (void)nth;
    if (a->space == SPACE_LOCAL) a->count = 0;
}

void whatif_in_registers(WhatIf *w, const bool *at) { mend(w, at, leave_out); }
