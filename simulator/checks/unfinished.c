// Asynchronous copies that have not been waited for. Until the thread that began a copy waits for
// it, its destination in shared memory holds neither the old nor the new bytes; an access to it is
// reported with the copy's line and its own. Accesses of other warps that no barrier orders after
// the copy's beginning are races, which race.c reports, unless an mbarrier orders them. Copies in
// bulk are checked alike; a store to the source of one that has not been read yet is reported too,
// as is a block that ends before its copies have completed.
#include <stdlib.h>
#include <string.h>

#include "isa/tensor.h"
#include "machine/bulk.h"
#include "machine/copy.h"
#include "machine/source_fill.h"
#include "base/need.h"
#include "slots.h"

enum { UNIT = 4 }; // bytes of the smallest copy, and of a bit

struct UnfinishedBlock {
    u64 *bits; // of its shared memory: a copy in flight writes there; NULL: the kernel makes no
               // copies
    u64 words;
    u32 count;       // lanes' parts of copies in flight
    bool has_stores; // the kernel copies in bulk to global memory
};

static struct UnfinishedBlock *unfinished_block(const Block *b)
{
    return b->kept[BLOCK_UNFINISHED];
}

static bool copies(const Kernel *k)
{
    for (u32 pc = 0; pc < k->code_count; pc++)
        if (k->code[pc].op == ISA_copy || k->code[pc].op == ISA_bulk) return true;
    return false;
}

static bool stores_in_bulk(const Kernel *k)
{
    for (u32 pc = 0; pc < k->code_count; pc++)
        if (k->code[pc].op == ISA_bulk && k->code[pc].matrix->stores) return true;
    return false;
}

static void unfinished_block_make(Block *b)
{
    struct UnfinishedBlock *u = b->kept[BLOCK_UNFINISHED] = need(calloc(1, sizeof *u));
    if (!copies(b->grid->kernel)) return;
    u->has_stores = stores_in_bulk(b->grid->kernel);
    u->words = b->shared_span / UNIT / 64 + 2;
    u->bits = need(malloc(u->words * sizeof *u->bits));
}

static void unfinished_block_free(Block *b)
{
    free(unfinished_block(b)->bits);
    free(unfinished_block(b));
}

static void unfinished_block_start(Block *b)
{
    unfinished_block(b)->count = 0;
    if (unfinished_block(b)->bits)
        memset(unfinished_block(b)->bits, 0,
               unfinished_block(b)->words * sizeof *unfinished_block(b)->bits);
}

static bool is_set(const struct UnfinishedBlock *u, u64 address, u64 bytes)
{
    for (u64 n = address / UNIT; n <= (address + bytes - 1) / UNIT; n++)
        if (u->bits[n / 64] >> n % 64 & 1) return true;
    return false;
}

static void change(struct UnfinishedBlock *u, const Access *a, bool set)
{
    for (u32 rest = a->mask; rest; rest &= rest - 1) {
        u64 n = a->address[__builtin_ctz(rest)] / UNIT, bits = ((1ull << a->bytes / UNIT) - 1)
                                                            << n % 64;
        if (set) u->bits[n / 64] |= bits;
        else u->bits[n / 64] &= ~bits;
    }
    u->count += set ? __builtin_popcount(a->mask) : -__builtin_popcount(a->mask);
}

// The copy in flight to those bytes, and its thread.
static const Copy *find_copy(const Block *b, u64 address, u32 bytes, const Warp **warp, u32 *lane)
{
    for (u32 v = 0; v < b->warp_count; v++) {
        const Copies *all = b->warps[v].copies;
        for (u32 n = 0; all && n < all->count; n++)
            for (u32 rest = all->copy[n].lanes; rest; rest &= rest - 1) {
                const Copy *c = &all->copy[n];
                *lane = __builtin_ctz(rest);
                *warp = &b->warps[v];
                if (c->to[*lane] < address + bytes && address < c->to[*lane] + c->bytes) return c;
            }
    }
    return NULL;
}

// False: there is nothing to report.
static bool tell(const Access *a, u32 lane)
{
    const Warp *other = NULL;
    u32 other_lane = 0;
    const Copy *c = find_copy(a->owner, a->address[lane], a->bytes, &other, &other_lane);
    const Block *b = a->owner;
    if (!c
        || (other != a->warp && b == a->warp->block && c->barrier_count == b->barrier_count
            && !b->mbarriers.count))
        return false;
    bool own = other == a->warp && other_lane == lane;
    Report r = { .cause = own ? CAUSE_own_copy_not_awaited : CAUSE_copy_not_awaited,
                 .has_other = true };
    source_fill_access(&r, a, 1u << lane);
    if (a->undefined) r.access = ACCESS_COPY;
    r.other.access = ACCESS_COPY;
    r.other.place = source_place(other->block->grid->kernel, c->pc);
    warp_thread(other, other_lane, r.other.thread);
    report_error(&r);
    return true;
}

static void look(Access *a)
{
    const struct UnfinishedBlock *u = unfinished_block(a->owner);
    for (const Span *s = a->span; s < a->span + a->span_count; s++) {
        if (!is_set(u, s->address, s->bytes)) continue;
        for (u32 rest = s->lanes; rest; rest &= rest - 1)
            if (is_set(u, a->address[__builtin_ctz(rest)], a->bytes)) {
                a->told = tell(a, __builtin_ctz(rest));
                return;
            }
    }
}

// ---- Copies in bulk ----

static Report report_bulk(const Block *b, const Bulk *c, enum report_cause cause)
{
    Report r = { .cause = cause, .has_other = true };
    r.other.access = ACCESS_COPY;
    r.other.place = source_place(b->grid->kernel, c->pc);
    warp_thread(&b->warps[c->warp], c->lane, r.other.thread);
    return r;
}

// A lane touches what a copy in flight writes, or stores to what one has yet to read.
static bool meets(const Access *a, const Bulk *c, u32 lane)
{
    u64 from = c->stores ? c->from : c->to;
    bool matters = !c->stores || (a->store && !c->has_read);
    return matters && a->address[lane] < from + c->bytes && from < a->address[lane] + a->bytes;
}

static void look_at_bulks(Access *a)
{
    const Block *b = a->owner;
    for (u32 n = 0; n < b->bulks->count && !a->told; n++) {
        const Bulk *c = &b->bulks->bulk[n];
        for (u32 rest = a->mask; rest && !a->told; rest &= rest - 1) {
            u32 lane = __builtin_ctz(rest);
            if (!meets(a, c, lane)) continue;
            Report r = report_bulk(
                b, c, c->stores ? CAUSE_bulk_copy_still_reads : CAUSE_bulk_copy_not_awaited);
            source_fill_access(&r, a, 1u << lane);
            if (a->bulk) r.access = ACCESS_COPY;
            report_error(&r);
            a->told = true;
        }
    }
}

static u32 lanes_meeting(const Access *a, const Bulk *c)
{
    u32 lanes = 0;
    for (u32 rest = a->mask; rest; rest &= rest - 1) {
        u64 at = a->address[__builtin_ctz(rest)];
        if (at < c->to + c->bytes && c->to < at + a->bytes) lanes |= rest & -rest;
    }
    return lanes;
}

// In global memory a thread meets its own copies only: of other threads, those are races.
static void look_at_own_stores(Access *a)
{
    const Block *b = a->warp->block;
    for (u32 n = 0; n < b->bulks->count && !a->told; n++) {
        const Bulk *c = &b->bulks->bulk[n];
        if (!c->stores || c->warp != a->warp->number || lanes_meeting(a, c) != 1u << c->lane)
            continue;
        Report r = report_bulk(b, c, CAUSE_bulk_store_not_awaited);
        source_fill_access(&r, a, 1u << c->lane);
        report_error(&r);
        a->told = true;
    }
}

// The next block reuses this shared memory.
static void unfinished_block_end(Block *b)
{
    for (u32 n = 0; b->bulks && n < b->bulks->count && !b->grid->status; n++) {
        const Bulk *c = &b->bulks->bulk[n];
        if (c->stores && c->has_read) continue;
        Report r = report_bulk(b, c,
                               c->stores ? CAUSE_block_ends_while_bulk_reads
                                         : CAUSE_block_ends_before_bulk_copy);
        source_fill(&r, &b->warps[c->warp], &b->grid->kernel->code[c->pc], c->lane);
        r.has_other = false;
        report_error(&r);
        return;
    }
}

static bool unfinished_access(Access *a)
{
    bool shared = a->space == SPACE_SHARED;
    struct UnfinishedBlock *u = unfinished_block(shared ? a->owner : a->warp->block);
    if (shared ? !u->bits : !u->has_stores) {
        access_pass_all(a);
        return true;
    }
    if (!shared) {
        if (a->warp->block->bulks && !a->bulk && a->space == SPACE_GLOBAL) look_at_own_stores(a);
        return true;
    }
    if (u->count) look(a);
    if (a->owner->bulks) look_at_bulks(a);
    if (a->undefined && !a->bulk) change(u, a, true);
    return true;
}

static void unfinished_copy_completed(Access *a)
{
    if (!a->bulk) change(unfinished_block(a->owner), a, false);
}

const Observer unfinished_observer = {
    .block_make = unfinished_block_make,
    .block_free = unfinished_block_free,
    .block_start = unfinished_block_start,
    .block_end = unfinished_block_end,
    .access = unfinished_access,
    .copy_completed = unfinished_copy_completed,
};
