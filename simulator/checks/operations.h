// The launches, copies and fills that may still race with others, and the order between them.
#pragma once
#include "causality.h"
#include "memory/memory.h"
#include "shadow.h"
#include "slots.h"
#include "streams/stream_order.h"

// A launch, or a copy or fill that the host commands.
typedef struct Operation {
    u64 number;           // among those of the streams (clock.h)
    const Kernel *kernel; // NULL: a copy or fill
    u32 device;           // of a launch,
    bool communicates;    // its blocks may synchronise, by flags or atomics
    u32 first_block;      // its blocks' numbers among those of all remembered launches begin here
                          // (causality.h)
    u64 blocks;
    Order before;                      // the operations before it in stream order
    u32 ordered_after;                 // cache of operation_before(): an operation before it
    VectorClock clock;                 // joined from its blocks that have ended
    u32 grid[3], block[3], cluster[3]; // cluster: {1,1,1} where there are none
    char call[48];                     // "cudaMemcpyAsync"
    u64 callers[MEMORY_CALLERS];       // of that call: host return addresses
} Operation;

extern Operation *operations; // Site.operation is the index; 0: none
extern u32 operation_count;   // from 1 on

// Records a copy of it, fills in `first_block` and `before`, and returns its index.
u32 operation_add(const Operation *);
void operations_forget(void);

// What a kernel's code may do beside meeting at the block's full barriers.
typedef struct KernelOrder {
    bool synchronises;         // acquire or release, or meet at the cluster's barrier
    bool has_partial_barriers; // meet at a barrier of some warps, or after others have exited
    bool swaps;                // compare and swap
} KernelOrder;

void operation_classify_kernel(Kernel *); // fills it in, once
static inline const KernelOrder *kernel_order(const Kernel *k) { return k->kept[KERNEL_ORDER]; }

// Does the earlier one come before the other by stream order?
bool operation_before(u32 earlier, u32 operation);

// Does an access of another operation come before what a warp of this operation does now, by stream
// order or by flags? Clocks NULL: does it come before everything that the operation does?
bool operation_clock_covers(u32 operation, const BlockClocks *, u32 warp, const Site *);

// The number of the site's block among those of all remembered launches.
static inline u32 operation_block(const Site *s)
{
    return operations[s->operation].first_block + s->block;
}
