// The functions that a kernel may call without bringing them along: printf, assert, malloc and
// free, and launches.
#pragma once
#include "warp.h"

// By their numbers (program/system_functions.h).
extern void (*const print_functions[])(Warp *, const Insn *, u32 mask);

// What kernels have printed since the last call: *bytes of text, the caller's to free; NULL if
// nothing.
char *print_take(size_t *bytes);

// Has a kernel printed, on any device? Then there is no changing how much may be kept.
bool print_used(void);
