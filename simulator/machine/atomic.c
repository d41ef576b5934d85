// Atomics: what they leave in memory, lane by lane, and which comes first.
#include "atomic.h"

#include <string.h>

#include "access.h"
#include "lsu.h"

static inline bool is_nan_f64(u64 bits) { return bits << 1 > 0x7ffull << 53; }
static inline u64 without_denormal(u64 f32_bits)
{
    return f32_bits & 0x7f800000 ? f32_bits : f32_bits & 0x80000000;
}

// exch and cas of 16 bytes.
static void atomic_wide(const Access *a)
{
    bool changed = false;
    const Insn *i = a->insn;
    const Bytes at = bytes_of(a);
    bool compare = i->op == ISA_atom_cas;
    const u128 *b = row_of(a->warp, i->vector[0]), *c = row_of(a->warp, i->c);
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        u128 *to = (u128 *)place(at, l), old = *to, first = b[l], second = c[l];
        *to = !compare ? first : old == first ? second : old;
        changed |= *to != old;
        if (!i->reduces) ((u128 *)row_of(a->warp, i->d))[l] = old;
    }
    if (changed) changed_something(a->warp);
}

// f32 additions in global memory flush denormals to zero (PTX ISA, "atom").
u64 atomic_result(const IsaRow *row, bool global, u64 old, u64 second, u64 third)
{
    bool flush = row->type[0] == TYPE_f32 && global;
    bool passes_nan = row->type[0] == TYPE_f64 && global; // L2's adder passes a NaN unchanged
    if (passes_nan && (is_nan_f64(second) || is_nan_f64(old)))
        return is_nan_f64(second) ? second : old;
    u64 result = row->atomic(flush ? without_denormal(old) : old,
                             flush ? without_denormal(second) : second, third);
    return flush ? without_denormal(result) : result;
}

// An element's operands, in all lanes.
typedef struct Operands {
    const IsaRow *row;
    bool global;
    u32 width; // bytes
    const u8 *second, *third;
} Operands;

static inline Operands operands_of(const Access *a, u32 element)
{
    const Insn *i = a->insn;
    return (Operands){ &isa_rows[i->row], a->space == SPACE_GLOBAL, i->width,
                       row_of(a->warp, i->list ? i->list[i->elements + element] : i->vector[0]),
                       row_of(a->warp, i->c) };
}

// What the lane makes of the old value.
static inline u64 lane_result(const Operands *o, u32 l, u64 old)
{
    u64 second = 0, third = 0;
    memcpy(&second, o->second + l * o->width, o->width);
    memcpy(&third, o->third + l * o->width, o->width);
    return atomic_result(o->row, o->global, old, second, third);
}

// Lane by lane, the lowest first. Each element of a vector is a step of its own.
static void atomic_element(const Access *a, u32 element)
{
    bool changed = false;
    const Insn *i = a->insn;
    Bytes at = bytes_of(a);
    at.base += element * i->width;
    const Operands operands = operands_of(a, element);
    u8 *d = i->reduces ? NULL : row_of(a->warp, i->list ? i->list[element] : i->d);
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        u64 old = 0;
        memcpy(&old, place(at, l), i->width);
        u64 result = lane_result(&operands, l, old);
        changed |= memcmp(&result, &old, i->width) != 0;
        memcpy(place(at, l), &result, i->width);
        if (d) memcpy(d + l * i->width, &old, i->width);
    }
    if (changed) changed_something(a->warp);
}

static void atomic_lanes(const Access *a)
{
    if (a->insn->width == 16) atomic_wide(a);
    else
        for (u32 e = 0; e < a->insn->elements; e++) atomic_element(a, e);
}

// Is the lane's element left as it is, and would any other value be?
static bool lane_asks(const Access *a, u32 element, u32 l)
{
    const Operands operands = operands_of(a, element);
    u64 old[] = { 0, ~0ull, 0 };
    memcpy(&old[2], place(bytes_of(a), l) + element * operands.width, operands.width);
    for (u32 n = 0; n < sizeof old / sizeof *old; n++) {
        u64 result = lane_result(&operands, l, old[n]);
        if (memcmp(&result, &old[n], operands.width)) return false;
    }
    return true;
}

bool atomic_asks(const Access *a)
{
    bool asks = !a->insn->reduces && a->insn->width <= sizeof(u64);
    for (u32 rest = a->mask; rest && asks; rest &= rest - 1)
        for (u32 e = 0; e < a->insn->elements && asks; e++)
            asks = lane_asks(a, e, (u32)__builtin_ctz(rest));
    return asks;
}

// The lowest lane of each word that some of them address.
static u32 one_for_each(const u64 *address, u32 lanes)
{
    u32 chosen = 0;
    for (; lanes; lanes &= lanes - 1) {
        u32 lane = __builtin_ctz(lanes), rest = chosen;
        while (rest && address[__builtin_ctz(rest)] != address[lane]) rest &= rest - 1;
        if (!rest) chosen |= 1u << lane;
    }
    return chosen;
}

bool atomic_is_aggregated(const Access *a)
{
    return (a->insn->aggregation == AGGREGATE_ALWAYS
            || (a->insn->aggregation == AGGREGATE_FULL_WARP && a->mask == ~0u))
        && one_for_each(a->address, a->mask) == (a->mask & -a->mask);
}

// ---- Whose atomic comes first ----
//
//
// On an H200 multiprocessors take turns at a word, one lane each. Where each of them has a warp
// there, neighbouring lanes draw places 132 apart, in the order of the lanes. With 8
// multiprocessors 11 of 16 lanes draw places in sectors of their own; the lanes of a single one
// mostly draw adjacent places. Here the warps of a block stand for those of many blocks: each has
// one lane served in turn. In a kernel with fences the released clocks depend on that order, and
// observers see an instruction once, so there the lanes are served together.

// Do the lanes draw places, between which other warps' lanes draw theirs?
static bool takes_turns(const Access *a)
{
    enum { MANY_BLOCKS = 8 };
    const Insn *i = a->insn;
    const Grid *g = a->grid;
    return a->space == SPACE_GLOBAL && !i->reduces && g->blocks >= MANY_BLOCKS
        && !g->kernel->sets_order
        && (i->op == ISA_atom_add || i->op == ISA_atom_inc || i->op == ISA_atom_dec)
        && !atomic_is_aggregated(a);
}

void atomic_begin(Access *a)
{
    Warp *w = a->warp;
    if (takes_turns(a)) w->unserved = a->mask & ~one_for_each(a->address, a->mask);
    a->mask &= ~w->unserved;
    atomic_lanes(a);
    if (!w->unserved) return;
    w->atomic = a->insn;
    w->stop = 0;
}

void atomic_go_on(Warp *w)
{
    Access a = { .warp = w, .insn = w->atomic, .space = SPACE_GLOBAL };
    const u64 *base = row_of(w, w->atomic->a);
    for (u32 l = 0; l < LANES; l++) a.address[l] = base[l] + w->atomic->offset;
    a.mask = one_for_each(a.address, w->unserved);
    w->unserved &= ~a.mask;
    atomic_lanes(&a);
}
