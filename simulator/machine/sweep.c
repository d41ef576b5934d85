// In most kernels most accesses repeat the previous warp's, at the following lines. Observers need
// only the first warp's access and the number of warps that followed, so they are notified once for
// a whole block.
#include "sweep.h"
#include <string.h>

#include "memory/memory.h"
#include "access_pattern.h"
#include "shard.h"

enum { ROW_BYTES = 128 }; // the alignment of a sweep: the cache line, and the line of the checks

static u32 sweep_observers, tracers; // observers, a bit for each: those with `swept`, and those
                                     // that see only warps with a `trace`

void sweep_start(void)
{
    sweep_observers = tracers = 0;
    for (u32 o = 0; o < observer_count; o++) {
        sweep_observers |= (u32)(observers[o]->swept != NULL) << o;
        tracers |= (u32)observers[o]->traced << o;
    }
}

static bool is_alone(const Warp *w) { return w->trace || w->watch || w->arrived; }

// The observers that must see an access of this pattern.
static inline u32 rest_of(const AccessPattern *s) { return s->common_access.rest & ~tracers; }

static inline bool lies_in_common_pass(const AccessPattern *s, u64 address, bool store)
{
    return lies_in(address, &s->common_access.pass)
        && (store || (lies_in(address, &s->common_loaded.pass) && !s->common_loaded.rest));
}

bool sweep_may_begin(const Access *a)
{
    const AccessPattern *s = a->pattern;
    return s && s->move_count == 1 && s->move[0].how <= COPY_ANY && a->mask == ~0u
        && a->space == SPACE_GLOBAL && !a->insn->strong && a->insn->source_width == 8
        && !(a->base % ROW_BYTES) && a->base < MEMORY_SHARED;
}

static bool leads(const Access *a)
{
    return sweep_may_begin(a) && !is_alone(a->warp)
        && lies_in_common_pass(a->pattern, a->base, a->store)
        && !(rest_of(a->pattern) & ~sweep_observers);
}

void sweep_lead(const Access *a)
{
    AccessSweep *f = &a->warp->block->sweep;
    const u32 warp = a->warp->number;
    bool fits = leads(a);
    if (!fits || f->first != warp || f->step_count == MOST_SWEEP_STEPS) f->step_count = 0;
    if (!fits) return;
    if (!f->step_count) f->first = warp, f->warp = warp + 1, f->at = 0;
    const u32 bytes = a->pattern->move[0].bytes;
    f->access[f->step_count++] = (SweepStep){ .insn = a->insn,
                                              .pattern = a->pattern,
                                              .base = a->base,
                                              .next = a->base + bytes,
                                              .pc = a->pc,
                                              .bytes = bytes,
                                              .rest = rest_of(a->pattern),
                                              .store = a->store };
}

static u32 lanes_unchanged(const void *row, const void *memory, u32 width)
{
    u32 unchanged = 0;
    if (width == 4)
        for (u32 l = 0; l < LANES; l++)
            unchanged |= (u32)(((const u32 *)row)[l] == ((const u32 *)memory)[l]) << l;
    else
        for (u32 l = 0; l < LANES; l++)
            unchanged |=
                (u32)!memcmp((const u8 *)row + l * width, (const u8 *)memory + l * width, width)
                << l;
    return unchanged;
}

bool sweep_follow(Warp *w, const Insn *i, u32 mask, bool store, u64 *address)
{
    Block *b = w->block;
    AccessSweep *f = &b->sweep;
    SweepStep *l = &f->access[f->at];
    const AccessPattern *s = l->pattern;
    const u64 *base = row_of(w, i->a), here = base[0] + i->offset;
    if (i != l->insn || w->number != f->warp || here != l->next || is_alone(w)) return false;
    if (!lies_in_common_pass(s, here, store) || rest_of(s) != l->rest
        || !access_pattern_matches(s, mask, base))
        return false;
    if (b->grid->shard) {
        if (store) shard_note_store(b->grid, here, l->bytes);
        else if (!lies_in(here, &s->noted)) return false;
    }
    f->unchanged[f->count++] =
        store && l->rest ? lanes_unchanged(row_of(w, i->vector[0]), (const void *)here, i->width)
                         : 0;
    l->next += l->bytes;
    if (++f->at == f->step_count) f->at = 0, f->warp++;
    b->grid->progress += store;
    *address = here;
    return true;
}

void sweep_flush(Block *b)
{
    AccessSweep *f = &b->sweep;
    u32 rest = 0;
    for (u32 n = 0; n < f->step_count; n++) rest |= f->access[n].rest;
    for (; rest && f->count; rest &= rest - 1)
        observers[__builtin_ctz(rest)]->swept(b, rest & -rest);
    f->step_count = f->count = 0;
}
