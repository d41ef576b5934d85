// The values of special registers and of the other register rows that are constant while a block
// runs.
#include "isa/windows.h"
#include "cluster.h"
#include "grid_state.h"
#include "profile.h"
#include "special.h"

// For a register with x, y and z: the cluster's size in the launch; 1 without clusters.
static u32 cluster_size(const Launch *l, u32 way) { return l->cluster[0] ? l->cluster[way] : 1; }

// Of grid.sync(), whose code traps if there is none.
static u64 workspace(const Warp *w)
{
    Grid *g = w->block->grid;
    g->asked_workspace = true;
    return g->workspace;
}

// Dispatch: what a special register of a lane holds.
static u64 special_value(const Warp *w, u32 special, u32 lane)
{
    const Launch *l = w->block->grid->launch;
    u32 way;
    u32 thread[3];
    switch (special) {
    case SPECIAL_TID_X:
    case SPECIAL_TID_Y:
    case SPECIAL_TID_Z: warp_thread(w, lane, thread); return thread[special - SPECIAL_TID_X];
    case SPECIAL_NTID_X:
    case SPECIAL_NTID_Y:
    case SPECIAL_NTID_Z: return l->block[special - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X:
    case SPECIAL_CTAID_Y:
    case SPECIAL_CTAID_Z: return w->block->index[special - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X:
    case SPECIAL_NCTAID_Y:
    case SPECIAL_NCTAID_Z: return l->grid[special - SPECIAL_NCTAID_X];
    case SPECIAL_CLUSTERID_X:
    case SPECIAL_CLUSTERID_Y:
    case SPECIAL_CLUSTERID_Z:
        way = special - SPECIAL_CLUSTERID_X;
        return w->block->index[way] / cluster_size(l, way);
    case SPECIAL_NCLUSTERID_X:
    case SPECIAL_NCLUSTERID_Y:
    case SPECIAL_NCLUSTERID_Z:
        way = special - SPECIAL_NCLUSTERID_X;
        return l->grid[way] / cluster_size(l, way);
    case SPECIAL_CLUSTER_CTAID_X:
    case SPECIAL_CLUSTER_CTAID_Y:
    case SPECIAL_CLUSTER_CTAID_Z:
        way = special - SPECIAL_CLUSTER_CTAID_X;
        return w->block->index[way] % cluster_size(l, way);
    case SPECIAL_CLUSTER_NCTAID_X:
    case SPECIAL_CLUSTER_NCTAID_Y:
    case SPECIAL_CLUSTER_NCTAID_Z: return cluster_size(l, special - SPECIAL_CLUSTER_NCTAID_X);
    case SPECIAL_CLUSTER_CTARANK: return w->block->rank;
    case SPECIAL_CLUSTER_NCTARANK: return w->block->grid->cluster_blocks;
    case SPECIAL_EXPLICIT_CLUSTER:
        return l->cluster[0] ? ~0u : 0; // a predicate: a bit for each lane
    case SPECIAL_AGGREGATE_SMEM: return w->block->shared_bytes + profile.shared_reserved_per_block;
    case SPECIAL_SHARED_WINDOW: return SHARED_WINDOW + w->block->shared_base;
    case SPECIAL_LANEID: return lane;
    case SPECIAL_WARPID: return w->number;
    case SPECIAL_NWARPID: return profile.max_threads_per_sm / LANES;
    case SPECIAL_DYNAMIC_SMEM: return l->dynamic_shared;
    case SPECIAL_TOTAL_SMEM: return (w->block->shared_bytes + 127) / 128 * 128;
    case SPECIAL_RESERVED_SMEM: return w->block->shared_base + w->block->reserved_at;
    case SPECIAL_DYNAMIC_BASE: return w->block->shared_base + w->block->grid->kernel->shared_bytes;
    case SPECIAL_SMID: return w->block->sm;
    case SPECIAL_NSMID: return profile.sm_count;
    case SPECIAL_ENVREG_1: return workspace(w) >> 32;
    case SPECIAL_ENVREG_2: return (u32)workspace(w);
    case SPECIAL_GRIDID: return w->block->grid->number;
    case SPECIAL_LANEMASK_EQ: return 1u << lane;
    case SPECIAL_LANEMASK_LT: return (1u << lane) - 1;
    case SPECIAL_LANEMASK_LE: return ~0u >> (31 - lane);
    case SPECIAL_LANEMASK_GT: return ~(~0u >> (31 - lane));
    case SPECIAL_LANEMASK_GE: return ~((1u << lane) - 1);
    }
    return 0;
}

bool special_changes(u32 special)
{
    return (special >= SPECIAL_CTAID_X && special <= SPECIAL_CTAID_Z)
        || (special >= SPECIAL_CLUSTERID_X && special <= SPECIAL_CLUSTERID_Z)
        || special == SPECIAL_SMID;
}

static bool changes_with_warp(u32 special)
{
    return (special >= SPECIAL_TID_X && special <= SPECIAL_TID_Z) || special == SPECIAL_LANEID
        || special == SPECIAL_WARPID
        || (special >= SPECIAL_LANEMASK_EQ && special <= SPECIAL_LANEMASK_GE);
}

#define FILL(T)                                                                                    \
    for (Warp *w = b->warps; w < b->warps + b->warp_count; w++) {                                  \
        T *row = row_of(w, c->row);                                                                \
        if (by_lane)                                                                               \
            for (u32 l = 0; l < LANES; l++) row[l] = (T)special_value(w, c->special, l);           \
        else                                                                                       \
            for (u32 l = 0; l < LANES; l++) row[l] = (T)value;                                     \
    }

static void fill_row(Block *b, const Constant *c)
{
    bool by_lane = changes_with_warp(c->special);
    u64 value = by_lane                      ? 0
              : c->special == SPECIAL_SHARED ? b->shared_base + c->value
              : c->special                   ? special_value(b->warps, c->special, 0)
                                             : c->value;
    switch (c->width) {
    case 1: FILL(u8) break;
    case 2: FILL(u16) break;
    case 4: FILL(u32) break;
    default: FILL(u64)
    }
}

void special_find(Grid *g)
{
    const Kernel *k = g->kernel;
    g->changing_count = 0;
    for (u32 n = 0; n < k->constant_count; n++)
        if (special_changes(k->constants[n].special))
            g->changing[g->changing_count++] = &k->constants[n];
}

void special_fill(Block *b, bool fresh)
{
    const Grid *g = b->grid;
    for (u32 n = 0; fresh && n < g->kernel->constant_count; n++)
        fill_row(b, &g->kernel->constants[n]);
    for (u32 n = 0; !fresh && n < g->changing_count; n++) fill_row(b, g->changing[n]);
}
