// Facts about a kernel that its native code shows and its PTX does not.
#pragma once
#include "program/kernel.h"

// The registers and local memory that ptxas allocated to each thread of `kernel`, a mangled name,
// in a native image.
typedef struct NativeThread {
    u32 registers, local_bytes;
} NativeThread;

// False: the image has no code of this kernel.
bool native_thread(const void *image, size_t bytes, const char *kernel, NativeThread *to);

// Where the image, which is to stay, has the kernel's code. False: it has none of it.
bool native_code(const void *image, size_t bytes, const char *kernel, NativeCode *to);

// The instruction with that number. What native.def lacks counts as one of the ALU.
NativeInsn native_insn(const NativeCode *code, u32 number);
