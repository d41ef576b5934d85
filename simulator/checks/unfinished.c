// Asynchronous copies that have not been waited for. Until the thread that began a copy waits for
// it, its destination in shared memory holds neither the old nor the new bytes; an access to it is
// reported with the copy's line and its own. Accesses of other warps that no barrier orders after
// the copy's beginning are races, which race.c reports, unless an mbarrier orders them. Copies in
// bulk are checked alike; a store to the source of one that has not been read yet is reported too,
// as is a block that ends before its copies have completed.
#include <stdlib.h>
#include <string.h>

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
    u32 count; // lanes' parts of copies in flight
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

static void unfinished_block_make(Block *b)
{
    struct UnfinishedBlock *u = b->kept[BLOCK_UNFINISHED] = need(calloc(1, sizeof *u));
    if (!copies(b->grid->kernel)) return;
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
    Report r = { .kind = REPORT_UNFINISHED,
                 .address = a->address[lane],
                 .has_other = true,
                 .why = "An asynchronous copy arrives some time before the thread that began it "
                        "has waited for it: until then, "
                        "what is there may be old or new.",
                 .next = own ? "Wait first: cp.async.commit_group, then cp.async.wait_group with "
                               "as many groups as may still be under way."
                             : "Let each thread wait for its own copies (cp.async.wait_group), and "
                               "then put a __syncthreads()." };
    source_fill(&r, a->warp, a->insn, lane);
    r.other = source_place(other->block->grid->kernel, c->pc);
    warp_thread(other, other_lane, r.other_thread);
    report_errorf(&r,
                  "thread (%u,%u,%u) %s shared memory that an asynchronous copy of thread "
                  "(%u,%u,%u) goes to, which that has not waited for",
                  r.thread[0], r.thread[1], r.thread[2],
                  a->undefined ? "copies to"
                  : a->store   ? "writes to"
                               : "reads",
                  r.other_thread[0], r.other_thread[1], r.other_thread[2]);
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

static Report report_bulk(const Block *b, const Bulk *c, const Insn *i, const Warp *w, u32 lane)
{
    Report r = {
        .kind = REPORT_UNFINISHED,
        .why = "A copy in bulk goes on beside its thread: until that has waited for it, what is "
               "there may be old or new.",
        .next = "Wait first, at the mbarrier that the copy tells of its bytes (mbarrier.try_wait)."
    };
    if (c->stores) {
        r.why = "A copy in bulk goes on beside its thread, and may read what it copies at any time "
                "until that has waited for it.";
        r.next = "Wait first: cp.async.bulk.commit_group, then cp.async.bulk.wait_group.read 0 by "
                 "the thread that began it, and then a __syncthreads().";
    }
    source_fill(&r, w, i, lane);
    r.has_other = true;
    r.other = source_place(b->grid->kernel, c->pc);
    warp_thread(&b->warps[c->warp], c->lane, r.other_thread);
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
            Report r = report_bulk(b, c, a->insn, a->warp, lane);
            r.address = a->address[lane];
            report_errorf(&r,
                          "thread (%u,%u,%u) %s shared memory that a copy in bulk of thread "
                          "(%u,%u,%u) %s, which nobody has waited for",
                          r.thread[0], r.thread[1], r.thread[2],
                          a->bulk    ? "copies"
                          : a->store ? "writes to"
                                     : "reads",
                          r.other_thread[0], r.other_thread[1], r.other_thread[2],
                          c->stores ? "reads" : "goes to");
            a->told = true;
        }
    }
}

// The next block reuses this shared memory.
static void unfinished_block_end(Block *b)
{
    for (u32 n = 0; b->bulks && n < b->bulks->count && !b->grid->status; n++) {
        const Bulk *c = &b->bulks->bulk[n];
        if (c->stores && c->has_read) continue;
        Report r = report_bulk(b, c, &b->grid->kernel->code[c->pc], &b->warps[c->warp], c->lane);
        r.has_other = false;
        report_errorf(&r, "the block ends while its shared memory %s by a copy in bulk",
                      c->stores ? "is still read" : "is still written");
        return;
    }
}

static bool unfinished_access(Access *a)
{
    struct UnfinishedBlock *u = a->space == SPACE_SHARED ? unfinished_block(a->owner) : NULL;
    if (!u || !u->bits) {
        access_pass_all(a);
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
