// The hits and misses of a launch's accesses in L1 and L2, and the traffic that is left for DRAM.
#pragma once
#include "machine/observer.h"

// Sums over a launch. A sector is 32 bytes; DRAM moves granules (Profile.dram_granule_bytes).
typedef struct Traffic {
    u64 l2_reads, l2_writes, l2_atomics,
        l2_reductions;           // sectors that L2's partitions looked up for L1s
    u64 l2_hits, l2_misses;      // of those
    u64 dram_read, dram_written; // bytes
    u64 filled;                  // bytes read to complete sectors that were stored to in part
    u64 partial_written;         // bytes written of such sectors, where they are kept separately
    double partial_cost;         // bytes that DRAM could have moved instead of handling these
} Traffic;

// What the replay counts for an instruction; added to the launch's counts when it ends.
typedef struct CacheTally {
    u64 hits, local_hits, l2_misses, dram_sectors;
    u64 l2_late; // sectors that DRAM was still fetching for an earlier read
} CacheTally;

// Registers that ptxas spills to local memory, which PTX does not show. Each warp is assumed to
// store them once before the block's last barrier and to load them once after it. In instructions,
// and in words that a lane moves.
typedef struct Spills {
    u32 stores, loads, words_stored, words_loaded;
} Spills;
Spills caches_spills(const Kernel *k);

// Of the launch that has ended: valid in an observer's grid_end after that of caches_observer.
const Traffic *caches_traffic(void);
CacheTally caches_spilled(bool stores); // the counts of the spills' accesses

// Bytes that DRAM still has in flight when a kernel of that duration ends.
void caches_under_way(double seconds, u64 *fetched, u64 *written);

u32 caches_resident(void); // the most blocks that shared an SM
u32 caches_carveout(void); // bytes of L1 that were shared memory

// A copy or fill has written this range of device memory, which then is in L2 as far as it fits.
void caches_written(u64 address, u64 bytes);
