// Peer access. Each device has one link into the switch that joins them all, as an HGX board's GPUs
// have: so many bytes a second in, and as many out at the same time (profile). What a kernel loads
// from another device comes in over its own device's link, what it stores there goes out, atomics
// do both where their result is used; whole sectors, without the packets' heads.
#include "model/coalesce.h"
#include "peer.h"
#include "machine/profile.h"
#include "need.h"
#include <stdlib.h>

static u32 reach[MOST_DEVICES];  // bit d: it may reach device d,
static u32 opened[MOST_DEVICES]; // and some of what other processes have there

// What a kernel moved over its device's link: all of it, and to and from which other device. Of
// managed memory the other end is not known: that is in the sums alone.
typedef struct PeerGrid {
    u64 in, out, from[MOST_DEVICES], to[MOST_DEVICES];
} PeerGrid;

bool peer_enabled(u32 from, u32 to) { return reach[from] >> to & 1; }

bool peer_enable(u32 from, u32 to)
{
    if (peer_enabled(from, to)) return false;
    reach[from] |= 1u << to;
    return true;
}

bool peer_disable(u32 from, u32 to)
{
    if (!peer_enabled(from, to)) return false;
    reach[from] &= ~(1u << to);
    return true;
}

void peer_reset(u32 device)
{
    reach[device] = opened[device] = 0;
    for (u32 d = 0; d < MOST_DEVICES; d++)
        reach[d] &= ~(1u << device), opened[d] &= ~(1u << device);
}

void peer_open(u32 from, u32 to) { opened[from] |= 1u << to; }

static bool reaches_any(u32 device) { return reach[device] | opened[device]; }

bool peer_linked(u32 from, u32 to)
{
    return (reach[from] | opened[from]) >> to & 1 || (reach[to] | opened[to]) >> from & 1;
}

double peer_copy_seconds(u32 from, u32 to, u64 bytes)
{
    return peer_linked(from, to) ? profile.link_seconds + bytes / profile.link_bytes_per_second
                                 : bytes / profile.copy_bytes_per_second;
}

double peer_kernel_seconds(const Grid *g)
{
    u64 most = g->peered->in > g->peered->out ? g->peered->in : g->peered->out;
    return most ? profile.link_load_seconds + most / profile.link_bytes_per_second : 0;
}

void peer_moves(const Grid *g, Tally *t, u64 in, u64 out)
{
    t->received += in;
    t->sent += out;
    g->peered->in += in;
    g->peered->out += out;
}

u32 peer_links(const Grid *g, LinkReport links[])
{
    const PeerGrid *p = g->peered;
    u32 device = g->launch->device;
    u32 count = 0;
    for (u32 d = 0; d < MOST_DEVICES; d++) {
        if (p->from[d]) links[count++] = (LinkReport){ d, device, p->from[d] };
        if (p->to[d]) links[count++] = (LinkReport){ device, d, p->to[d] };
    }
    return count;
}

// The lanes of a global access that touch another device's memory: that of the first of them, which
// is told.
static u32 lanes_abroad(const Access *a, u32 device, u32 *other)
{
    const Allocation *recent = NULL;
    u32 lanes = 0;
    for (u32 l = a->first; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        if (!recent || a->address[l] - recent->base >= recent->size)
            recent = memory_find(a->address[l]);
        if (!recent || recent->device == device || !peer_is_private(recent)) continue;
        if (!lanes) *other = recent->device;
        lanes |= (u32)(recent->device == *other) << l;
    }
    return lanes;
}

static void count_lanes(const Access *a, u32 lanes, u32 other)
{
    const Grid *g = a->warp->block->grid;
    Access part = *a;
    part.shape = NULL;
    part.mask = lanes;
    part.sectors = 0;
    part.first = (u32)__builtin_ctz(lanes);
    access_shape(&part);
    u64 bytes = (u64)access_sectors(&part) * SECTOR_BYTES;
    u64 in = !a->store || (a->atomic && !a->insn->reduces) ? bytes : 0, out = a->store ? bytes : 0;
    peer_moves(g, &g->tally[a->insn - g->kernel->code], in, out);
    g->peered->from[other] += in;
    g->peered->to[other] += out;
}

static bool peer_access(Access *a)
{
    const Grid *g = a->warp->block->grid;
    u32 device = g->launch->device;
    if (!reaches_any(device) || a->space != SPACE_GLOBAL) {
        access_pass_all(a);
        return true;
    }
    Access left = *a;
    u32 lanes, other = 0;
    while (left.mask
           && (left.first = (u32)__builtin_ctz(left.mask),
               lanes = lanes_abroad(&left, device, &other))) {
        count_lanes(&left, lanes, other);
        left.mask &= ~lanes;
    }
    return true;
}

static void peer_grid_start(Grid *g) { g->peered = need(calloc(1, sizeof *g->peered)); }

static void peer_grid_free(Grid *g) { free(g->peered); }

static bool peer_one_order(Grid *g) { return reaches_any(g->launch->device); }

const Observer peer_observer = {
    .grid_start = peer_grid_start,
    .access = peer_access,
    .grid_free = peer_grid_free,
    .one_order = peer_one_order,
};
