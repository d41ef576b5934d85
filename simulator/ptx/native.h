// What a kernel's native code tells that its PTX cannot.
#pragma once
#include "base.h"

// The registers that ptxas gave each thread of `kernel` (its mangled name) in a native image.
// 0: unknown.
u32 native_registers(const void *image, size_t bytes, const char *kernel);
