// The load/store unit: works out the 32 addresses of a memory instruction, finds their shape once, lets the
// observers look, and moves the values.
#include <string.h>

#include "observer.h"

static void find_shape(Access *a)
{
    a->first = __builtin_ctz(a->mask);
    u32 rest = a->mask & (a->mask - 1);
    u64 base = a->address[a->first];
    a->stride = 0;
    if (rest) {
        u32 second = __builtin_ctz(rest);
        a->stride = a->address[second] - base;
        if (second - a->first > 1) a->stride /= (s64)(second - a->first);
    }
    u64 origin = base - a->first * a->stride, differs = 0;
    for (u32 l = 0; l < LANES; l++)
        differs |= (a->address[l] ^ (origin + l * a->stride)) & -(u64)(a->mask >> l & 1);
    a->regular = !differs;
}

static u32 lanes_in_window(const Access *a, u64 window)
{
    u32 lanes = 0;
    for (u32 l = 0; l < LANES; l++) lanes |= (u32)(a->address[l] - window < WINDOW_SPAN) << l;
    return lanes & a->mask;
}

// Where the bytes of a lane are.
static inline u8 *place(const Access *a, u32 lane)
{
    const Warp *w = a->warp;
    switch (a->space) {
    case SPACE_SHARED: return w->block->shared + a->address[lane];
    case SPACE_LOCAL: return w->local + lane * w->block->grid->kernel->local_bytes + a->address[lane];
    default: return (u8 *)a->address[lane];
    }
}

static inline u64 extend(u64 value, u32 width, bool is_signed)
{
    u32 unused = 64 - 8 * width;
    return is_signed ? (u64)((s64)(value << unused) >> unused) : value;
}

static inline u64 without_denormal(u64 f32_bits) { return f32_bits & 0x7f800000 ? f32_bits : f32_bits & 0x80000000; }

static void load_lanes(const Access *a)
{
    const Insn *i = a->insn;
    for (u32 e = 0; e < i->elements; e++) {
        u8 *row = row_of(a->warp, i->vector[e]);
        for (u32 l = 0; l < LANES; l++) {
            if (!(a->mask >> l & 1)) continue;
            u64 value = 0;
            memcpy(&value, place(a, l) + e * i->width, i->width);
            value = extend(value, i->width, i->is_signed);
            memcpy(row + l * i->register_width, &value, i->register_width);
        }
    }
}

static void store_lanes(const Access *a)
{
    const Insn *i = a->insn;
    for (u32 e = 0; e < i->elements; e++) {
        const u8 *row = row_of(a->warp, i->vector[e]);
        for (u32 l = 0; l < LANES; l++)
            if (a->mask >> l & 1) memcpy(place(a, l) + e * i->width, row + l * i->register_width, i->width);
    }
}

// Lane after lane, lowest first. What an f32 sum in global memory adds or makes of denormals is zeros (PTX ISA, "atom").
static void atomic_lanes(const Access *a)
{
    const Insn *i = a->insn;
    const IsaRow *row = &isa_rows[i->row];
    bool flush = row->type[0] == TYPE_f32 && a->space == SPACE_GLOBAL;
    u8 *d = i->reduces ? NULL : row_of(a->warp, i->d);
    const u8 *b = row_of(a->warp, i->vector[0]), *c = row_of(a->warp, i->c);
    for (u32 l = 0; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        u64 old = 0, second = 0, third = 0;
        memcpy(&old, place(a, l), i->width);
        memcpy(&second, b + l * i->width, i->width);
        memcpy(&third, c + l * i->width, i->width);
        u64 result = row->atomic(flush ? without_denormal(old) : old, flush ? without_denormal(second) : second, third);
        if (flush) result = without_denormal(result);
        memcpy(place(a, l), &result, i->width);
        if (d) memcpy(d + l * i->width, &old, i->width);
    }
}

// A whole warp, one register each, side by side in memory.
static bool is_row(const Access *a)
{
    const Insn *i = a->insn;
    return a->regular && a->mask == ~0u && i->elements == 1 && a->stride == i->width
        && i->width == i->register_width && a->space != SPACE_LOCAL;
}

// All lanes of the warp load one value.
static bool broadcast(const Access *a)
{
    const Insn *i = a->insn;
    if (a->store || !a->regular || a->stride || a->mask != ~0u || i->elements != 1 || i->width != 4
        || i->register_width != 4 || a->space == SPACE_LOCAL) return false;
    u32 *row = row_of(a->warp, i->vector[0]), value = *(const u32 *)place(a, 0);
    for (u32 l = 0; l < LANES; l++) row[l] = value;
    return true;
}

#define MOVE_WIDTH(T, to, from) \
    case sizeof(T): for (u32 l = 0; l < LANES; l++) if (a->mask >> l & 1) { to = from; } break

// The common case, one register of the memory's own width, without the general loop's byte moves.
static bool move_plain(const Access *a)
{
    const Insn *i = a->insn;
    if (i->elements != 1 || i->width != i->register_width || i->width < 4) return false;
    u8 *row = row_of(a->warp, i->vector[0]);
    if (a->store) switch (i->width) {
        MOVE_WIDTH(u32, *(u32 *)place(a, l), ((u32 *)row)[l]);
        MOVE_WIDTH(u64, *(u64 *)place(a, l), ((u64 *)row)[l]);
    } else switch (i->width) {
        MOVE_WIDTH(u32, ((u32 *)row)[l], *(u32 *)place(a, l));
        MOVE_WIDTH(u64, ((u64 *)row)[l], *(u64 *)place(a, l));
    }
    return true;
}

static void perform(Access *a)
{
    find_shape(a);
    for (u32 o = 0; o < observer_count; o++)
        if (observers[o]->access && !observers[o]->access(a)) return;
    u8 *row = row_of(a->warp, a->insn->vector[0]);
    if (a->atomic) {
        atomic_lanes(a);
    } else if (is_row(a)) {
        if (a->store) memcpy(place(a, 0), row, LANES * a->insn->width);
        else memcpy(row, place(a, 0), LANES * a->insn->width);
    } else if (!broadcast(a) && !move_plain(a)) {
        if (a->store) store_lanes(a);
        else load_lanes(a);
    }
    if (!a->store) OBSERVERS(loaded, a);
}

// A generic instruction is one access for each space that its lanes point into.
static void perform_generic(Access *a)
{
    static const struct { enum space space; u64 window; } windows[] = {
        { SPACE_SHARED, SHARED_WINDOW }, { SPACE_LOCAL, LOCAL_WINDOW },
    };
    u32 left = a->mask;
    for (u32 n = 0; n < 2 && left; n++) {
        u32 inside = lanes_in_window(a, windows[n].window);
        if (!inside) continue;
        Access part = *a;
        part.space = windows[n].space;
        part.mask = inside;
        for (u32 l = 0; l < LANES; l++) part.address[l] -= windows[n].window;
        perform(&part);
        left &= ~inside;
    }
    if (!left || a->warp->block->grid->status) return;
    a->space = SPACE_GLOBAL;
    a->mask = left;
    perform(a);
}

static void access_memory(Warp *w, const Insn *i, u32 mask, bool store, bool atomic)
{
    Access a = { .warp = w, .insn = i, .mask = mask, .space = i->space, .store = store, .atomic = atomic,
                 .bytes = i->elements * i->width };
    if (i->source_width == 8) {
        const u64 *base = row_of(w, i->a);
        for (u32 l = 0; l < LANES; l++) a.address[l] = base[l] + i->offset;
    } else {
        const u32 *base = row_of(w, i->a);
        for (u32 l = 0; l < LANES; l++) a.address[l] = base[l] + (u32)i->offset;
    }
    if (i->space == SPACE_GENERIC) perform_generic(&a);
    else perform(&a);
}

void run_load(Warp *w, const Insn *i, u32 mask) { access_memory(w, i, mask, false, false); }
void run_store(Warp *w, const Insn *i, u32 mask) { access_memory(w, i, mask, true, false); }
void run_atomic(Warp *w, const Insn *i, u32 mask) { access_memory(w, i, mask, true, true); }

// A kernel's parameters are the same for all threads; those of a call lie lane after lane.
void run_load_param(Warp *w, const Insn *i, u32 mask)
{
    const Grid *grid = w->block->grid;
    for (u32 e = 0; e < i->elements; e++) {
        u8 *row = row_of(w, i->vector[e]);
        for (u32 l = 0; l < LANES; l++) {
            if (!(mask >> l & 1)) continue;
            u64 value = 0, at = i->offset + e * i->width;
            if (i->space == SPACE_CALL) {
                memcpy(&value, (u8 *)row_of(w, i->a) + l * i->target + at, i->width);
            } else {
                if (i->a) at += ((const u64 *)row_of(w, i->a))[l];
                if (at + i->width > grid->kernel->param_bytes) continue;
                memcpy(&value, (const u8 *)grid->launch->params + at, i->width);
            }
            value = extend(value, i->width, i->is_signed);
            memcpy(row + l * i->register_width, &value, i->register_width);
        }
    }
}

void run_store_param(Warp *w, const Insn *i, u32 mask)
{
    for (u32 e = 0; e < i->elements; e++) {
        const u8 *row = row_of(w, i->vector[e]);
        u8 *to = (u8 *)row_of(w, i->a) + i->offset + e * i->width;
        for (u32 l = 0; l < LANES; l++)
            if (mask >> l & 1) memcpy(to + l * i->target, row + l * i->register_width, i->width);
    }
}
