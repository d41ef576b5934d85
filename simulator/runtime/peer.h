// What devices have to do with one another's memory: which of them may reach whose, and the links
// that it goes over.
#pragma once
#include "pool.h"
#include "report/report.h"

// Lets kernels on device `from` reach the memory of device `to`, and no longer. False: it was so
// already.
bool peer_enable(u32 from, u32 to);
bool peer_disable(u32 from, u32 to);
void peer_reset(u32 device); // nobody reaches it, and it reaches nobody
bool peer_enabled(u32 from, u32 to);

// Device `from` reaches memory of another process's on device `to`, by a handle that was opened.
void peer_open(u32 from, u32 to);

// May a kernel on that device touch the allocation? Managed and pinned memory every device reaches.
static inline bool peer_is_private(const Allocation *a)
{
    return a->kind != MEMORY_MANAGED && a->kind != MEMORY_PINNED_HOST;
}
static inline bool peer_reaches(u32 device, const Allocation *a)
{
    if (a->device == device || !peer_is_private(a)) return true;
    if (a->kind == MEMORY_VARIABLE) return false; // as on an H200: access is to what was allocated
    if (a->reached_by >> device & 1) return true;
    return a->pooled ? pool_reaches(a, device) : peer_enabled(device, a->device);
}

// Does a copy from one device's memory to another's go over the link? Where one of the two may
// reach the other; else it goes down to the host and up again.
bool peer_linked(u32 from, u32 to);

// How long so many bytes take, in seconds.
double peer_copy_seconds(u32 from, u32 to, u64 bytes);

// The kernel has moved so many bytes into and out of its device over the link, by an instruction
// with that tally.
struct Tally;
struct Grid;
void peer_moves(const struct Grid *, struct Tally *, u64 in, u64 out);

// How long its accesses to other devices' memory keep the link busy, in seconds.
double peer_kernel_seconds(const struct Grid *);

// What went over the links for the kernel; returns how many there are, at most 2 * MOST_DEVICES.
u32 peer_links(const struct Grid *, LinkReport links[]);
