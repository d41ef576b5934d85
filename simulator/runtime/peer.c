// Peer access. Each device has one link into the switch that joins them all, as an HGX board's GPUs have: so many bytes
// a second in, and as many out at the same time (profile). What a kernel loads from another device comes in over its own
// device's link, what it stores there goes out, atomics do both where their result is used; whole sectors, without the
// packets' heads.
#include "model/coalesce.h"
#include "peer.h"
#include "machine/profile.h"

static u32 reach[MOST_DEVICES];         // bit d: it may reach device d
static u64 kernel_in, kernel_out;       // bytes that the running kernel moved over its device's link

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
    reach[device] = 0;
    for (u32 d = 0; d < MOST_DEVICES; d++) reach[d] &= ~(1u << device);
}

static double link_seconds(u64 bytes) { return profile.link_seconds + bytes / profile.link_bytes_per_second; }

bool peer_linked(u32 from, u32 to) { return peer_enabled(from, to) || peer_enabled(to, from); }

double peer_copy_seconds(u32 from, u32 to, u64 bytes)
{
    return peer_linked(from, to) ? link_seconds(bytes) : bytes / profile.copy_bytes_per_second;
}

double peer_kernel_seconds(void)
{
    u64 most = kernel_in > kernel_out ? kernel_in : kernel_out;
    return most ? link_seconds(most) : 0;
}

void peer_moves(Tally *t, u64 in, u64 out)
{
    t->received += in;
    t->sent += out;
    kernel_in += in;
    kernel_out += out;
}

// The lanes of a global access that touch another device's memory.
static u32 lanes_abroad(const Access *a, u32 device)
{
    const Allocation *recent = NULL;
    u32 lanes = 0;
    for (u32 l = a->first; l < LANES; l++) {
        if (!(a->mask >> l & 1)) continue;
        if (!recent || a->address[l] - recent->base >= recent->size) recent = memory_find(a->address[l]);
        lanes |= (u32)(recent && recent->device != device && peer_is_private(recent)) << l;
    }
    return lanes;
}

static bool peer_access(Access *a)
{
    const Grid *g = a->warp->block->grid;
    u32 device = g->launch->device;
    if (!reach[device] || a->space != SPACE_GLOBAL) {
        access_pass_all(a);
        return true;
    }
    Access part = *a;
    part.shape = NULL;
    part.mask = lanes_abroad(a, device);
    if (!part.mask) return true;
    access_shape(&part);
    u64 bytes = (u64)access_sectors(&part) * SECTOR_BYTES;
    Tally *t = &g->tally[a->insn - g->kernel->code];
    peer_moves(t, !a->store || (a->atomic && !a->insn->reduces) ? bytes : 0, a->store ? bytes : 0);
    return true;
}

static void peer_grid_start(Grid *g)
{
    (void)g;
    kernel_in = kernel_out = 0;
}

const Observer peer_observer = { .grid_start = peer_grid_start, .access = peer_access };
