#include "exchanges.h"
#include <stdlib.h>
#include <string.h>

#include "program/operands.h"
#include "base/need.h"

enum { MOST_EXCHANGES = 64 }; // of a warp that are remembered
typedef struct Exchange {
    u32 sequence, here;
    u8 from[LANES];
    bool all; // each lane has received a value of every other
} Exchange;

struct Exchanges {
    u32 serial, count;
    Exchange exchange[MOST_EXCHANGES]; // the n-th at n % MOST_EXCHANGES
};

void exchanges_note(Exchanges **all, const Warp *w, u32 serial, u32 sequence, u32 here,
                    const u8 *from)
{
    if (!*all) *all = need(calloc(w->block->warp_count, sizeof **all));
    Exchanges *of = &(*all)[w->number];
    if (of->serial != serial) of->serial = serial, of->count = 0;
    Exchange *p = &of->exchange[of->count++ % MOST_EXCHANGES];
    p->sequence = sequence;
    p->here = here;
    p->all = !from;
    if (from) memcpy(p->from, from, sizeof p->from);
}

void exchanges_free(Exchanges *all) { free(all); }

static void follow(const Exchange *p, u32 reaches[LANES])
{
    u32 now[LANES], all = 0;
    memcpy(now, reaches, sizeof now);
    for (u32 rest = p->here; rest; rest &= rest - 1) all |= now[__builtin_ctz(rest)];
    for (u32 rest = p->here; rest; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        reaches[lane] |= p->all ? all : now[p->from[lane]];
    }
}

u32 exchanges_reach(const Exchanges *all, const Warp *w, u32 serial, u32 lane, u32 others,
                    u32 sequence)
{
    const Exchanges *of = all ? &all[w->number] : NULL;
    if (!of || of->serial != serial) return 0;
    u32 reaches[LANES], first = of->count > MOST_EXCHANGES ? of->count - MOST_EXCHANGES : 0;
    if (first && of->exchange[first % MOST_EXCHANGES].sequence > sequence) return others;
    for (u32 l = 0; l < LANES; l++) reaches[l] = 1u << l;
    for (u32 n = first; n < of->count; n++)
        if (of->exchange[n % MOST_EXCHANGES].sequence >= sequence)
            follow(&of->exchange[n % MOST_EXCHANGES], reaches);
    return reaches[lane] & others;
}

// ---- Dependencies ----

// What a register depends on, of all values that it may ever hold.
enum dependence { ON_NOTHING, ON_LOAD, ON_PASSED };

static u8 read_by(const Insn *i, const u8 *rows)
{
    const Operands o = operands_of(i);
    u8 most = ON_NOTHING;
    for (u32 n = 0; n < o.read_count; n++)
        if (rows[o.read[n]] > most) most = rows[o.read[n]];
    return most;
}

static bool spread(const Insn *i, u8 *rows, u8 most)
{
    const Operands o = operands_of(i);
    bool more = false;
    if (most == ON_LOAD && insn_row(i)->shape == EXCHANGE) most = ON_PASSED;
    for (u32 n = 0; n < o.written_count; n++) {
        u8 *row = &rows[o.written[n]];
        more |= *row < most;
        if (*row < most) *row = most;
    }
    return more;
}

static bool may_be_flag(const Insn *i, u32 space)
{
    enum shape shape = insn_row(i)->shape;
    return i->strong && (shape == MEMORY || shape == ATOMIC)
        && (i->space == space || i->space == SPACE_GENERIC);
}

// What each row of registers depends on, where the loads are the one at `load`, or else, if that is
// behind all instructions, those that may be of flags in the space.
static u8 *dependents_of(const Kernel *k, u32 load, u32 space)
{
    u8 *rows = need(calloc(k->register_bytes / REGISTER_ROW + 1, sizeof *rows));
    bool more = true;
    for (u32 pc = 0; pc < k->code_count; pc++)
        if (pc == load || (load >= k->code_count && may_be_flag(&k->code[pc], space)))
            spread(&k->code[pc], rows, ON_LOAD);
    while (more) {
        more = false;
        for (u32 pc = 0; pc < k->code_count; pc++)
            more |= spread(&k->code[pc], rows, read_by(&k->code[pc], rows));
    }
    return rows;
}

static bool compares(const Kernel *k, u32 space)
{
    u8 *rows = dependents_of(k, k->code_count, space);
    bool found = false;
    for (u32 pc = 0; pc < k->code_count && !found; pc++) {
        enum shape shape = insn_row(&k->code[pc])->shape;
        found = (shape == COMPARE || shape == COMPARE_2) && read_by(&k->code[pc], rows);
    }
    free(rows);
    return found;
}

static bool depends(const Kernel *k, u32 load, u32 store)
{
    u8 *rows = dependents_of(k, load, 0);
    bool found = read_by(&k->code[store], rows) == ON_PASSED;
    for (u32 pc = 0; pc < store && !found; pc++) // a branch around the store
        found = k->code[pc].op == ISA_bra && k->code[pc].target > store
             && read_by(&k->code[pc], rows) == ON_PASSED;
    free(rows);
    return found;
}

bool exchanges_decide(const Grid *g, u32 load, u32 store)
{
    enum { KNOWN = 16 };
    static _Thread_local struct {
        u32 grid, load, store;
        bool depends;
    } known[KNOWN];
    u32 n = (load * 31 + store) % KNOWN;
    if (known[n].grid != g->number || known[n].load != load || known[n].store != store) {
        known[n].grid = g->number;
        known[n].load = load;
        known[n].store = store;
        known[n].depends = depends(g->kernel, load, store);
    }
    return known[n].depends;
}

bool exchanges_have_flags(const Grid *g, u32 space)
{
    static _Thread_local struct {
        u32 grid, space;
        bool flags;
    } known;
    if (known.grid != g->number || known.space != space) {
        known.grid = g->number;
        known.space = space;
        known.flags = compares(g->kernel, space);
    }
    return known.flags;
}
