// Peer access: which devices may reach whose memory.
#pragma once
#include "pooled.h"

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
    return a->pooled ? pooled_reaches(a, device) : peer_enabled(device, a->device);
}

// Does a copy from one device's memory to another's go over the link? Where one of the two may
// reach the other; else it goes down to the host and up again.
bool peer_linked(u32 from, u32 to);
bool peer_reaches_any(u32 device); // may it reach memory of any other?
