// Instructions by which the lanes of a warp exchange values. They wait until every lane of their
// mask has arrived or ended. The value of a lane that does not participate is undefined.
#include <driver_types.h>

#include "access.h"
#include "report/report.h"
#include "source_fill.h"
#include "handlers.h"
#include "observer.h"

static bool all_named(Warp *w, const Insn *i, u32 mask, const u32 *members)
{
    for (u32 rest = mask; rest; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        if (members[lane] >> lane & 1) continue;
        Report r = { .cause = CAUSE_lane_not_in_mask,
                     .number = { { "lane", lane }, { "mask", members[lane] } } };
        source_fill(&r, w, i, lane);
        report_error(&r);
        grid_fail(w->block->grid, cudaErrorLaunchFailure);
        return false;
    }
    return true;
}

// The participating lanes, once all have arrived. 0: some are missing, and the others wait. Lanes
// with another mask run after these.
static u32 assemble(Warp *w, const Insn *i, u32 mask)
{
    const u32 *members = row_of(w, i->members);
    Grid *g = w->block->grid;
    u32 pc = i - g->kernel->code;
    if (!all_named(w, i, mask, members)) return 0;
    u32 here = warp_complete(w, mask, members);
    if (here) {
        if (mask & ~here) warp_park(w, pc, mask & ~here);
        w->active &= here | ~mask;
        return here;
    }
    tally_take_back(g->tally, pc, w->active); // it runs when the others have arrived
    w->active &= ~mask;
    warp_hold(w, pc, mask);
    return 0;
}

u32 exchange_live(Warp *w, const Insn *i, u32 mask) { return assemble(w, i, mask); }

u32 exchange_all(Warp *w, const Insn *i, u32 mask)
{
    u32 here = assemble(w, i, mask);
    if (!here || here == ~0u) return here;
    char opcode[64];
    isa_spell(&isa_rows[i->row], opcode, sizeof opcode);
    Report r = { .cause = CAUSE_warp_not_whole,
                 .detail = opcode,
                 .threads = __builtin_popcount(here) };
    source_fill(&r, w, i, __builtin_ctz(here));
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorLaunchFailure);
    return 0;
}

static void set(Warp *w, const Insn *i, u32 mask, const u32 *values)
{
    u32 *d = row_of(w, i->d);
    for (u32 l = 0; l < LANES; l++)
        if (mask >> l & 1) d[l] = values[l];
}

static void set_predicate(Warp *w, u32 row, u32 mask, u32 lanes)
{
    u32 *p = row_of(w, row);
    *p = (*p & ~mask) | (lanes & mask);
}

// ---- The lane that each reads, and whether it lies in its segment (PTX ISA, "shfl.sync") ----

typedef struct Pick {
    s32 lane;
    bool inside;
} Pick;

static Pick pick_up(u32 lane, u32 b, s32 low, s32 end)
{
    (void)low;
    s32 from = (s32)lane - (s32)b;
    return (Pick){ from, from >= end };
}

static Pick pick_down(u32 lane, u32 b, s32 low, s32 end)
{
    (void)low;
    s32 from = lane + b;
    return (Pick){ from, from <= end };
}

static Pick pick_bfly(u32 lane, u32 b, s32 low, s32 end)
{
    (void)low;
    s32 from = lane ^ b;
    return (Pick){ from, from <= end };
}

static Pick pick_idx(u32 lane, u32 b, s32 low, s32 end)
{
    (void)lane;
    s32 from = low | b;
    return (Pick){ from, from <= end };
}

static void shuffle(Warp *w, const Insn *i, u32 mask, Pick (*pick)(u32, u32, s32, s32), bool index)
{
    u32 here = assemble(w, i, mask);
    if (!here) return;
    const u32 *a = row_of(w, i->a), *b = row_of(w, i->b), *c = row_of(w, i->c);
    u32 values[LANES], inside = 0;
    u8 from[LANES];
    for (u32 l = 0; l < LANES; l++) {
        if (!(here >> l & 1)) continue;
        u32 segment = c[l] >> 8 & 31, low = l & segment;
        u32 operand = index ? b[l] & 31 & ~segment : b[l] & 31;
        Pick p = pick(l, operand, low, low | (c[l] & 31 & ~segment));
        if (!p.inside) p.lane = l;
        inside |= (u32)p.inside << l;
        from[l] = p.lane;
        values[l] = here >> p.lane & 1
                      ? a[p.lane]
                      : 0; // 0 from a lane that does not participate, as on an H200
    }
    OBSERVERS(shuffled, w, i, here, from);
    set(w, i, here, values);
    if (i->predicate) set_predicate(w, i->predicate, here, inside);
}

void run_shfl_sync_up_b32(Warp *w, const Insn *i, u32 mask) { shuffle(w, i, mask, pick_up, false); }
void run_shfl_sync_down_b32(Warp *w, const Insn *i, u32 mask)
{
    shuffle(w, i, mask, pick_down, false);
}
void run_shfl_sync_bfly_b32(Warp *w, const Insn *i, u32 mask)
{
    shuffle(w, i, mask, pick_bfly, false);
}
void run_shfl_sync_idx_b32(Warp *w, const Insn *i, u32 mask)
{
    shuffle(w, i, mask, pick_idx, true);
}

// The participating lanes, which all learn something of one another.
static u32 gather(Warp *w, const Insn *i, u32 mask)
{
    u32 here = assemble(w, i, mask);
    if (here) OBSERVERS(shuffled, w, i, here, NULL);
    return here;
}

// ---- votes ----

static u32 votes(const Warp *w, const Insn *i, u32 here)
{
    return (*(u32 *)row_of(w, i->a) ^ i->flip) & here;
}

void run_vote_sync_any_pred(Warp *w, const Insn *i, u32 mask)
{
    u32 here = gather(w, i, mask);
    if (here) set_predicate(w, i->d, here, votes(w, i, here) ? ~0u : 0);
}

void run_vote_sync_all_pred(Warp *w, const Insn *i, u32 mask)
{
    u32 here = gather(w, i, mask);
    if (here) set_predicate(w, i->d, here, votes(w, i, here) == here ? ~0u : 0);
}

void run_vote_sync_uni_pred(Warp *w, const Insn *i, u32 mask)
{
    u32 here = gather(w, i, mask), yes = votes(w, i, here);
    if (here) set_predicate(w, i->d, here, yes == here || !yes ? ~0u : 0);
}

static void set_all(Warp *w, const Insn *i, u32 here, u32 value)
{
    u32 values[LANES];
    for (u32 l = 0; l < LANES; l++) values[l] = value;
    set(w, i, here, values);
}

void run_vote_sync_ballot_b32(Warp *w, const Insn *i, u32 mask)
{
    u32 here = gather(w, i, mask);
    if (here) set_all(w, i, here, votes(w, i, here));
}

void run_activemask_b32(Warp *w, const Insn *i, u32 mask) { set_all(w, i, mask, mask); }

// ---- match ----

static u64 value_of(const Warp *w, const Insn *i, u32 lane)
{
    bool wide = isa_rows[i->row].type[1] == TYPE_u64;
    return wide ? ((u64 *)row_of(w, i->a))[lane] : ((u32 *)row_of(w, i->a))[lane];
}

static u32 equal_lanes(const Warp *w, const Insn *i, u32 here, u32 lane)
{
    u32 lanes = 0;
    for (u32 l = 0; l < LANES; l++)
        if (here >> l & 1 && value_of(w, i, l) == value_of(w, i, lane)) lanes |= 1u << l;
    return lanes;
}

static void match_any(Warp *w, const Insn *i, u32 mask)
{
    u32 here = gather(w, i, mask), values[LANES];
    for (u32 l = 0; l < LANES; l++)
        if (here >> l & 1) values[l] = equal_lanes(w, i, here, l);
    if (here) set(w, i, here, values);
}

static void match_all(Warp *w, const Insn *i, u32 mask)
{
    u32 here = gather(w, i, mask);
    if (!here) return;
    bool all = equal_lanes(w, i, here, __builtin_ctz(here)) == here;
    set_all(w, i, here, all ? here : 0);
    if (i->predicate) set_predicate(w, i->predicate, here, all ? ~0u : 0);
}

void run_match_any_sync_b32(Warp *w, const Insn *i, u32 mask) { match_any(w, i, mask); }
void run_match_any_sync_b64(Warp *w, const Insn *i, u32 mask) { match_any(w, i, mask); }
void run_match_all_sync_b32(Warp *w, const Insn *i, u32 mask) { match_all(w, i, mask); }
void run_match_all_sync_b64(Warp *w, const Insn *i, u32 mask) { match_all(w, i, mask); }

// ---- redux: x is the result so far, y the next lane's value ----

#define REDUX(op, T, together)                                                                     \
    void run_redux_sync_##op(Warp *w, const Insn *i, u32 mask)                                     \
    {                                                                                              \
        u32 here = gather(w, i, mask);                                                             \
        if (!here) return;                                                                         \
        const T *a = row_of(w, i->a);                                                              \
        T x = a[__builtin_ctz(here)];                                                              \
        for (u32 left = here & (here - 1); left; left &= left - 1) {                               \
            const T y = a[__builtin_ctz(left)];                                                    \
            x = (T)(together);                                                                     \
        }                                                                                          \
        set_all(w, i, here, (u32)x);                                                               \
    }
REDUX(add_s32, s32, (u32)x + (u32)y)
REDUX(add_u32, u32, x + y)
REDUX(min_s32, s32, x < y ? x : y)
REDUX(min_u32, u32, x < y ? x : y)
REDUX(max_s32, s32, x > y ? x : y)
REDUX(max_u32, u32, x > y ? x : y)
REDUX(and_b32, u32, x &y)
REDUX(or_b32, u32, x | y)
REDUX(xor_b32, u32, x ^ y)
#undef REDUX

void run_elect_sync(Warp *w, const Insn *i, u32 mask)
{
    u32 here = assemble(w, i, mask);
    if (!here) return;
    u32 lane = __builtin_ctz(here);
    set_all(w, i, here, lane);
    if (i->predicate) set_predicate(w, i->predicate, here, 1u << lane);
}

// __syncwarp(): what its lanes did before comes before what they do after it.
void run_bar_warp_sync(Warp *w, const Insn *i, u32 mask)
{
    u32 here = assemble(w, i, mask);
    if (here) OBSERVERS(warp_barrier, w, here);
}
