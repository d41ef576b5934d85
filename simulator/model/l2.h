// L2 and DRAM: what becomes of the accesses that no L1 answers.
#pragma once
#include "cache.h"
#include "caches.h"
#include "line_access.h"

// What has left for DRAM, or been asked of it, when: in each of so many spans of `span` look-ups.
enum { SPANS = 64 };
typedef struct InFlight {
    u64 span, bytes[SPANS];
} InFlight;

// A launch, as L2 sees it.
typedef struct L2Launch {
    u32 device;
    u64 number; // of launches so far
    Traffic traffic;
    InFlight whole, parts;   // lines, and those of which stores brought parts
    InFlight fetched;        // what the latter lack: when it was asked for
    CacheTally *cache_tally; // of each instruction
} L2Launch;

void l2_start(L2Launch *l);                               // before its first access
void l2_access(L2Launch *l, LineAccess n, u32 partition); // by an SM of that partition; it may wait
void l2_under_way(
    const L2Launch *l, double seconds, u64 *fetched,
    u64 *written);    // bytes on their way from DRAM, and to it, when it ends, after so long
void l2_finish(void); // no access of the launch waits any more
void l2_written(u32 device, u64 number, u32 sectors); // by a copy or a fill
