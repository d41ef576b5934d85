// Asynchronous copies. A copy's source is checked and read when it starts. Its destination then
// holds neither the old nor the new value: the bytes change when the thread waits for the copy's
// group, and not before. So a program that does not wait reads the old bytes in every run, and
// checks see accesses to them. Copies that arrive at an mbarrier do so when a thread waits there.
#include "copy.h"

#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "isa/tensor.h"
#include "handlers.h"
#include "mbarrier.h"
#include "access_pattern.h"
#include "base/need.h"

static Copies *copies_of(Warp *w)
{
    if (!w->copies) w->copies = need(calloc(1, sizeof *w->copies));
    return w->copies;
}

void copies_forget(Warp *w)
{
    if (!w->copies) return;
    w->copies->count = w->copies->arrival_count = 0;
    memset(w->copies->group, 0, sizeof w->copies->group);
}

void copies_free(Warp *w)
{
    if (w->copies) free(w->copies->copy), free(w->copies->arrival);
    free(w->copies);
}

static size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

static Copy *add_copy(Copies *all)
{
    if (all->count == all->room) {
        all->room = all->room ? 2 * all->room : 16;
        Copy *larger = need(aligned_alloc(64, whole_lines(all->room * sizeof *larger)));
        if (all->count) memcpy(larger, all->copy, all->count * sizeof *larger);
        free(all->copy);
        all->copy = larger;
    }
    return &all->copy[all->count++];
}

static Access access_of(Warp *w, const Insn *i, u32 mask, u32 bytes, bool store)
{
    Access a;
    memset(&a, 0, offsetof(Access, address));
    a.warp = w;
    a.owner = w->block;
    a.insn = i;
    a.mask = mask;
    a.store = store;
    a.bytes = bytes;
    a.space = store ? SPACE_SHARED : SPACE_GLOBAL;
    return a;
}

u64 copy_from(const Warp *w, const Insn *i, u32 lane)
{
    return ((const u64 *)row_of(w, i->b))[lane] + (s32)i->matrix->offset_from;
}

u64 copy_to(const Warp *w, const Insn *i, u32 lane)
{
    const void *to = row_of(w, i->a);
    return i->source_width == 8 ? ((const u64 *)to)[lane] + i->offset - w->block->shared_base
                                : ((const u32 *)to)[lane] + (u32)i->offset - w->block->shared_base;
}

u32 copy_given(const Warp *w, const Insn *i, u32 lane)
{
    if (i->matrix->ignores)
        return (*(const u32 *)row_of(w, i->c) ^ i->flip) >> lane & 1 ? 0 : i->matrix->bytes;
    u32 given = ((const u32 *)row_of(w, i->c))[lane];
    return given < i->matrix->bytes ? given : i->matrix->bytes;
}

// The lanes that read that many bytes, by powers of two.
static bool read_source(Warp *w, const Insn *i, Copy *c, u32 lanes, u32 given)
{
    AccessPattern *patterns = &w->block->grid->patterns[i->pattern];
    for (u32 at = 0, bytes; at < given; at += bytes) {
        bytes = 1u << (31 - __builtin_clz(given - at));
        Access a = access_of(w, i, lanes, bytes, false);
        u16 undefined[LANES] = { 0 };
        a.undefined = undefined;
        for (u32 l = 0; l < LANES; l++) a.address[l] = copy_from(w, i, l) + at;
        if (!access_allow(&a, at ? NULL : patterns)) return false;
        for (u32 rest = lanes; rest; rest &= rest - 1) {
            u32 l = __builtin_ctz(rest);
            memcpy(c->values + VALUE_BYTES * l + at, access_place(&a, l), bytes);
        }
        access_loaded(&a);
        for (u32 l = 0; l < LANES; l++) c->undefined[l] |= undefined[l] << at;
    }
    return true;
}

static bool read_sources(Warp *w, const Insn *i, Copy *c)
{
    u32 left = c->lanes;
    while (left) {
        u32 given = copy_given(w, i, __builtin_ctz(left)), same = 0;
        for (u32 rest = left; rest; rest &= rest - 1)
            if (copy_given(w, i, __builtin_ctz(rest)) == given) same |= rest & -rest;
        if (given && !read_source(w, i, c, same, given)) return false;
        left &= ~same;
    }
    return true;
}

static Access access_to(Warp *w, const Insn *i, Copy *c, u32 lanes)
{
    Access a = access_of(w, i, lanes, c->bytes, true);
    a.values = c->values;
    a.undefined = c->undefined;
    a.sequence = &c->sequence;
    memcpy(a.address, c->to, sizeof a.address);
    return a;
}

void run_copy(Warp *w, const Insn *i, u32 mask)
{
    Copies *all = copies_of(w);
    Copy *c = add_copy(all);
    *c = (Copy){ .pc = (u32)(i - w->block->grid->kernel->code),
                 .lanes = mask,
                 .bytes = i->matrix->bytes,
                 .barrier_count = w->block->barrier_count,
                 .number = all->begun++ };
    memcpy(c->group, all->group, sizeof c->group);
    for (u32 l = 0; l < LANES; l++) c->to[l] = copy_to(w, i, l);
    Access a = access_to(w, i, c, mask);
    if (!read_sources(w, i, c) || !access_allow(&a, &w->block->grid->patterns[i->pattern + 1]))
        all->count--;
}

void run_copy_commit(Warp *w, const Insn *i, u32 mask)
{
    Copies *all = copies_of(w);
    (void)i;
    for (u32 l = 0; l < LANES; l++) all->group[l] += mask >> l & 1;
}

// Writes these lanes' part of a copy to shared memory.
static void finish(Warp *w, Copy *c, u32 lanes)
{
    Access a = access_to(w, &w->block->grid->kernel->code[c->pc], c, lanes);
    access_analyse(&a);
    OBSERVERS(copy_completed, &a);
    for (u32 rest = lanes; rest; rest &= rest - 1) {
        u32 l = __builtin_ctz(rest);
        memcpy(w->block->shared + c->to[l], c->values + VALUE_BYTES * l, c->bytes);
    }
    c->lanes &= ~lanes;
    w->block->grid->progress++;
}

// Removes copies for which no lane has to wait any more.
static void drop_finished(Copies *all)
{
    u32 kept = 0;
    for (u32 n = 0; n < all->count; n++) {
        if (!all->copy[n].lanes) continue;
        if (kept < n) all->copy[kept] = all->copy[n];
        kept++;
    }
    all->count = kept;
}

// wait_group N: completes all groups but the latest N that the lane has committed; wait_all, with a
// number below 0: all copies.
void run_copy_wait(Warp *w, const Insn *i, u32 mask)
{
    Copies *all = copies_of(w);
    for (u32 n = 0; n < all->count; n++) {
        Copy *c = &all->copy[n];
        u32 over = 0;
        for (u32 l = 0; l < LANES; l++)
            over |= (u32)(i->offset < 0 || c->group[l] + i->offset < all->group[l]) << l;
        if (over & mask & c->lanes) finish(w, c, over & mask & c->lanes);
    }
    drop_finished(all);
}

// ---- Arrivals ----

// .noinc: the mbarrier was initialised for these arrivals; otherwise the phase expects additional
// ones.
void run_copy_arrive(Warp *w, const Insn *i, u32 mask)
{
    Copies *all = copies_of(w);
    CopyArrival a = { .pc = (u32)(i - w->block->grid->kernel->code),
                      .lanes = mask,
                      .before = all->begun };
    if (!mbarrier_expect_arrivals(w, i, mask, !i->matrix->noinc, a.at)) return;
    if (all->arrival_count == all->arrival_room) {
        all->arrival_room = all->arrival_room ? 2 * all->arrival_room : 4;
        all->arrival = need(realloc(all->arrival, all->arrival_room * sizeof *all->arrival));
    }
    all->arrival[all->arrival_count++] = a;
}

static void arrive_for_copies(Warp *w, const CopyArrival *a, u32 lanes)
{
    Copies *all = w->copies;
    for (u32 n = 0; n < all->count; n++)
        if (all->copy[n].number < a->before && all->copy[n].lanes & lanes)
            finish(w, &all->copy[n], all->copy[n].lanes & lanes);
    drop_finished(all);
    mbarrier_arrive_expected(w, &w->block->grid->kernel->code[a->pc], lanes, a->at);
}

static bool warp_arrives(Warp *w, u64 at)
{
    Copies *all = w->copies;
    u32 kept = 0, count = all->arrival_count;
    bool any = false;
    for (u32 n = 0; n < count; n++) {
        CopyArrival *a = &all->arrival[n];
        u32 here = 0;
        for (u32 rest = a->lanes; rest; rest &= rest - 1)
            if (a->at[__builtin_ctz(rest)] == at) here |= rest & -rest;
        if (here) arrive_for_copies(w, a, here), any = true;
        a->lanes &= ~here;
        if (a->lanes) all->arrival[kept++] = *a;
    }
    all->arrival_count = kept;
    return any;
}

bool copies_arrive(Block *b, u64 at)
{
    bool any = false;
    for (u32 n = 0; n < b->warp_count; n++)
        if (b->warps[n].copies && b->warps[n].copies->arrival_count)
            any |= warp_arrives(&b->warps[n], at);
    return any;
}
