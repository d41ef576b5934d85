// Clusters: their blocks are resident at the same time, access one another's shared memory, and
// share a barrier.
#pragma once
#include "isa/windows.h"
#include "block.h"
#include "grid.h"

// A block's shared memory begins at rank * CLUSTER_WINDOW, for itself and for the other blocks of
// its cluster, as on an H200. So in the block of rank 0, and in every block without a cluster,
// addresses equal offsets.
enum { MOST_CLUSTER_BLOCKS = 16 };
enum { CLUSTER_BARRIER = BARRIERS }; // Warp.barrier, where a warp waits at the cluster's barrier

typedef struct Cluster {
    u32 size;                           // blocks
    Block *blocks[MOST_CLUSTER_BLOCKS]; // by rank
    u32 phase;                          // of the barrier: counts its completions
    u32 missing;                        // live threads that have not arrived
} Cluster;

// The rank in whose shared memory a 32-bit address lies. There may be no such block.
static inline u32 cluster_rank(u64 address) { return (u32)address / CLUSTER_WINDOW; }

// The lanes whose addresses, with `base` added, have the same rank as the first lane's.
static inline u32 cluster_lanes(const u64 address[LANES], u32 base, u32 lanes)
{
    u32 same = 0, rank = cluster_rank(address[__builtin_ctz(lanes)] + base);
    for (u32 rest = lanes; rest; rest &= rest - 1)
        if (cluster_rank(address[__builtin_ctz(rest)] + base) == rank) same |= rest & -rest;
    return same;
}

// The blocks of a cluster of the launch; 1 without clusters.
static inline u32 cluster_blocks(const Launch *l)
{
    return l->cluster[0] ? l->cluster[0] * l->cluster[1] * l->cluster[2] : 1;
}

// The number, in the grid, of the block with that rank in that cluster.
u64 cluster_block(const Launch *l, u64 cluster, u32 rank);

// The number of the block of rank 0 in a block's cluster, which has `size` blocks.
u64 cluster_first(const u32 grid[3], const u32 size[3], u64 block);

// NULL: out of memory.
Cluster *cluster_make(u32 size);

void cluster_join(Block *b);            // a block begins
void cluster_leave(Warp *w, u32 lanes); // lanes have ended

// None of the block's warps can run, and some wait at the cluster's barrier. Reports a deadlock
// when that holds for every block of the cluster. False: they do not wait at the cluster's barrier.
bool cluster_waits(Block *b);
