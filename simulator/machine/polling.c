// The clocks that a kernel reads. A clock counts warp instructions, which say nothing of time, and
// waiting: the clocks that all warps have waited (deadlock.c), and those that this warp has waited,
// asleep or in a loop that only polls a clock. On an H200 such a loop reads the clock every 32
// clocks. Here it reads the clock more and more seldom the longer it has waited, and the clock
// advances by what was skipped, so the loop ends late by a thirty-second part at most. Warps that
// meet at a barrier of the block have all waited as long as the longest of them.
#include "base/names.h"
#include "polling.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "observer.h"
#include "profile.h"
#include "program/source.h"
#include "report/report.h"

bool polling_loop(const Kernel *k, u32 look, u32 *first, u32 *end)
{
    enum { LONGEST = 16 };
    const Insn *at = &k->code[look];
    u32 from_it[LONGEST] = { at->op == ISA_clock ? at->d : at->vector[0] }, count = 1, n = look + 1;
    bool depends = false;
    for (; n < k->code_count && n < look + LONGEST && k->code[n].plain; n++) {
        const Insn *i = &k->code[n];
        bool any = false;
        for (u32 r = 0; r < count; r++)
            any |= i->a == from_it[r] || i->b == from_it[r] || i->c == from_it[r];
        if (any) from_it[count++] = i->d;
    }
    const Insn *back = &k->code[n];
    if (n >= k->code_count || back->op != ISA_bra || back->target > look) return false;
    for (u32 r = 0; r < count; r++) depends |= back->guard && back->guard == from_it[r];
    for (u32 p = back->target; p < look; p++) depends &= k->code[p].plain;
    *first = back->target;
    *end = n + 1;
    return depends;
}

static void wait(Warp *w, u64 clocks)
{
    w->waited += clocks;
    OBSERVERS(waited, w, clocks);
}

static bool is_clock(const Insn *i)
{
    return i->target == SPECIAL_CLOCK || i->target == SPECIAL_CLOCK_HI;
}

// A kernel that reads the clock in two places, and does not poll it, measures the time between
// them.
static void tell_what_it_counts(const Warp *w, const Insn *i)
{
    Kernel *k = w->block->grid->kernel;
    const Place place = source_place(k, (u32)(i - k->code));
    char *name = names_plain(k->signature), at[512] = "";
    if (place.line) snprintf(at, sizeof at, " (%s:%u)", names_base(place.file), place.line);
    report_say("%s%s looks at a clock, which counts here the instructions that warps have run and "
               "what was waited for, not a GPU's clocks. "
               "What a kernel takes on one is predicted between two events: cudaEventRecord(), "
               "cudaEventElapsedTime().",
               name, at);
    free(name);
    k->told_of_clock = true;
}

// The clocks that pass before the loop reads the clock again; it now shows `now`.
static u64 until_next_look(Warp *w, const Insn *i, u64 now)
{
    enum { PARTS = 32 };
    Grid *g = w->block->grid;
    if (w->clock_insn != i || !w->polls_clock) {
        const Insn *before = w->polls_clock ? NULL : w->clock_insn;
        u32 first, end;
        w->clock_insn = i;
        w->polls_since = now;
        w->polls_clock = polling_loop(g->kernel, (u32)(i - g->kernel->code), &first, &end);
        if (before && before != i && !w->polls_clock && is_clock(i) && is_clock(before)
            && !g->kernel->told_of_clock)
            tell_what_it_counts(w, i);
        return 0;
    }
    u64 more = (now - w->polls_since) / PARTS;
    if (more) wait(w, more);
    if (w->waited > g->waited_alone) g->waited_alone = w->waited;
    return more;
}

// Grid.steps is only brought up to date between runs of a warp. So the first execution of the
// instruction ends the run, and the second one reads the clock. The global timer, in nanoseconds,
// began long ago.
void run_clock(Warp *w, const Insn *i, u32 mask)
{
    Grid *g = w->block->grid;
    w->clock_ready = !w->clock_ready;
    if (w->clock_ready) {
        tally_take_back(g->tally, --w->pc, w->active);
        w->stop = 0;
        return;
    }
    u64 now = g->steps_before + g->steps + g->waited + w->waited;
    now += until_next_look(w, i, now);
    w->reads_clock = true;
    if (i->target == SPECIAL_GLOBALTIMER || i->target == SPECIAL_GLOBALTIMER_HI)
        now = (u64)((double)now * 1e9 / profile.clock_hz) + (1ull << 60);
    if (i->target == SPECIAL_CLOCK_HI || i->target == SPECIAL_GLOBALTIMER_HI) now >>= 32;
    u32 width = isa_type_width(isa_rows[i->row].type[0]);
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1) memcpy((u8 *)row_of(w, i->d) + l * width, &now, width);
}

// Sleeps as long as the lane that asks for most, up to a millisecond. Measured on an H200: one
// sleep takes once to twice that time, many take 1.0 to 1.6 times. Other warps run meanwhile. A
// warp that has just polled an mbarrier in vain sleeps until the phase ends at most, which the time
// model knows.
void run_nanosleep(Warp *w, const Insn *i, u32 mask)
{
    enum { MOST = 1000000 };
    if (w->yielded) {
        w->yielded = false;
        return;
    }
    const u32 *asked = row_of(w, i->a);
    u32 longest = 0;
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1 && asked[l] > longest) longest = asked[l];
    wait(w, (u64)(fmin(longest, MOST) * profile.clock_hz / 1e9));
    w->turns = w->turn_limit;
    w->stop = 0;
}
