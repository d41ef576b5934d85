// L2 and DRAM: what happens to accesses that miss in L1.
#pragma once
#include "cache.h"
#include "caches.h"
#include "line_access.h"

// The bytes that were sent to DRAM, or requested from it, in each recent span of `span` look-ups.
enum { SPANS = 64 };
typedef struct InFlight {
    u64 span, bytes[SPANS];
} InFlight;

// A launch, as L2 sees it.
typedef struct L2Launch {
    u32 device;
    u64 number; // counts launches
    u32 turn;   // of its SMs: those who ask in turns close by do so at about the same time
    Traffic traffic;
    InFlight whole, parts;   // whole lines, and lines that stores wrote in part
    InFlight fetched;        // the missing rest of the latter, when it was requested
    CacheTally *cache_tally; // of each instruction
} L2Launch;

void l2_start(L2Launch *l); // before its first access
void l2_access(L2Launch *l, LineAccess n,
               u32 partition); // by an SM near that partition; the access may be queued
void l2_coalesced(L2Launch *l, LineAccess n); // a read that an SM of the same GPC asked for
void l2_under_way(
    const L2Launch *l, double seconds, u64 *fetched,
    u64 *written);    // bytes in flight from and to DRAM when a kernel of that duration ends
void l2_finish(void); // completes the launch's queued accesses
void l2_written(u32 device, u64 number, u32 sectors); // by a copy or a fill
