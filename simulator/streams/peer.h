// Peer access: which devices can access whose memory.
#pragma once
#include "pooled.h"

// Lets kernels on device `from` access the memory of device `to`, or ends that. False: no change.
bool peer_enable(u32 from, u32 to);
bool peer_disable(u32 from, u32 to);
void peer_reset(u32 device); // ends its access to others, and theirs to it
bool peer_enabled(u32 from, u32 to);

// Device `from` may access another process's memory on device `to` through an opened handle.
void peer_open(u32 from, u32 to);

// May a kernel on that device access the allocation? Every device may access managed and pinned
// memory.
static inline bool peer_is_private(const Allocation *a)
{
    return a->kind != MEMORY_MANAGED && a->kind != MEMORY_PINNED_HOST;
}
static inline bool peer_reaches(u32 device, const Allocation *a)
{
    if (a->device == device || !peer_is_private(a)) return true;
    if (a->kind == MEMORY_VARIABLE) return false; // as on an H200: access is to allocations only
    if (a->reached_by >> device & 1) return true;
    return a->pooled ? pooled_reaches(a, device) : peer_enabled(device, a->device);
}

// Does a copy between the two devices go over the link? It does if one of them may access the
// other; otherwise it goes through the host.
bool peer_linked(u32 from, u32 to);
bool peer_reaches_any(u32 device); // may it access any other device's memory?
