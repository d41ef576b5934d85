// The links between devices. Each device has one link to the switch that joins them, as on an HGX
// board: so many bytes a second in, and as many out at the same time (profile). What a kernel loads
// from another device comes in over its own device's link, and what it stores there goes out;
// atomics whose result is used do both. Whole sectors count, without packet headers.
#include "coalesce.h"
#include "counts.h"
#include "link.h"
#include "machine/profile.h"
#include "streams/peer.h"
#include "base/need.h"
#include "slots.h"
#include <stdlib.h>

// A kernel's traffic on its device's link: in all, and with each other device. The other end of
// managed memory is unknown; its traffic is in the sums only.
typedef struct LinkGrid {
    u64 in, out, from[MOST_DEVICES], to[MOST_DEVICES];
} LinkGrid;

static LinkGrid *link_grid(const Grid *g) { return g->kept[GRID_LINK]; }

double link_copy_seconds(u32 from, u32 to, u64 bytes)
{
    return peer_linked(from, to) ? profile.link_seconds + bytes / profile.link_bytes_per_second
                                 : bytes / profile.copy_bytes_per_second;
}

double link_kernel_seconds(const Grid *g)
{
    u64 most = link_grid(g)->in > link_grid(g)->out ? link_grid(g)->in : link_grid(g)->out;
    return most ? profile.link_load_seconds + most / profile.link_bytes_per_second : 0;
}

void link_moves(const Grid *g, Counts *t, u64 in, u64 out)
{
    t->received += in;
    t->sent += out;
    link_grid(g)->in += in;
    link_grid(g)->out += out;
}

u32 link_report(const Grid *g, LinkReport links[])
{
    const LinkGrid *p = link_grid(g);
    u32 device = g->launch->device;
    u32 count = 0;
    for (u32 d = 0; d < MOST_DEVICES; d++) {
        if (p->from[d]) links[count++] = (LinkReport){ d, device, p->from[d] };
        if (p->to[d]) links[count++] = (LinkReport){ device, d, p->to[d] };
    }
    return count;
}

// The lanes of a global access that touch the same other device's memory as the first such lane;
// *other is that device.
static u32 lanes_on_peers(const Access *a, u32 device, u32 *other)
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

static void count_lanes(Access *a, u32 lanes, u32 other)
{
    const Grid *g = a->warp->block->grid;
    u64 bytes = (u64)access_sectors_of(a, lanes) * SECTOR_BYTES;
    u64 in = !a->store || (a->atomic && !a->insn->reduces) ? bytes : 0, out = a->store ? bytes : 0;
    link_moves(g, &counts_of(g)[a->insn - g->kernel->code], in, out);
    link_grid(g)->from[other] += in;
    link_grid(g)->to[other] += out;
}

static bool reaches_others(const Grid *g)
{
    return g->launch->reaches_all || peer_reaches_any(g->launch->device);
}

static bool link_access(Access *a)
{
    const Grid *g = a->warp->block->grid;
    u32 device = g->launch->device;
    if (!reaches_others(g) || a->space != SPACE_GLOBAL) {
        access_pass_all(a);
        return true;
    }
    Access left = *a;
    u32 lanes, other = 0;
    while (left.mask
           && (left.first = (u32)__builtin_ctz(left.mask),
               lanes = lanes_on_peers(&left, device, &other))) {
        count_lanes(a, lanes, other);
        left.mask &= ~lanes;
    }
    return true;
}

static void link_grid_start(Grid *g) { g->kept[GRID_LINK] = need(calloc(1, sizeof(LinkGrid))); }

static void link_grid_free(Grid *g) { free(link_grid(g)); }

static bool link_one_order(Grid *g) { return reaches_others(g); }

const Observer link_observer = {
    .grid_start = link_grid_start,
    .access = link_access,
    .grid_free = link_grid_free,
    .needs_block_order = link_one_order,
};
