// The load/store unit: computes the 32 addresses of a memory instruction, recognises their pattern,
// shows the access to the observers, and moves the values.
#include <string.h>

#include "access.h"
#include "atomic.h"
#include "cluster.h"
#include "sweep.h"
#include "handlers.h"
#include "lsu.h"
#include "memory/memory.h"
#include "access_pattern.h"
#include "shard.h"

static u32 lanes_in_window(const Access *a, u64 window)
{
    u64 lanes = 0;
    for (u32 l = 0; l < LANES; l++) lanes |= a->address[l] - window < WINDOW_SPAN ? 1ull << l : 0;
    return (u32)lanes & a->mask;
}

enum { MOST_STORED = 4 * VALUE_BYTES }; // bytes that a lane of one instruction stores at most

static inline u64 extend(u64 value, u32 width, bool is_signed)
{
    u32 unused = 64 - 8 * width;
    return is_signed ? (u64)((s64)(value << unused) >> unused) : value;
}

// ---- moving values: for each width in memory and of the register, a loop of its own ----

// clang-format off
#define EACH(statement)                                                                 \
    if (mask == ~0u) for (u32 l = 0; l < LANES; l++) { statement; }                     \
    else for (u32 rest = mask; rest; rest &= rest - 1) { u32 l = __builtin_ctz(rest); statement; }

#define LOAD(register_bits, bits)                                                       \
    case register_bits << 8 | bits:                                                     \
        if (i->is_signed) EACH(((s##register_bits *)row)[l] = *(s##bits *)(place(from, l) + at)) \
        else EACH(((u##register_bits *)row)[l] = *(u##bits *)(place(from, l) + at))     \
        break;
#define STORE(register_bits, bits)                                                      \
    case register_bits << 8 | bits:                                                     \
        EACH(*(u##bits *)(place(to, l) + at) = (u##bits)((const u##register_bits *)row)[l]) \
        break;
#define WIDTHS(MOVE)                                                                    \
    MOVE(8, 8) MOVE(16, 8) MOVE(32, 8) MOVE(64, 8)                                      \
    MOVE(16, 16) MOVE(32, 16) MOVE(64, 16) MOVE(32, 32) MOVE(64, 32) MOVE(64, 64) MOVE(128, 128)
// clang-format on

static void load_lanes(const Access *a)
{
    const Insn *i = a->insn;
    const Bytes from = bytes_of(a);
    const u32 mask = a->mask;
    for (u32 e = 0, at = 0; e < i->elements; e++, at += i->width) {
        u8 *row = row_of(a->warp, i->vector[e]);
        switch (i->register_width << 11 | i->width << 3) {
            WIDTHS(LOAD)
        }
    }
}

static void store_lanes(const Access *a)
{
    const Insn *i = a->insn;
    const Bytes to = bytes_of(a);
    const u32 mask = a->mask;
    for (u32 e = 0, at = 0; e < i->elements; e++, at += i->width) {
        const u8 *row = row_of(a->warp, i->vector[e]);
        switch (i->register_width << 11 | i->width << 3) {
            WIDTHS(STORE)
        }
    }
}

#define FILL(T, count)                                                                             \
    do {                                                                                           \
        const T value = *(const T *)memory;                                                        \
        for (u32 n = 0; n < (count); n++) ((T *)row)[n] = value;                                   \
    } while (0)

// The following warps mostly continue this one's accesses.
enum { AHEAD = 4 };
static inline void expect(const u8 *memory, bool store)
{
    store ? __builtin_prefetch(memory, 1) : __builtin_prefetch(memory, 0);
}

static inline void move(const Move *m, u8 *row, u8 *memory, u32 width, bool store, bool ahead)
{
    row += m->to;
    memory += m->from;
    if (ahead && m->how <= COPY_256)
        expect(memory + AHEAD * m->bytes, store),
            expect(memory + (AHEAD + 1) * m->bytes - 64, store);
    void *to = store ? memory : row, *from = store ? row : memory;
    switch ((enum move)m->how) {
    case COPY_64: memcpy(to, from, 64); break;
    case COPY_128: memcpy(to, from, 128); break;
    case COPY_256: memcpy(to, from, 256); break;
    case COPY_ANY: memcpy(to, from, m->bytes); break;
    case FILL_4_16: FILL(u32, LANES / 2); break;
    case FILL_4_32: FILL(u32, LANES); break;
    case FILL_8_16: FILL(u64, LANES / 2); break;
    case FILL_8_32: FILL(u64, LANES); break;
    case FILL_ANY:
        for (u32 n = 0; n < m->lanes; n++) memcpy(row + n * width, memory, width);
    }
}

// Copies the access by its moves. False: it has none.
static bool make_moves(const Access *a)
{
    Move made[FEW_MOVES];
    const Move *m = a->pattern ? a->pattern->move : made;
    u32 count = a->pattern ? a->pattern->move_count : access_moves(a, made);
    u8 *row = row_of(a->warp, a->insn->vector[0]), *memory = bytes_of(a).base + a->base;
    for (u32 n = 0; n < count; n++)
        move(&m[n], row, memory, a->insn->width, a->store, a->space == SPACE_GLOBAL);
    return count > 0;
}

// Stores, and counts a change only if memory changes. For warps that may be polling
// (Warp.check_stores); a store of any other warp counts as a change at once.
static __attribute__((noinline, cold)) void store_checked(Access *a)
{
    u8 before[LANES][MOST_STORED];
    bool changed = false;
    access_fill(a);
    const Bytes to = bytes_of(a);
    for (u32 l = 0; l < LANES; l++)
        if (a->mask >> l & 1) memcpy(before[l], place(to, l), a->bytes);
    store_lanes(a);
    for (u32 l = 0; l < LANES; l++)
        if (a->mask >> l & 1) changed |= memcmp(before[l], place(to, l), a->bytes) != 0;
    if (changed && a->space != SPACE_LOCAL) changed_something(a->warp);
}

// Records what tells polling from progress: reads of what others may change, and changes of what
// others may read.
static void note_progress(const Access *a, bool in_doubt)
{
    Warp *w = a->warp;
    if (a->space == SPACE_LOCAL) return;
    if (a->store && !a->atomic && !in_doubt) a->grid->progress++;
    u64 address = a->base;
    if (a->space == SPACE_GLOBAL && address >= MEMORY_SHARED) w->reads_host_memory = true;
    if (!a->insn->strong || (a->store && !a->atomic)) return;
    w->polled = a->insn;
    if (address < w->polled_low) w->polled_low = address;
    if (address > w->polled_high) w->polled_high = address;
}

static void record_pass(const Access *a, Pass *pass)
{
    *pass = (Pass){ a->pass_from, a->pass_to - a->pass_from };
}

// Combines the passes that hold at this address.
static void combine_passes(CommonPass *common, const Pass *passes, u32 all, u64 address)
{
    u64 from = 0, to = ~0ull;
    common->rest = 0;
    for (u32 rest = all; rest; rest &= rest - 1) {
        u32 o = __builtin_ctz(rest);
        const Pass *pass = &passes[o];
        if (lies_in(address, pass)) {
            if (pass->from > from) from = pass->from;
            if (pass->from + pass->span < to) to = pass->from + pass->span;
        } else {
            common->rest |= 1u << o;
        }
    }
    common->pass = (Pass){ from, to - from };
}

// Observers, a bit for each: those with `access`, with `loaded`, those that see only `traced`
// warps, and those with `known_lines`.
static u32 accesses, loads, tracers, line_notified;

void access_start(void)
{
    accesses = loads = tracers = line_notified = 0;
    for (u32 o = 0; o < observer_count; o++) {
        accesses |= (u32)(observers[o]->access != NULL) << o;
        loads |= (u32)(observers[o]->loaded != NULL) << o;
        tracers |= (u32)observers[o]->traced << o;
        line_notified |= (u32)(observers[o]->known_lines != NULL) << o;
    }
    sweep_start();
}

static inline u32 notified(bool loaded) { return loaded ? loads : accesses; }

// Shows the access to every observer that has not given a pass for it. False: it must not happen.
static inline bool observe(Access *a, bool loaded)
{
    AccessPattern *s = a->pattern;
    CommonPass *common = s ? loaded ? &s->common_loaded : &s->common_access : NULL;
    Pass *passes = s ? loaded ? s->loaded : s->access : NULL;
    const u64 address = a->base;
    bool known = s && lies_in(address, &common->pass), new_pass = false;
    if (a->warp->block->sweep.count) sweep_flush(a->warp->block);
    u32 rest = known ? common->rest : notified(loaded);
    if (!a->warp->trace && !a->atomic) rest &= ~tracers;
    for (; rest; rest &= rest - 1) {
        u32 o = __builtin_ctz(rest);
        if (!known && s && lies_in(address, &passes[o])) continue;
        a->pass_from = a->pass_to = 0;
        if (loaded || !observers[o]->frugal) access_fill(a);
        if (loaded) observers[o]->loaded(a);
        else if (!observers[o]->access(a)) return false;
        if (s && a->pass_to) record_pass(a, &passes[o]), new_pass = true;
    }
    if (!known && s) combine_passes(common, passes, notified(loaded), address);
    else if (new_pass) common->pass.span = 0;
    return true;
}

// In a shard: notes the access unless a pass makes that unnecessary. True: it was noted.
static inline bool note(const Access *a)
{
    if (!a->grid->shard || a->space != SPACE_GLOBAL || a->noted) return false;
    if (!a->store && a->pattern && lies_in(a->base, &a->pattern->noted)) return false;
    shard_note(a);
    return true;
}

// A sweep ends before its pattern changes.
static void learn(Access *a, AccessPattern *pattern)
{
    if (a->warp->block->sweep.count) sweep_flush(a->warp->block);
    access_pattern_learn(a, pattern);
}

bool access_allow(Access *a, AccessPattern *pattern)
{
    a->grid = a->warp->block->grid;
    if (!a->owner) a->owner = a->warp->block;
    a->pc = a->insn - a->grid->kernel->code;
    a->pattern = NULL;
    if (!pattern) access_analyse(a);
    else if (access_pattern_matches(pattern, a->mask, a->address))
        access_pattern_recall(a, pattern, a->address[pattern->first]);
    else learn(a, pattern);
    if (a->pattern && a->base & (a->bytes - 1)) access_fill(a), a->pattern = NULL;
    note_progress(a, false);
    if (!observe(a, false)) return false;
    note(a);
    return true;
}

void access_loaded(Access *a) { observe(a, true); }
u8 *access_place(const Access *a, u32 lane) { return place(bytes_of(a), lane); }

enum space access_generic(const Warp *w, u64 address[LANES], u32 mask)
{
    u64 first = address[__builtin_ctz(mask)], window = 0;
    enum space space = SPACE_GLOBAL;
    if (first - SHARED_WINDOW < WINDOW_SPAN)
        space = SPACE_SHARED, window = SHARED_WINDOW + w->block->shared_base;
    if (first - LOCAL_WINDOW < WINDOW_SPAN) space = SPACE_LOCAL, window = LOCAL_WINDOW;
    for (u32 l = 0; l < LANES; l++) address[l] -= window;
    return space;
}

// Settles the pattern where an access consists of its moves only, and observers need at most its
// known lines.
static __attribute__((noinline)) void settle(const Access *a)
{
    AccessPattern *s = a->pattern;
    const bool global = a->space == SPACE_GLOBAL, noted = global && a->grid->shard;
    const u32 rest = s ? s->common_access.rest & ~tracers : 0;
    if (!s || !s->move_count || a->insn->strong || rest & ~line_notified
        || (!a->store && s->common_loaded.rest))
        return;
    if (rest && (!global || sweep_may_begin(a))) return;
    if (global && a->base >= MEMORY_SHARED)
        return; // observers see every access to the host's memory
    if (noted && a->store && (rest || s->move_count > 1))
        return; // and, in a shard, stores that must be noted or consist of several moves
    Pass all = s->common_access.pass;
    if (!a->store) all = pass_both(all, s->common_loaded.pass);
    if (noted && !a->store) all = pass_both(all, s->noted);
    if (lies_in(a->base, &all)) s->settled = all, s->line_observers = rest;
}

// The access has a pattern.
static inline __attribute__((always_inline)) void perform(Access *a)
{
    bool fresh = a->pattern && !lies_in(a->base, &a->pattern->common_access.pass);
    note_progress(a, a->warp->check_stores);
    if (!observe(a, false)) return;
    fresh |= note(a);
    if (a->atomic) access_fill(a), atomic_begin(a);
    else if (a->store && a->warp->check_stores) store_checked(a);
    else if (make_moves(a)) {
    } else if (access_fill(a), a->store) store_lanes(a);
    else load_lanes(a);
    if (!a->store) {
        fresh |= a->pattern && !lies_in(a->base, &a->pattern->common_loaded.pass);
        observe(a, true);
    }
    if (fresh) settle(a);
}

static __attribute__((noinline, cold)) void perform_part(Access *a) { perform(a); }

// In a cluster: splits an access into one for each block whose shared memory its lanes address. Not
// inlined, so that gcc keeps perform() in one piece for the others, whose speed suffered by an
// eighth (matmul_naive, --bare).
static __attribute__((noinline, cold)) void perform_shared(Access *a)
{
    const Cluster *c = a->warp->block->cluster;
    bool again = false;
    access_fill(a);
    for (u32 left = a->mask; left && !a->grid->status;) {
        u32 rank = cluster_rank(a->address[__builtin_ctz(left)]);
        Access part = *a;
        part.mask = cluster_lanes(a->address, 0, left);
        left &= ~part.mask;
        part.pattern = NULL;
        part.owner = rank < c->size ? c->blocks[rank] : NULL;
        for (u32 l = 0; part.owner && l < LANES; l++) part.address[l] -= rank * CLUSTER_WINDOW;
        part.again = again;
        again = true;
        access_analyse(&part);
        perform_part(&part);
    }
}

// Kernel parameters that the address of a __grid_constant__ refers to: read only, and unknown to
// the observers.
static u32 load_from_params(const Access *a)
{
    const Grid *g = a->warp->block->grid;
    u32 mask = 0;
    for (u32 rest = lanes_in_window(a, PARAM_WINDOW); rest; rest &= rest - 1) {
        u32 lane = __builtin_ctz(rest);
        u64 at = a->address[lane] - PARAM_WINDOW;
        if (!a->store && at + a->bytes <= g->kernel->param_bytes) mask |= 1u << lane;
    }
    if (!mask) return 0;
    Access part = *a;
    part.mask = mask;
    part.space = SPACE_GLOBAL; // of the device process
    for (u32 l = 0; l < LANES; l++) part.address[l] += (u64)g->launch->params - PARAM_WINDOW;
    load_lanes(&part);
    return mask;
}

// Splits a generic access into one for each space that its lanes address.
static void perform_generic(Access *a)
{
    static const struct {
        enum space space;
        u64 window;
    } windows[] = {
        { SPACE_SHARED, SHARED_WINDOW },
        { SPACE_LOCAL, LOCAL_WINDOW },
    };
    u32 left = a->mask;
    for (u32 n = 0; n < 2 && left; n++) {
        u32 inside = lanes_in_window(a, windows[n].window);
        if (!inside) continue;
        Access part = *a;
        part.space = windows[n].space;
        part.mask = inside;
        part.pattern = NULL;
        for (u32 l = 0; l < LANES; l++) part.address[l] -= windows[n].window;
        access_analyse(&part);
        if (part.space == SPACE_SHARED && a->grid->cluster_blocks > 1) perform_shared(&part);
        else perform_part(&part);
        left &= ~inside;
    }
    if (!left || a->warp->block->grid->status) return;
    a->mask = left;
    a->mask &= ~load_from_params(a);
    if (!a->mask) return;
    a->space = SPACE_GLOBAL;
    a->pattern = NULL;
    access_analyse(a);
    perform_part(a);
}

// All windows lie below device memory.
static bool in_global_memory(const Access *a)
{
    u64 from;
    const Span *spans = access_spans(a, &from);
    for (const Span *s = spans; s < spans + a->span_count; s++)
        if (from + s->address < MEMORY_BASE) return false;
    return true;
}

// Notifies the observers of the pattern's known lines. False: they must see the whole access.
static inline bool notify_known_lines(Warp *w, const Insn *i, const AccessPattern *s, u64 address)
{
    const struct PatternLines *lines = access_pattern_lines(s, address);
    if (!lines || w->trace || w->block->sweep.step_count) return false;
    for (u32 rest = s->line_observers; rest; rest &= rest - 1)
        observers[__builtin_ctz(rest)]->known_lines(w, i, w->pc - 1, address, lines);
    return true;
}

// Makes the moves of a settled access. False: it is not settled.
static __attribute__((noinline)) bool make_settled_moves(Warp *w, const Insn *i, u32 mask,
                                                         bool store)
{
    const Block *b = w->block;
    const AccessPattern *s = &b->grid->patterns[i->pattern];
    const void *base = row_of(w, i->a);
    u64 address = i->source_width == 8 ? ((const u64 *)base)[s->first] + i->offset
                                       : ((const u32 *)base)[s->first] + (u32)i->offset;
    if (!lies_in(address, &s->settled) || address & (i->width - 1)) return false;
    if (!(i->source_width == 8 ? access_pattern_matches(s, mask, base)
                               : access_pattern_matches_narrow(s, mask, base)))
        return false;
    if (s->line_observers && !notify_known_lines(w, i, s, address)) return false;
    b->grid->progress += store;
    u8 *row = row_of(w, i->vector[0]),
       *memory = (i->space == SPACE_SHARED ? b->shared : NULL) + address;
    if (store && b->grid->shard && i->space != SPACE_SHARED)
        shard_note_store(b->grid, address + s->move->from, s->move->bytes);
    for (const Move *m = s->move, *end = m + s->move_count; m < end; m++)
        move(m, row, memory, i->width, store, i->space != SPACE_SHARED);
    return true;
}

static __attribute__((noinline)) void access_memory(Warp *w, const Insn *i, u32 mask, bool store,
                                                    bool atomic)
{
    Access a; // its large arrays are filled in only as far as they are used
    Grid *grid = w->block->grid;
    a.warp = w;
    a.grid = grid;
    a.owner = w->block;
    a.insn = i;
    a.pc = w->pc - 1;
    a.mask = mask;
    a.space = i->space;
    a.store = store;
    a.atomic = atomic;
    a.bytes = i->elements * i->width;
    a.elements = i->elements;
    a.width = i->width;
    a.register_width = i->register_width;
    a.vector = i->vector;
    a.element_bytes = 0;
    a.trans = a.again = a.adds = a.told = a.mbarrier = a.bulk = a.noted = false;
    a.values = NULL;
    a.unchanged = NULL;
    a.undefined = NULL;
    a.sequence = NULL;
    AccessPattern *pattern = &grid->patterns[i->pattern];
    const u64 *base = row_of(w, i->a);
    u64 offset = i->offset, wide[LANES] __attribute__((aligned(64)));
    if (i->source_width != 8) {
        const u32 *narrow = row_of(w, i->a);
        for (u32 l = 0; l < LANES; l++) wide[l] = narrow[l] + (u32)i->offset;
        base = wide;
        offset = 0;
    }
    if (access_pattern_matches(pattern, mask, base)) {
        access_pattern_recall(&a, pattern, base[pattern->first] + offset);
    } else {
        for (u32 l = 0; l < LANES; l++) a.address[l] = base[l] + offset;
        learn(&a, pattern);
    }
    if (a.base & (a.bytes - 1)) access_fill(&a), a.pattern = NULL;
    if (i->space == SPACE_SHARED && grid->cluster_blocks > 1) {
        perform_shared(&a);
        return;
    }
    if (i->space == SPACE_GENERIC) {
        if (!in_global_memory(&a)) {
            access_fill(&a), perform_generic(&a);
            return;
        }
        a.space = SPACE_GLOBAL;
    }
    perform(&a);
    if (a.space == SPACE_GLOBAL && pattern->move_count == 1) sweep_lead(&a);
    else w->block->sweep.step_count = 0;
}

static __attribute__((noinline)) void sweep_or_access(Warp *w, const Insn *i, u32 mask, bool store)
{
    u64 address;
    if (!sweep_follow(w, i, mask, store, &address)) access_memory(w, i, mask, store, false);
    else
        move(w->block->grid->patterns[i->pattern].move, row_of(w, i->vector[0]), (u8 *)address,
             i->width, store, true);
}

static inline void access_or_move(Warp *w, const Insn *i, u32 mask, bool store)
{
    if (w->block->grid->patterns[i->pattern].settled.span && make_settled_moves(w, i, mask, store))
        return;
    if (w->block->sweep.step_count) sweep_or_access(w, i, mask, store);
    else access_memory(w, i, mask, store, false);
}

void run_load(Warp *w, const Insn *i, u32 mask) { access_or_move(w, i, mask, false); }
void run_store(Warp *w, const Insn *i, u32 mask)
{
    w->check_stores ? access_memory(w, i, mask, true, false) : access_or_move(w, i, mask, true);
}
void run_atomic(Warp *w, const Insn *i, u32 mask) { access_memory(w, i, mask, true, true); }

// Loads one value for all lanes.
static void spread(u8 *row, u64 value, u32 width, u32 mask)
{
    switch (width) {
    case 4: EACH(((u32 *)row)[l] = (u32)value) break;
    case 8: EACH(((u64 *)row)[l] = value) break;
    default: EACH(memcpy(row + l * width, &value, width))
    }
}

static void load_kernel_param(Warp *w, const Insn *i, u32 mask)
{
    const Grid *grid = w->block->grid;
    const bool pointer = i->width == 8 && i->register_width == 8,
               word = i->width == 4 && i->register_width == 4;
    if ((pointer || word) && i->elements == 1 && i->offset + i->width <= grid->kernel->param_bytes
        && mask == ~0u) {
        const void *from = (const u8 *)grid->launch->params + i->offset;
        spread(row_of(w, i->vector[0]), pointer ? *(const u64 *)from : *(const u32 *)from, i->width,
               mask);
        return;
    }
    for (u32 e = 0; e < i->elements; e++) {
        u64 value = 0, at = i->offset + e * i->width;
        const u8 *from = (const u8 *)grid->launch->params + at;
        if (at + i->width > grid->kernel->param_bytes) return;
        if (i->width == 16) {
            EACH(memcpy((u8 *)row_of(w, i->vector[e]) + 16 * l, from, 16))
            continue;
        }
        memcpy(&value, from, i->width);
        spread(row_of(w, i->vector[e]), extend(value, i->width, i->is_signed), i->register_width,
               mask);
    }
}

// Loads from an address in a register, which may differ from lane to lane.
static void load_indexed_param(Warp *w, const Insn *i, u32 mask)
{
    const Grid *grid = w->block->grid;
    for (u32 e = 0; e < i->elements; e++) {
        for (u32 rest = mask; rest; rest &= rest - 1) {
            u32 l = __builtin_ctz(rest);
            u128 value = 0;
            u64 at = ((const u64 *)row_of(w, i->a))[l] + i->offset + e * i->width;
            if (at + i->width > grid->kernel->param_bytes) continue;
            memcpy(&value, (const u8 *)grid->launch->params + at, i->width);
            if (i->width < 8) value = extend((u64)value, i->width, i->is_signed);
            memcpy((u8 *)row_of(w, i->vector[e]) + l * i->register_width, &value,
                   i->register_width);
        }
    }
}

static void load_call_param(Warp *w, const Insn *i, u32 mask)
{
    for (u32 e = 0; e < i->elements; e++) {
        u8 *row = row_of(w, i->vector[e]);
        const u8 *from = (const u8 *)row_of(w, i->a) + i->offset + e * i->width;
        if (i->width == i->register_width) {
            lanes_copy(row, i->width, from, i->target, i->width, mask);
            continue;
        }
        for (u32 rest = mask; rest; rest &= rest - 1) {
            u32 l = __builtin_ctz(rest);
            u64 value = 0;
            memcpy(&value, from + l * i->target, i->width);
            value = extend(value, i->width, i->is_signed);
            memcpy(row + l * i->register_width, &value, i->register_width);
        }
    }
}

// Kernel parameters are the same for all threads; those of a call are stored for each lane in turn.
void run_load_param(Warp *w, const Insn *i, u32 mask)
{
    if (i->space == SPACE_CALL) load_call_param(w, i, mask);
    else if (i->a) load_indexed_param(w, i, mask);
    else load_kernel_param(w, i, mask);
}

void run_store_param(Warp *w, const Insn *i, u32 mask)
{
    for (u32 e = 0; e < i->elements; e++)
        lanes_copy((u8 *)row_of(w, i->a) + i->offset + e * i->width, i->target,
                   row_of(w, i->vector[e]), i->register_width, i->width, mask);
}
