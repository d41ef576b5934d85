// The time model: one SM replays its blocks' instructions against clocks.
#pragma once
#include "counts.h"
#include "trace.h"

enum { SCHEDULERS = 4 }; // of an SM

typedef struct DeviceLoad { // what the whole device does in the launch, of which an SM has a share
    const Counts *counts;   // of each instruction: its hits and misses
    u32 active_sms;
    u32 resident;           // blocks that an SM holds at once
    u64 l1_bytes;           // of the SM, without shared memory
    double bytes_per_store; // that DRAM writes for each stored sector
    double cost_per_store;  // bytes that DRAM could have moved while it completed that sector
} DeviceLoad;

typedef struct Replay {
    double clocks; // from the start of the first block to the end of the last one in the trace
    double warps;  // that the SM held meanwhile, on average
    double memory, issue,
        atomics;   // clocks for which the busiest part was busy: of L1, the way to L2 and DRAM; of
                   // the schedulers and their units; and with atomics
    double l1, l2; // of L1, and of the way to L2 or from it, whichever was busier
} Replay;

// `registers`: register rows of the kernel, each of 64 bytes.
Replay replay_blocks(const Trace *trace, const DeviceLoad *load, u32 registers);
