// The launches, copies and fills whose order with others is asked for, and which of them comes
// before what.
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
    bool communicates;    // whose blocks may see one another, by flags or atomics
    u32 first_block;      // its blocks' numbers among those of all launches that are remembered
                          // (causality.h)
    u64 blocks;
    Order before;                      // what lies before its beginning by stream order
    u32 ordered_after;                 // the operation that was last found to come before it
    VectorClock clock;                 // what flags have told the blocks of it that have ended
    u32 grid[3], block[3], cluster[3]; // cluster: {1,1,1} where there are none
    char call[48];                     // "cudaMemcpyAsync"
    u64 callers[MEMORY_CALLERS];       // of that call: host return addresses
} Operation;

extern Operation *operations; // Site.operation is the index; 0: none
extern u32 operation_count;   // from 1 on

// Remembers a copy of it, and works out `first_block` and `before`. Its index.
u32 operation_add(const Operation *);
void operations_forget(void);

// What is known of a kernel's code: whether warps may hear of others, or others of them, but at the
// block's barrier, or at one for some of the block, or that some have left for good.
typedef struct KernelOrder {
    bool synchronises, has_partial_barriers;
} KernelOrder;

void operation_classify_kernel(Kernel *); // works it out, once
static inline const KernelOrder *kernel_order(const Kernel *k) { return k->kept[KERNEL_ORDER]; }

// By stream order.
bool operation_before(u32 earlier, u32 operation);

// Does the access of another operation come before what this one does, or a warp of a block of it:
// by stream order, or by flags that it was told of? The block's order NULL: before all that the
// operation does.
bool operation_clock_covers(u32 operation, const BlockClocks *, u32 warp, const Site *);

// The number of the block that touched it, among those of all launches.
static inline u32 operation_block(const Site *s)
{
    return operations[s->operation].first_block + s->block;
}
