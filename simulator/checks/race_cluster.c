// Shared memory of a cluster's other blocks exists from a block's beginning to its end. A thread
// may touch it once it has synchronised with that block after its beginning, and every access must
// come before the block's end.
#include <stdlib.h>

#include "machine/cluster.h"
#include "race.h"
#include "base/need.h"

static Side side_of(const Access *a)
{
    return (Side){ &operations[race_grid(a->grid)->operation],
                   a->warp->block->number,
                   a->warp->number,
                   a->first,
                   a->pc,
                   a->store };
}

void race_remote_access(const Access *a)
{
    Block *b = a->owner;
    struct RaceBlock *r = race_block(b);
    const Warp *w = a->warp;
    if (!r->remote_accesses)
        r->remote_accesses = need(calloc(MOST_CLUSTER_BLOCKS * LANES, sizeof *r->remote_accesses));
    RemoteAccess *v = &r->remote_accesses[w->block->rank * LANES + w->number];
    if (!v->epoch
        && !causality_reaches_block(&race_block(w->block)->order, w,
                                    race_grid(a->grid)->first_block + b->number)) {
        const Side side = side_of(a);
        race_report_absent(&side, b, false);
    }
    *v = (RemoteAccess){ .epoch = race_block(w->block)->order.epoch, .side = side_of(a) };
}

void race_cluster_arrive(Warp *w, const Insn *i)
{
    const Cluster *c = w->block->cluster;
    struct RaceBlock *of_all = race_block(c->blocks[0]);
    u32 now = c->phase % 2;
    if (of_all->phase != c->phase) {
        of_all->phase = c->phase;
        vector_clock_clear(&of_all->released[now]);
        vector_clock_clear(&of_all->if_fenced[now]);
    }
    causality_cluster_arrive(&race_block(w->block)->order, w, i, &of_all->released[now],
                             &of_all->if_fenced[now]);
}

void race_cluster_wait(Warp *w)
{
    const Cluster *c = w->block->cluster;
    const struct RaceBlock *of_all = race_block(c->blocks[0]);
    u32 before = (c->phase - 1) % 2;
    causality_cluster_wait(&race_block(w->block)->order, w, &of_all->released[before],
                           &of_all->if_fenced[before]);
    race_synchronised(w->block->grid);
}

static bool comes_before_end(const Block *b, const RemoteAccess *v)
{
    const BlockClocks *o = &race_block(b)->order;
    for (u32 n = 0; n < b->warp_count; n++)
        if (causality_before(o, &b->warps[n], race_grid(b->grid)->first_block + v->side.block,
                             v->side.warp, v->epoch, v->side.store)
            != UNORDERED)
            return true;
    return false;
}

void race_check_remote_accesses(const Block *b)
{
    const RemoteAccess *all = race_block(b)->remote_accesses;
    for (u32 n = 0; all && n < MOST_CLUSTER_BLOCKS * LANES; n++) {
        if (!all[n].epoch || comes_before_end(b, &all[n])) continue;
        race_report_absent(&all[n].side, b, true);
        return;
    }
}
