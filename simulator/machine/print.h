// The functions that a kernel may call without defining them: printf, assert, malloc and free, and
// launches.
#pragma once
#include "warp.h"
#include "wire/wire.h"

// By their numbers (program/system_functions.h).
extern void (*const print_functions[])(Warp *, const Insn *, u32 mask);

// What kernels have printed there since the last call: *bytes of text, which the caller frees.
// NULL: nothing.
char *print_take(enum wire_printed to, size_t *bytes);

// Has any kernel printed? Then the size of the buffer can no longer change.
bool print_used(void);
