// What a launch's accesses find in L1 and L2, and what is left for DRAM.
#pragma once
#include "machine/observer.h"

// Sums over a launch. Sectors are of 32 bytes; DRAM moves whole granules
// (Profile.dram_granule_bytes).
typedef struct Traffic {
    u64 l2_reads, l2_writes, l2_atomics,
        l2_reductions;           // sectors that L2's partitions looked up for L1s
    u64 l2_hits, l2_misses;      // of those
    u64 dram_read, dram_written; // bytes
    u64 filled;          // of those read: the rest of sectors of which stores brought a part
    u64 partial_written; // of those written: such sectors, where they lie in places of their own
    double partial_cost; // bytes that DRAM could have moved while it saw to these
} Traffic;

// What the replay finds of an instruction's accesses: it goes into the launch's counts when that
// has ended.
typedef struct CacheTally {
    u64 hits, local_hits, l2_misses, dram_sectors;
} CacheTally;

// What ptxas keeps in local memory, which the PTX has none of: each warp is taken to store it once,
// before what it does behind the block's last barrier, and to load it once behind that.
// Instructions, and the words of a lane that they move.
typedef struct Spills {
    u32 stores, loads, words_stored, words_loaded;
} Spills;
Spills caches_spills(const Kernel *k);

// Of the launch that has ended: valid in its grid_end, after caches_observer's.
const Traffic *caches_traffic(void);
CacheTally caches_spilled(bool stores); // what was found of them

// Of the bytes fetched and written: those that are still on their way when the kernel ends, which
// took so long.
void caches_under_way(double seconds, u64 *fetched, u64 *written);

u32 caches_resident(void); // blocks that shared an SM, at most
u32 caches_carveout(void); // bytes that shared memory had of L1

// A copy or a fill has written this range of a device's memory: it lies in L2, as much as fits.
void caches_written(u64 address, u64 bytes);
