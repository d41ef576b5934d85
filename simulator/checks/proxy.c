// Copies in bulk access shared memory through the asynchronous proxy. Such a copy may miss what
// threads stored through the generic proxy unless a fence.proxy.async stands between: after the
// stores, before the copy, or in any thread between them in causality order. If no thread of the
// block, or of its cluster, has run such a fence since the store, it is missing.
#include <stdlib.h>
#include <string.h>

#include "isa/tensor.h"
#include "machine/cluster.h"
#include "machine/observer.h"
#include "machine/source_fill.h"
#include "base/need.h"
#include "slots.h"

enum { UNIT = 4 }; // bytes of shared memory that one note covers

typedef struct Note {
    u32 generation, pc;
} Note; // the generation at the latest store there, and the storing instruction

struct ProxyBlock {
    Note *note; // NULL: the kernel makes no copies in bulk from shared memory
    u32 count,
        generation; // fences so far that may concern this shared memory, over all blocks of the
                    // slot
};

static struct ProxyBlock *proxy_block(const Block *b) { return b->kept[BLOCK_PROXY]; }

static bool copies_from_shared(const Kernel *k)
{
    for (u32 pc = 0; pc < k->code_count; pc++)
        if (k->code[pc].op == ISA_bulk
            && (k->code[pc].matrix->stores || k->code[pc].matrix->within))
            return true;
    return false;
}

static void proxy_block_make(Block *b)
{
    struct ProxyBlock *p = b->kept[BLOCK_PROXY] = need(calloc(1, sizeof *p));
    if (!copies_from_shared(b->grid->kernel)) return;
    p->count = b->shared_span / UNIT + 1;
    p->note = need(calloc(p->count, sizeof *p->note));
}

static void proxy_block_free(Block *b)
{
    free(proxy_block(b)->note);
    free(proxy_block(b));
}

// A thread that fences may have stored to the shared memory of any block of its cluster.
static void proxy_fence(Warp *w)
{
    const Cluster *c = w->block->cluster;
    if (!c) proxy_block(w->block)->generation++;
    for (u32 rank = 0; c && rank < c->size; rank++)
        if (c->blocks[rank]) proxy_block(c->blocks[rank])->generation++;
}
static void proxy_block_start(Block *b) { proxy_block(b)->generation++; }

static void tell(const Access *a, const Note *n)
{
    const Kernel *k = a->grid->kernel;
    Report r = { .cause = CAUSE_proxy_fence_missing, .has_other = true };
    source_fill(&r, a->warp, a->insn, a->first);
    r.access = ACCESS_COPY;
    r.space = IN_SHARED;
    r.other.access = ACCESS_WRITE;
    r.other.place = source_place(k, n->pc);
    memcpy(r.other.thread, r.thread, sizeof r.other.thread);
    report_error(&r);
}

static bool proxy_access(Access *a)
{
    struct ProxyBlock *p = a->space == SPACE_SHARED ? proxy_block(a->owner) : NULL;
    if (!p || !p->note) {
        access_pass_all(a);
        return true;
    }
    if (a->mbarrier || (!a->bulk && !a->store)) return true;
    for (const Span *s = a->span; s < a->span + a->span_count; s++)
        for (u64 n = s->address / UNIT; n <= (s->address + s->bytes - 1) / UNIT; n++) {
            Note *note = &p->note[n];
            if (!a->bulk) {
                *note = (Note){ p->generation, a->pc };
            } else if (a->store) {
                note->generation = 0;
            } else if (note->generation == p->generation) {
                tell(a, note);
                return true;
            }
        }
    return true;
}

const Observer proxy_observer = {
    .block_make = proxy_block_make,
    .block_free = proxy_block_free,
    .block_start = proxy_block_start,
    .access = proxy_access,
    .proxy_fence = proxy_fence,
};
