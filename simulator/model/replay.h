// The model of time: one SM goes through what its blocks did once more, now with clocks.
#pragma once
#include "counts.h"
#include "trace.h"

typedef struct DeviceLoad { // what the whole device does in the launch, for an SM's share of what
                            // they
                            // have in common
    const Counts *counts;   // of each instruction: what it found in the caches
    u32 active_sms;
    u32 resident;           // blocks that an SM holds at a time
    u64 l1_bytes;           // of the SM, beside shared memory
    double bytes_per_store; // that DRAM writes for each sector stored
    double cost_per_store;  // and what completing sectors costs it, in bytes, while L2 waits
} DeviceLoad;

typedef struct Replay {
    double clocks; // from the launch of the first block to the end of the last that the trace has
    double warps;  // that the SM held in them, on average
} Replay;

// `registers`: rows / 64 of the kernel's register file.
Replay replay_blocks(const Trace *trace, const DeviceLoad *load, u32 registers);
