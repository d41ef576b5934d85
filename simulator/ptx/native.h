// What a kernel's native code tells that its PTX cannot.
#pragma once
#include "base.h"

// What ptxas gave each thread of `kernel` (its mangled name) in a native image.
typedef struct NativeThread {
    u32 registers, local_bytes;
} NativeThread;

// False: there is no native code of this kernel.
bool native_thread(const void *image, size_t bytes, const char *kernel, NativeThread *to);

// Instructions for a memory in a kernel's native code, by how much a lane moves: up to 4 bytes, 8
// and 16.
typedef struct NativeAccesses {
    u32 loads[3], stores[3];
} NativeAccesses;
static inline u32 native_count(const u32 by_width[3])
{
    return by_width[0] + by_width[1] + by_width[2];
}

// Of shared memory ptxas joins accesses to neighbouring words, where it can tell that they are
// aligned; in local memory it keeps what it has no registers for.
typedef struct NativeCode {
    NativeAccesses shared, local;
} NativeCode;

// False: there is no native code of this kernel.
bool native_code(const void *image, size_t bytes, const char *kernel, NativeCode *to);
