// The functions that a kernel may call without bringing them along: printf, assert, malloc and
// free, and launches.
#pragma once
#include "warp.h"

typedef struct PrintFunction {
    const char *name; // as the PTX declares it
    u32 params; // parameters, each in rows of registers: insn->a, b, c, vector[0], ..., vector[3]
    void (*run)(Warp *, const Insn *, u32 mask);
} PrintFunction;

extern const PrintFunction print_functions[];
extern const u32 print_function_count;

// What kernels have printed since the last call: *bytes of text, the caller's to free; NULL if
// nothing.
char *print_take(size_t *bytes);

// Has a kernel printed, on any device? Then there is no changing how much may be kept.
bool print_used(void);
