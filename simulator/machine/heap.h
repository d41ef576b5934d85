// malloc and free in kernels: a device's heap.
#pragma once
#include "memory/memory.h"
#include "warp.h"

// Sets cudaLimitMallocHeapSize. False: kernels have used the heap already.
bool heap_set_limit(u32 device, u64 bytes);

// Reports what kernels have allocated on a device and not freed; frees it with the rest of the
// device.
void heap_leaks(u32 of);
void heap_free_all(u32 of);

// The first time that a malloc, which is this instruction, returned null: how many bytes it was
// asked for, and how many its heap has.
typedef struct HeapFailure {
    const Insn *insn;
    Place place;
    u64 wanted, heap;
} HeapFailure;

// On that device; `malloc` NULL: of any. NULL: never.
const HeapFailure *heap_failure(u32 device, const Insn *malloc);

// The device functions, as in print_functions.
void run_malloc(Warp *, const Insn *, u32 mask);
void run_aligned_malloc(Warp *, const Insn *,
                        u32 mask); // __nv_aligned_device_malloc, and new of overaligned types
void run_free(Warp *, const Insn *, u32 mask);
void run_malloc_by_kernel(Warp *, const Insn *, u32 mask);
void run_free_by_kernel(Warp *, const Insn *, u32 mask);
