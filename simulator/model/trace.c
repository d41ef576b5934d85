// Traces the blocks of the first SM, and the grid's last block, which often does what is left over.
#include "trace.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/profile.h"
#include "base/need.h"
#include "slots.h"

// The most that is kept of a launch. The rest of a longer one is assumed to be like its beginning.
// Blocks that share the SM must be traced equally far, or they would seem to run one after another.
// So each of the first blocks has the same part of the steps, and each of its warps of that.
enum { MOST_STEPS = 1 << 21, MOST_PIECES_KEPT = 1 << 22, MOST_SHARES = 32 };

// Contention of atomics: a slice of L2 performs those to the same REGION bytes one after another.
// Places that share an entry replace each other, and the most contended one remains.
enum { REGION = 512, PLACES = 1024 };

// A shard runs one block at a time: its `trace` is of that block alone, and is handed over when it
// has ended.
typedef struct TracedGrid {
    Trace trace;
    u64 steps, pieces; // including those that shards have yet to hand over
    u32 most;          // steps of each warp
    struct {
        u64 where; // a region; ~: a sector
        double clocks;
    } hot[PLACES];
    struct TracedMbarrier {
        const Block *block;
        u64 at;
        u32 now, over;
    } * mbarrier; // phases: the current one, and the completed one
    u32 mbarrier_count, mbarrier_room;
} TracedGrid;

static TracedGrid *traced_grid(const Grid *g) { return g->kept[GRID_TRACE]; }

static TracedGrid *now;   // of the grid whose turn it is
static TracedGrid *spare; // of a grid that has ended, to be reused

const Trace *trace_latest(void) { return &now->trace; }

static void *grow(void *array, u32 count, u32 *room, size_t size)
{
    if (count < *room) return array;
    while (count >= *room) *room = *room ? 2 * *room : 64;
    return need(realloc(array, *room * size));
}

static void free_block(TraceBlock *b)
{
    for (u32 w = 0; w < b->warp_count; w++) free(b->warp[w].step), free(b->warp[w].poll);
    free(b->warp);
    free(b);
}

static void forget_blocks(Trace *t)
{
    for (u32 b = 0; b < t->block_count; b++) free_block(t->block[b]);
    t->block_count = 0;
}

static u64 last_block(const Launch *l) { return (u64)l->grid[0] * l->grid[1] * l->grid[2] - 1; }

// The most steps of a warp.
static u32 most_steps(const Grid *g)
{
    u64 blocks = last_block(g->launch) / profile.sm_count + 1;
    u32 warps = (g->threads + LANES - 1) / LANES;
    return MOST_STEPS / (blocks < MOST_SHARES ? (u32)blocks : MOST_SHARES) / warps;
}

static void trace_grid_start(Grid *g)
{
    TracedGrid *t = g->kept[GRID_TRACE] = spare ? spare : need(calloc(1, sizeof *t));
    spare = NULL;
    Trace *trace = &t->trace;
    *trace = (Trace){ .op = ops_of(g->kernel),
                      .op_count = g->kernel->code_count,
                      .block = trace->block,
                      .block_room = trace->block_room,
                      .access = trace->access,
                      .access_room = trace->access_room,
                      .piece = trace->piece,
                      .piece_room = trace->piece_room,
                      .phase = trace->phase,
                      .phase_room = trace->phase_room };
    t->mbarrier_count = 0;
    memset(t->hot, 0, sizeof t->hot);
    t->steps = t->pieces = 0;
    t->most = most_steps(g);
}

static void trace_grid_turn(Grid *g) { now = traced_grid(g); }

static void trace_grid_free(Grid *g)
{
    forget_blocks(&traced_grid(g)->trace);
    if (spare)
        free(spare->trace.block), free(spare->trace.access), free(spare->trace.piece),
            free(spare->trace.phase), free(spare->mbarrier), free(spare);
    spare = traced_grid(g);
}

static u64 steps_so_far(const Grid *g)
{
    return g->shard ? now->steps : traced_grid(g)->trace.steps;
}

static void mark_full(Grid *g, void *nothing, bool dropped)
{
    (void)nothing;
    if (!dropped) traced_grid(g)->trace.full = true;
}

static void note_full(Grid *g)
{
    if (g->shard) grid_defer(g, mark_full, 0);
    else mark_full(g, NULL, false);
}

static void trace_block_start(Block *b)
{
    Trace *trace = &traced_grid(b->grid)->trace;
    for (u32 n = 0; n < b->warp_count; n++) b->warps[n].trace = NULL;
    if (b->grid->shard)
        forget_blocks(trace), trace->access_count = trace->piece_count = trace->steps = 0;
    bool first_sm = b->number % profile.sm_count == 0;
    if (!trace->op || (!first_sm && b->number != last_block(b->grid->launch))) return;
    if (steps_so_far(b->grid) > MOST_STEPS
        || (b->grid->shard ? now->pieces : trace->piece_count) > MOST_PIECES_KEPT) {
        if (first_sm) note_full(b->grid);
        return;
    }
    TraceBlock *t = need(calloc(1, sizeof *t));
    t->number = b->number;
    t->warp_count = b->warp_count;
    t->warp = need(calloc(b->warp_count, sizeof *t->warp));
    trace->block = grow(trace->block, trace->block_count, &trace->block_room, sizeof *trace->block);
    trace->block[trace->block_count++] = t;
    for (u32 n = 0; n < b->warp_count; n++) b->warps[n].trace = &t->warp[n];
}

// The step after a run's execution, or after those before it which are predicated; 0: there are no
// such steps.
static u32 run_ends_at(const Trace *t, const TraceWarp *w, u32 at, u32 first, u32 end)
{
    for (u32 pc = first; pc < end; at++) {
        if (at == w->count || w->step[at].pc != pc) return 0;
        u32 jumps = t->op[pc].jumps;
        bool jumped = jumps && at + 1 < w->count && w->step[at + 1].pc == pc + 1 + jumps;
        pc += jumped ? 1 + jumps : 1;
    }
    return at;
}

// Adds the native steps for the executions of a run that begin at a step, and returns the step
// after them; 0: there are not as many as the native code stands for.
static u32 add_native(const Trace *t, const TraceWarp *w, u32 at, u32 *access, Step **to)
{
    u32 first = w->step[at].pc;
    const NativeRun *run = &t->op[first].run;
    u32 length = run->end - first, next = at;
    for (u32 copy = 0; run->op && copy < run->copies; copy++) {
        u32 from = next;
        if (!(next = run_ends_at(t, w, from, first, run->end))) return 0;
        memset(access + copy * length, 0, length * sizeof *access);
        for (u32 n = from; n < next; n++)
            access[copy * length + w->step[n].pc - first] = w->step[n].access;
    }
    for (u32 n = run->op; n < run->op + run->count; n++) {
        const NativeOp *native = &t->op[n].native;
        bool accesses = t->op[n].kind != OP_PLAIN && t->op[n].kind != OP_BRANCH;
        *(*to)++ =
            (Step){ .pc = n,
                    .access = accesses ? access[native->copy * length + native->pc - first] : 0 };
    }
    return run->op ? next : 0;
}

// Puts a run of steps into the order in which ptxas schedules them. Returns how many.
static u32 add_in_order(const Trace *t, const TraceWarp *w, u32 at, Step **to)
{
    u32 first = w->step[at].pc, end = t->op[first].run_end, length = end - first;
    bool whole = at + length <= w->count && (first == 0 || t->op[first - 1].run_end == first);
    for (u32 n = 0; whole && n < length; n++) whole = w->step[at + n].pc == first + n;
    if (!whole) length = 1, *(*to) = w->step[at];
    for (u32 n = 0; whole && n < length; n++)
        (*to)[t->op[first + n].rank - first] = w->step[at + n];
    *to += length;
    return length;
}

// Replaces the runs of a warp's steps by their native code, or puts them into ptxas's order.
static void arrange(const Trace *t, TraceWarp *w)
{
    u64 room = 1, accesses = 1;
    for (u32 n = 0; n < w->count; n++) {
        const NativeRun *run = &t->op[w->step[n].pc].run;
        u32 longest = (run->end - w->step[n].pc) * run->copies;
        room += 1 + run->count;
        if (run->op && longest > accesses) accesses = longest;
    }
    Step *arranged = need(malloc(room * sizeof *arranged)), *to = arranged;
    u32 *access = need(malloc(accesses * sizeof *access));
    for (u32 at = 0, next; at < w->count; at = next) {
        next = add_native(t, w, at, access, &to);
        if (!next) next = at + add_in_order(t, w, at, &to);
    }
    free(access);
    free(w->step);
    w->step = arranged;
    w->count = w->room = (u32)(to - arranged);
}

static void trace_step(Warp *w, const Insn *i)
{
    Grid *g = w->block->grid;
    Trace *trace = &traced_grid(g)->trace;
    TraceWarp *t = w->trace;
    if (i->op == ISA_clock && !w->clock_ready) return; // it will run once more
    if (t->count >= traced_grid(g)->most) {
        note_full(g);
        arrange(trace, t);
        w->trace = NULL;
        return;
    }
    t->step = grow(t->step, t->count, &t->room, sizeof *t->step);
    t->step[t->count++] = (Step){ .pc = (u32)(i - g->kernel->code) };
    trace->steps += w->block->number % profile.sm_count == 0;
}

// Adds so many clocks to what atomics take at a place.
static void heat(u64 where, double clocks)
{
    u64 place = (where ^ where >> 10) % PLACES;
    if (now->hot[place].where == where) now->hot[place].clocks += clocks;
    else if (now->hot[place].clocks > clocks) now->hot[place].clocks -= clocks;
    else now->hot[place].where = where, now->hot[place].clocks = clocks;
    now->trace.hottest = fmax(now->trace.hottest, now->hot[place].clocks);
}

// Sums of floats to one word wait for one another, while those to other sectors go on.
static void count_atomics(Access *a)
{
    const IsaRow *row = insn_row(a->insn);
    bool floats = row->type[0] == TYPE_f32 || row->type[0] == TYPE_f64;
    Piece pieces[MOST_PIECES];
    u32 count = access_pieces(a, pieces);
    for (u32 n = 0; n < count; n++) {
        const Piece *p = &pieces[n];
        heat(p->line * LINE_BYTES / REGION, p->passes / profile.atomic_one_place_per_clock);
        if (floats)
            heat(~(p->line * LINE_SECTORS + (u32)__builtin_ctz(p->sectors)),
                 (double)p->passes / __builtin_popcount(p->sectors)
                     / profile.atomic_float_one_place_per_clock);
    }
}

// A polling warp reads the same until it changes. How often the simulator has it poll means
// nothing: only its first poll is kept, and the model continues from there. (A loop that reads the
// same until it ends is no polling.)
typedef struct Poll {
    const Insn *insn;
    u32 mask;        // 0: something else was touched since
    u32 first;       // its steps from here on are later polls
    u64 span, value; // where it read, and the value, for all lanes
} Poll;

static void digest(const Access *a, Poll *p)
{
    const u8 *base = a->space == SPACE_SHARED ? a->owner->shared : NULL;
    p->span = p->value = 0;
    for (u32 n = 0; n < a->span_count; n++) {
        const Span *s = &a->span[n];
        p->span = (p->span ^ s->address ^ s->lanes) * 0x9e3779b97f4a7c15;
        for (u32 b = 0; b < s->bytes; b++)
            p->value = (p->value ^ base[s->address + b]) * 0x9e3779b97f4a7c15;
    }
}

// Drops the steps from there on, except barriers that other lanes of the warp have reached. False:
// there are too many of those.
static bool drop_steps(const Trace *trace, TraceWarp *t, u32 from)
{
    u32 kept = 0;
    Step barrier[LANES];
    for (u32 n = from; n < t->count; n++)
        if (trace->op[t->step[n].pc].kind == OP_BARRIER && kept++ < LANES)
            barrier[kept - 1] = t->step[n];
    if (kept > LANES || kept > t->count - from) return false;
    t->count = from + kept;
    memcpy(t->step + from, barrier, kept * sizeof *barrier);
    return true;
}

// Has the warp polled this before, with another value? Then the polls between are dropped, this one
// included.
static bool drop_polls(Trace *trace, TraceWarp *t, Access *a)
{
    Poll now = { .insn = a->insn, .mask = a->mask, .first = t->count }, *p = t->poll;
    bool polls = a->insn->strong && !a->store && a->space != SPACE_LOCAL;
    if (!polls) {
        if (p) p->mask = 0;
        return false;
    }
    if (!p && !(p = t->poll = calloc(1, sizeof *p))) return false;
    access_fill(a);
    digest(a, &now);
    bool same = p->mask && p->insn == now.insn && !(now.mask & ~p->mask)
             && (now.mask != p->mask || now.span == p->span);
    if (same && now.value == p->value && now.mask == p->mask) return false;
    u32 count = t->count;
    bool drops = same && drop_steps(trace, t, p->first);
    if (drops && a->warp->block->number % profile.sm_count == 0) trace->steps -= count - t->count;
    now.first = t->count;
    *p = now;
    return drops;
}

// ---- mbarriers ----

static u32 new_phase(Trace *t)
{
    if (!t->phase_count) t->phase_count = 1; // 0 is none
    t->phase = grow(t->phase, t->phase_count, &t->phase_room, sizeof *t->phase);
    t->phase[t->phase_count] = 0;
    return t->phase_count++;
}

static struct TracedMbarrier *mbarrier_at(TracedGrid *g, const Block *b, u64 at)
{
    u32 n = 0;
    while (n < g->mbarrier_count && (g->mbarrier[n].block != b || g->mbarrier[n].at != at)) n++;
    if (n == g->mbarrier_count) {
        g->mbarrier = grow(g->mbarrier, n, &g->mbarrier_room, sizeof *g->mbarrier);
        g->mbarrier[g->mbarrier_count++] =
            (struct TracedMbarrier){ b, at, new_phase(&g->trace), 0 };
    }
    return &g->mbarrier[n];
}

static TraceAccess *access_of(Trace *trace, const TraceWarp *t);

// The warp's latest step concerns that phase.
static void note_phase(Trace *trace, const TraceWarp *t, u32 phase, bool waits)
{
    TraceAccess *a = access_of(trace, t);
    if (a->phase) return;
    a->phase = phase;
    a->waits = waits;
    trace->phase[phase] += !waits;
}

// A copy's arrival happens when a thread waits for it; the step that helps to complete the phase is
// the one that started the copy.
static bool comes_later(const Insn *i) { return i->op == ISA_copy_arrive || i->op == ISA_bulk; }

static void trace_mbarrier_arrived(Access *a, bool completes)
{
    TracedGrid *g = traced_grid(a->warp->block->grid);
    TraceWarp *t = a->warp->trace;
    struct TracedMbarrier *m = mbarrier_at(g, a->owner, a->address[__builtin_ctz(a->mask)]);
    if (t && t->count && !comes_later(a->insn)) note_phase(&g->trace, t, m->now, false);
    if (completes) m->over = m->now, m->now = new_phase(&g->trace);
}

static void trace_mbarrier_waited(Access *a)
{
    TracedGrid *g = traced_grid(a->warp->block->grid);
    TraceWarp *t = a->warp->trace;
    if (!t || !t->count) return;
    u32 over = mbarrier_at(g, a->owner, a->address[__builtin_ctz(a->mask)])->over;
    if (over) note_phase(&g->trace, t, over, true);
}

// The access of the current step, which may consist of several of its instruction.
static TraceAccess *access_of(Trace *trace, const TraceWarp *t)
{
    Step *step = &t->step[t->count - 1];
    if (step->access) return &trace->access[step->access - 1];
    trace->access =
        grow(trace->access, trace->access_count, &trace->access_room, sizeof *trace->access);
    trace->access[trace->access_count] =
        (TraceAccess){ .first = trace->piece_count, .space = SPACE_SHARED };
    step->access = ++trace->access_count;
    return &trace->access[step->access - 1];
}

// Its latest step. A polling loop is one step, its first.
static void trace_waited(Warp *w, u64 clocks)
{
    enum { LONGEST_LOOP = 32 };
    Trace *trace = &traced_grid(w->block->grid)->trace;
    TraceWarp *t = w->trace;
    if (!t || !t->count) return;
    u32 last = t->count - 1, first = t->waits - 1;
    bool again = t->waits && t->waits < t->count && t->step[first].pc == t->step[last].pc
              && last - first <= LONGEST_LOOP;
    for (u32 n = t->waits; again && n <= last; n++) again = !t->step[n].access;
    if (again) {
        if (w->block->number % profile.sm_count == 0) trace->steps -= last - first;
        t->count = t->waits;
        if (t->poll && t->poll->first > t->count) t->poll->first = t->count;
    } else {
        t->waits = t->count;
    }
    access_of(trace, t)->waited += clocks;
}

static bool trace_access(Access *a)
{
    Trace *trace = &traced_grid(a->grid)->trace;
    TraceWarp *t = a->warp->trace;
    if (a->atomic && a->space == SPACE_GLOBAL) count_atomics(a);
    if (!t || !t->count || access_is_in_registers(a) || drop_polls(trace, t, a)) return true;
    if (access_is_constant(a) && trace->op[a->pc].kind == OP_PLAIN) return true;
    TraceAccess *to = access_of(trace, t);
    if (a->mbarrier) {
        if (comes_later(a->insn))
            note_phase(trace, t,
                       mbarrier_at(traced_grid(a->grid), a->owner, a->address[a->first])->now,
                       false);
    } else if (a->bulk && a->space == SPACE_SHARED) {
        return true;
    } else if (access_is_constant(a)) {
        Piece pieces[MOST_PIECES];
        u32 count = access_pieces(a, pieces);
        to->space = SPACE_PARAM;
        for (u32 n = 0; n < count; n++) to->passes += (u32)__builtin_popcount(pieces[n].words);
    } else if (access_is_far(a)) {
        to->far += access_sectors(a);
    } else if (a->space == SPACE_SHARED) {
        u32 conflicts;
        to->passes += access_wavefronts(
            a, trace->op[a->insn - a->warp->block->grid->kernel->code].wide, &conflicts);
    } else {
        Piece pieces[MOST_PIECES];
        u32 count = access_pieces(a, pieces);
        to->space = a->space;
        while (trace->piece_count + count > trace->piece_room)
            trace->piece =
                grow(trace->piece, trace->piece_room, &trace->piece_room, sizeof *trace->piece);
        memcpy(trace->piece + trace->piece_count, pieces, count * sizeof *pieces);
        to->count += count;
        trace->piece_count += count;
    }
    return true;
}

// What a shard has traced of a block.
typedef struct ShardTrace {
    TraceBlock *block;
    TraceAccess *access;
    Piece *piece;
    u32 accesses, pieces;
    u64 steps;
} ShardTrace;

static void append_trace(Grid *g, void *what, bool dropped)
{
    ShardTrace *h = what;
    Trace *t = &traced_grid(g)->trace;
    if (dropped) {
        free_block(h->block);
    } else {
        t->block = grow(t->block, t->block_count, &t->block_room, sizeof *t->block);
        t->block[t->block_count++] = h->block;
        for (u32 w = 0; w < h->block->warp_count; w++)
            for (Step *s = h->block->warp[w].step, *end = s + h->block->warp[w].count; s < end; s++)
                if (s->access) s->access += t->access_count;
        for (u32 n = 0; n < h->accesses; n++) h->access[n].first += t->piece_count;
        t->access =
            grow(t->access, t->access_count + h->accesses, &t->access_room, sizeof *t->access);
        t->piece = grow(t->piece, t->piece_count + h->pieces, &t->piece_room, sizeof *t->piece);
        if (h->accesses)
            memcpy(t->access + t->access_count, h->access, h->accesses * sizeof *h->access);
        if (h->pieces) memcpy(t->piece + t->piece_count, h->piece, h->pieces * sizeof *h->piece);
        t->access_count += h->accesses;
        t->piece_count += h->pieces;
        t->steps += h->steps;
    }
    free(h->access);
    free(h->piece);
}

static void defer_trace(Grid *shard)
{
    TracedGrid *g = traced_grid(shard);
    Trace *t = &g->trace;
    if (!t->block_count) return;
    g->steps += t->steps;
    g->pieces += t->piece_count;
    *(ShardTrace *)grid_defer(shard, append_trace, sizeof(ShardTrace)) =
        (ShardTrace){ t->block[0], t->access, t->piece, t->access_count, t->piece_count, t->steps };
    t->access = NULL, t->piece = NULL;
    t->block_count = t->access_count = t->access_room = t->piece_count = t->piece_room = 0;
    t->steps = 0;
}

static void forget_mbarriers(TracedGrid *g, const Block *b)
{
    u32 kept = 0;
    for (u32 n = 0; n < g->mbarrier_count; n++)
        if (g->mbarrier[n].block != b) g->mbarrier[kept++] = g->mbarrier[n];
    g->mbarrier_count = kept;
}

static void trace_block_end(Block *b)
{
    TracedGrid *g = traced_grid(b->grid);
    forget_mbarriers(g, b);
    for (u32 n = 0; n < b->warp_count; n++) {
        if (b->warps[n].trace) arrange(&g->trace, b->warps[n].trace);
        b->warps[n].trace = NULL;
    }
    if (b->grid->shard) defer_trace(b->grid);
    else g->steps = g->trace.steps, g->pieces = g->trace.piece_count;
}

static void trace_shard_make(Grid *shard)
{
    TracedGrid *t = need(calloc(1, sizeof *t));
    t->trace = (Trace){ .op = now->trace.op, .op_count = now->trace.op_count };
    t->most = now->most;
    shard->kept[GRID_TRACE] = t;
}

static void trace_shard_free(Grid *shard)
{
    Trace *t = &traced_grid(shard)->trace;
    forget_blocks(t);
    free(t->block), free(t->access), free(t->piece), free(traced_grid(shard));
}

static void trace_shard_rollback(Grid *shard)
{
    traced_grid(shard)->steps = traced_grid(shard)->pieces = 0;
}

// Steps beyond the limit are dropped in sequential order only, because the limit depends on the
// order of warps.
static bool trace_shards_may_commit(Grid *g, Grid *const *shards, u32 count)
{
    u64 steps = 0, pieces = 0;
    for (u32 n = 0; n < count; n++) {
        TracedGrid *t = traced_grid(shards[n]);
        steps += t->steps, pieces += t->pieces;
        t->steps = t->pieces = 0;
    }
    if (steps
        && (traced_grid(g)->steps + steps >= MOST_STEPS
            || traced_grid(g)->pieces + pieces > MOST_PIECES_KEPT))
        return false;
    traced_grid(g)->steps += steps;
    traced_grid(g)->pieces += pieces;
    return true;
}

const Observer trace_observer = {
    .grid_start = trace_grid_start,
    .grid_turn = trace_grid_turn,
    .grid_free = trace_grid_free,
    .block_start = trace_block_start,
    .step = trace_step,
    .waited = trace_waited,
    .mbarrier_arrived = trace_mbarrier_arrived,
    .mbarrier_waited = trace_mbarrier_waited,
    .access = trace_access,
    .traced = true,
    .frugal = true,
    .block_end = trace_block_end,
    .shard_make = trace_shard_make,
    .shard_free = trace_shard_free,
    .shards_may_commit = trace_shards_may_commit,
    .shard_rollback = trace_shard_rollback,
};
