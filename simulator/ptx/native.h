// What a kernel's native code tells that its PTX cannot.
#pragma once
#include "base.h"

// What ptxas gave each thread of `kernel` (its mangled name) in a native image.
typedef struct NativeThread { u32 registers, local_bytes; } NativeThread;

// False: there is no native code of this kernel.
bool native_thread(const void *image, size_t bytes, const char *kernel, NativeThread *to);

// Instructions for shared memory in a kernel's native code, by how much a lane moves: up to 4 bytes, 8 and 16. ptxas joins
// accesses to neighbouring words, where it can tell that they are aligned.
typedef struct NativeShared { u32 loads[3], stores[3]; } NativeShared;

// False: there is no native code of this kernel.
bool native_shared(const void *image, size_t bytes, const char *kernel, NativeShared *to);
