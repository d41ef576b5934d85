// Peer access: for each device, a bit for each other device whose memory it can access.
#include "peer.h"

static u32 reach[MOST_DEVICES];  // bit d: it can access device d
static u32 opened[MOST_DEVICES]; // bit d: it can access memory of other processes on device d

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

bool peer_reaches_any(u32 device) { return reach[device] | opened[device]; }

bool peer_linked(u32 from, u32 to)
{
    return (reach[from] | opened[from]) >> to & 1 || (reach[to] | opened[to]) >> from & 1;
}
