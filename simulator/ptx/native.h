// What a kernel's native code tells that its PTX cannot.
#pragma once
#include "program/kernel.h"

// What ptxas gave each thread of `kernel` (its mangled name) in a native image.
typedef struct NativeThread {
    u32 registers, local_bytes;
} NativeThread;

// False: there is no native code of this kernel.
bool native_thread(const void *image, size_t bytes, const char *kernel, NativeThread *to);

// False: there is no native code of this kernel.
bool native_code(const void *image, size_t bytes, const char *kernel, NativeCode *to);
