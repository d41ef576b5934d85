// What asynchronous copies (cp.async) cost in L1 and in shared memory's banks, which depends on
// their sources and destinations.
#pragma once
#include "machine/observer.h"
#include "isa/tensor.h"

// Is the access a part of an asynchronous copy that bypasses L1?
static inline bool access_is_async_past_l1(const Access *a)
{
    return a->insn->op == ISA_copy && a->insn->matrix->past_l1 && a->bytes == 16;
}

// The cache lines and 32-byte sectors of such a part's source, as ncu counts them.
void async_copy_count(const Access *a, u32 *lines, u32 *sectors);

// Wavefronts of a copy's part in shared memory, and those caused by bank conflicts or, past L1, by
// transfers between one line and one other that take several wavefronts. Without such transfers the
// counts equal an H200's; with them they are close.
u32 async_copy_wavefronts(const Access *a, u32 *conflicts);
