// What asynchronous copies (cp.async) take of L1 and of shared memory's banks, which hangs on where
// they come from and where they go.
#pragma once
#include "machine/observer.h"
#include "isa/tensor.h"

// A part of a copy past L1.
static inline bool access_is_async_past_l1(const Access *a)
{
    return a->insn->op == ISA_copy && a->insn->matrix->past_l1 && a->bytes == 16;
}

// Of such a part's source: lines of the caches and 32-byte sectors, as ncu counts them.
void async_copy_count(const Access *a, u32 *lines, u32 *sectors);

// Of a copy's part in shared memory: passes over the banks, and how many of them conflicts cost,
// or, past L1, that what goes from one line to one other takes several. Where there are some of
// those, all this is near to what an H200 counts, and else equal.
u32 async_copy_wavefronts(const Access *a, u32 *conflicts);
