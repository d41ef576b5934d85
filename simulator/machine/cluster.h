// Blocks of a cluster: they are on the device at the same time, touch one another's shared memory,
// and have a barrier.
#pragma once
#include "isa/windows.h"
#include "block.h"
#include "grid.h"

// Where a block's shared memory lies among those of its cluster: rank * CLUSTER_WINDOW on, for
// itself and for the others, as on an H200. The block of rank 0 has offsets for addresses, and so
// has every block that was launched without clusters.
enum { MOST_CLUSTER_BLOCKS = 16 };
enum { CLUSTER_BARRIER = BARRIERS }; // Warp.barrier, where that is what it waits at

typedef struct Cluster {
    u32 size;                           // blocks
    Block *blocks[MOST_CLUSTER_BLOCKS]; // by rank
    u32 phase;                          // of the barrier: how often all have come to it
    u32 missing;                        // threads that live and have not come
} Cluster;

// The rank of the block in whose shared memory an address lies: one of the cluster's, or none. Such
// addresses have 32 bits.
static inline u32 cluster_rank(u64 address) { return (u32)address / CLUSTER_WINDOW; }

// The lanes whose addresses, with `base` added, have the rank of the first one's.
static inline u32 cluster_lanes(const u64 address[LANES], u32 base, u32 lanes)
{
    u32 same = 0, rank = cluster_rank(address[__builtin_ctz(lanes)] + base);
    for (u32 rest = lanes; rest; rest &= rest - 1)
        if (cluster_rank(address[__builtin_ctz(rest)] + base) == rank) same |= rest & -rest;
    return same;
}

// Blocks of a cluster of the launch: 1 where it has none.
static inline u32 cluster_blocks(const Launch *l)
{
    return l->cluster[0] ? l->cluster[0] * l->cluster[1] * l->cluster[2] : 1;
}

// The number in the grid of the block that has that rank in the cluster of that number.
u64 cluster_block(const Launch *l, u64 cluster, u32 rank);

// The number of the block of rank 0 in the cluster that a block is of, of `size` blocks.
u64 cluster_first(const u32 grid[3], const u32 size[3], u64 block);

// NULL: there is no memory left.
Cluster *cluster_make(u32 size);

void cluster_join(Block *b);            // it begins
void cluster_leave(Warp *w, u32 lanes); // these have ended

// Nothing that the block's warps can do gets them any further; some of them wait at the cluster's
// barrier. Reports it when that holds for all blocks of the cluster. False: it is not the cluster's
// barrier that they wait at.
bool cluster_waits(Block *b);
