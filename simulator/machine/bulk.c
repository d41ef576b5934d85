// Copies in bulk. Both places are checked when a copy starts. A copy to shared memory reads its
// source then, and writes when a thread waits at its mbarrier. A copy from shared memory reads its
// source as late as possible, when its thread waits for that (wait_group.read), and writes global
// memory when its thread waits for that, or the block ends. So a program that does not wait gets
// the wrong bytes in every run.
#include "bulk.h"

#include <driver_types.h>
#include <stdlib.h>
#include <string.h>

#include "access.h"
#include "atomic.h"
#include "cluster.h"
#include "isa/tensor.h"
#include "handlers.h"
#include "mbarrier.h"
#include "report/report.h"
#include "source_fill.h"
#include "base/need.h"

enum { UNIT = 16 }; // sizes and addresses are multiples of this

static struct Bulks *bulks_of(Block *b)
{
    if (!b->bulks) {
        b->bulks = need(calloc(1, sizeof *b->bulks));
        b->bulks->group = need(calloc(b->warp_count, sizeof *b->bulks->group));
    }
    return b->bulks;
}

static void free_bulk(Bulk *c)
{
    free(c->data);
    free(c->undefined);
}

void bulks_free(Block *b)
{
    if (!b->bulks) return;
    for (u32 n = 0; n < b->bulks->count; n++) free_bulk(&b->bulks->bulk[n]);
    free(b->bulks->bulk);
    free(b->bulks->group);
    free(b->bulks);
}

// ---- What observers see ----
// Observers see a copy in chunks, each within one page of global memory.

enum { CHUNK = 4096 };

static u32 chunk_at(const Bulk *c, u32 at)
{
    u64 global = c->stores ? c->to : c->from;
    u32 room = CHUNK - (global + at) % CHUNK;
    return room < c->bytes - at ? room : c->bytes - at;
}

static const Insn *insn_of(const Block *b, const Bulk *c) { return &b->grid->kernel->code[c->pc]; }

static Access access_of(Block *b, const Bulk *c, u32 at, u32 bytes, bool store)
{
    Access a;
    memset(&a, 0, offsetof(Access, address));
    a.warp = &b->warps[c->warp];
    a.owner = b;
    a.insn = insn_of(b, c);
    a.mask = 1u << c->lane;
    a.store = store;
    a.atomic = store && c->stores && a.insn->matrix->reduces;
    a.bytes = bytes;
    a.space = store == c->stores && !a.insn->matrix->within ? SPACE_GLOBAL : SPACE_SHARED;
    a.bulk = true;
    a.undefined = c->undefined + at / UNIT - c->lane;
    for (u32 l = 0; l < LANES; l++) a.address[l] = (store ? c->to : c->from) + at;
    return a;
}

static const u8 *place(const Block *b, const Access *a)
{
    return a->space == SPACE_SHARED ? b->shared + a->address[0] : (const u8 *)a->address[0];
}

static bool look_at_source(Block *b, Bulk *c)
{
    for (u32 at = 0, bytes; at < c->bytes; at += bytes) {
        bytes = chunk_at(c, at);
        Access a = access_of(b, c, at, bytes, false);
        if (!access_allow(&a, NULL)) return false;
        access_loaded(&a);
        if (!c->stores) memcpy(c->data + at, place(b, &a), bytes);
    }
    c->has_read = !c->stores;
    return true;
}

// The lane, if it stores what is there already.
static u32 equal(const Block *b, const Bulk *c, const Access *a, u32 at)
{
    return c->has_read && !a->atomic && !memcmp(c->data + at, place(b, a), a->bytes) ? a->mask : 0;
}

static bool look_at_target(Block *b, Bulk *c)
{
    for (u32 at = 0, bytes; at < c->bytes; at += bytes) {
        bytes = chunk_at(c, at);
        Access a = access_of(b, c, at, bytes, true);
        u32 same = 0; // memory is not compared, as it may be out of bounds
        a.unchanged = &same;
        if (!access_allow(&a, NULL)) return false;
    }
    return true;
}

static void look_again(Block *b, Bulk *c)
{
    for (u32 at = 0, bytes; at < c->bytes; at += bytes) {
        bytes = chunk_at(c, at);
        Access a = access_of(b, c, at, bytes, true);
        u32 same = equal(b, c, &a, at);
        a.unchanged = &same;
        access_analyse(&a);
        a.grid = b->grid;
        OBSERVERS(copy_completed, &a);
    }
}

// ---- To begin ----

// A value of a lane's address operand.
static u64 address(const Warp *w, u32 row, bool wide, s64 offset, u32 lane)
{
    return wide ? ((const u64 *)row_of(w, row))[lane] + (u64)offset
                : ((const u32 *)row_of(w, row))[lane] + (u32)offset;
}

static u64 in_shared(const Block *b, u64 address)
{
    return (address - SHARED_WINDOW < WINDOW_SPAN ? address - SHARED_WINDOW : address)
         - b->shared_base;
}

// In a cluster: is the address in another block's shared memory?
static bool is_of_another(const Block *b, u64 address)
{
    u32 rank = cluster_rank(in_shared(b, address) + b->shared_base);
    return b->cluster && rank < b->cluster->size && rank != b->rank;
}

static void refuse_far(Warp *w, const Insn *i, u32 lane)
{
    Report r = { .cause = CAUSE_bulk_copy_abroad };
    source_fill(&r, w, i, lane);
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorNotSupported);
}

static bool is_aligned(Warp *w, const Insn *i, const Bulk *c)
{
    const u64 to = c->to, from = c->from;
    if (!((to | from | c->bytes) % UNIT)) return true;
    u64 to_past = to % UNIT, past = to_past ? to_past : from % UNIT;
    Report r = { .cause = to_past ? CAUSE_bulk_copy_to_misaligned
                        : past    ? CAUSE_bulk_copy_from_misaligned
                                  : CAUSE_bulk_copy_of_odd_size,
                 .access = ACCESS_COPY,
                 .bytes = c->bytes,
                 .address = to_past ? to : from,
                 .space = c->stores == (to_past != 0) ? IN_GLOBAL : IN_SHARED,
                 .number = { { "past", (s64)past } } };
    source_fill(&r, w, i, c->lane);
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorMisalignedAddress);
    return false;
}

// On an H200 a copy within shared memory is an illegal instruction without clusters.
static bool has_cluster(Warp *w, const Insn *i, u32 lane)
{
    if (w->block->grid->launch->cluster[0]) return true;
    Report r = { .cause = CAUSE_bulk_copy_without_cluster };
    source_fill(&r, w, i, lane);
    report_error(&r);
    grid_fail(w->block->grid, cudaErrorIllegalInstruction);
    return false;
}

static void begin(Warp *w, const Insn *i, u32 lane)
{
    Block *b = w->block;
    struct Bulks *all = bulks_of(b);
    const Matrix *x = i->matrix;
    Bulk c = { .pc = (u32)(i - b->grid->kernel->code),
               .warp = w->number,
               .lane = lane,
               .stores = x->stores,
               .bytes = ((const u32 *)row_of(w, i->c))[lane],
               .group = all->group[w->number][lane],
               .to = address(w, i->a, i->source_width == 8, i->offset, lane),
               .from = address(w, i->b, x->wide_from, (s32)x->offset_from, lane) };
    if (!x->stores && is_of_another(b, c.to)) {
        refuse_far(w, i, lane);
        return;
    }
    if (x->stores || x->within) c.from = in_shared(b, c.from);
    if (!x->stores) c.to = in_shared(b, c.to);
    if (!c.bytes) return; // an H200 then checks no address
    if (!is_aligned(w, i, &c) || (x->within && !has_cluster(w, i, lane))) return;
    if (!x->stores) {
        c.mbarrier =
            in_shared(b, address(w, x->mbarrier, x->wide_mbarrier, (s32)x->offset_to, lane));
        if (!mbarrier_is_initialised(w, i, lane, c.mbarrier)) return;
    }
    if (c.bytes > b->shared_span) { // the access below reports this
        Access a = access_of(b, &c, 0, c.bytes, !c.stores);
        access_allow(&a, NULL);
        return;
    }
    c.data = need(malloc(c.bytes + 1));
    c.undefined = need(calloc(c.bytes / UNIT + 1, sizeof *c.undefined));
    if (!look_at_source(b, &c) || !look_at_target(b, &c)) {
        free_bulk(&c);
        return;
    }
    if (all->count == all->room) {
        all->room = all->room ? 2 * all->room : 8;
        all->bulk = need(realloc(all->bulk, all->room * sizeof *all->bulk));
    }
    all->bulk[all->count++] = c;
}

void run_bulk(Warp *w, const Insn *i, u32 mask)
{
    for (u32 rest = mask; rest && !w->block->grid->status; rest &= rest - 1)
        begin(w, i, (u32)__builtin_ctz(rest));
}

// ---- To end ----

// A copy writes its bytes, or (cp.reduce) combines each element with what is there.
static void put(Block *b, Bulk *c)
{
    const Insn *i = insn_of(b, c);
    u8 *to = c->stores ? (u8 *)c->to : b->shared + c->to;
    look_again(b, c);
    b->grid->progress++;
    if (!i->matrix->reduces) {
        memcpy(to, c->data, c->bytes);
        return;
    }
    const IsaRow *row = i->matrix->reduces;
    for (u32 at = 0, width = isa_type_width(row->type[0]); at < c->bytes; at += width) {
        u64 old = 0, second = 0;
        memcpy(&old, to + at, width);
        memcpy(&second, c->data + at, width);
        u64 result = atomic_result(row, c->stores, old, second, 0);
        memcpy(to + at, &result, width);
    }
}

static void read_source(Block *b, Bulk *c)
{
    if (!c->has_read) memcpy(c->data, b->shared + c->from, c->bytes);
    c->has_read = true;
}

// Removes a copy from the list before it completes, so that what follows does not find it.
static Bulk take(struct Bulks *all, u32 n)
{
    Bulk c = all->bulk[n];
    memmove(&all->bulk[n], &all->bulk[n + 1], (--all->count - n) * sizeof c);
    return c;
}

bool bulks_arrive(Block *b, u64 at)
{
    struct Bulks *all = b->bulks;
    bool any = false;
    for (u32 n = 0; all && n < all->count;) {
        if (all->bulk[n].stores || all->bulk[n].mbarrier != at) {
            n++;
            continue;
        }
        Bulk c = take(all, n);
        put(b, &c);
        mbarrier_complete_bytes(&b->warps[c.warp], insn_of(b, &c), c.lane, c.mbarrier, c.bytes);
        free_bulk(&c);
        any = true;
    }
    return any;
}

static void end_store(Block *b, u32 n)
{
    Bulk c = take(b->bulks, n);
    read_source(b, &c);
    put(b, &c);
    free_bulk(&c);
}

void run_bulk_commit(Warp *w, const Insn *i, u32 mask)
{
    struct Bulks *all = bulks_of(w->block);
    (void)i;
    for (u32 l = 0; l < LANES; l++) all->group[w->number][l] += mask >> l & 1;
}

// Completes all but the latest groups that the lane has committed: their sources have been read,
// and, unless for .read only, they have been written.
void run_bulk_wait(Warp *w, const Insn *i, u32 mask)
{
    Block *b = w->block;
    struct Bulks *all = bulks_of(b);
    for (u32 n = 0; n < all->count;) {
        Bulk *c = &all->bulk[n];
        bool mine = c->stores && c->warp == w->number && mask >> c->lane & 1
                 && c->group + i->offset < all->group[c->warp][c->lane];
        if (mine && !i->matrix->reads) {
            end_store(b, n);
            continue;
        }
        if (mine) read_source(b, c);
        n++;
    }
}

void bulks_end(Block *b)
{
    struct Bulks *all = b->bulks;
    if (!all) return;
    while (all->count && all->bulk[0].stores) end_store(b, 0);
    for (u32 n = 0; n < all->count; n++) free_bulk(&all->bulk[n]);
    all->count = 0;
    memset(all->group, 0, b->warp_count * sizeof *all->group);
}

// Lanes whose generic accesses the asynchronous proxy's later ones may conflict with.
void run_fence_proxy(Warp *w, const Insn *i, u32 mask)
{
    (void)mask;
    if (!insn_row(i)->global) OBSERVERS(proxy_fence, w);
}
