// A module: kernels that were decoded together, and what they know one another by.
#pragma once
#include "kernel.h"

// Where functions have their addresses, as far as a program can see them: FUNCTION_BASE +
// FUNCTION_BYTES * number.
#define FUNCTION_BASE 0x120000000000ull
enum { FUNCTION_BYTES = 16 };
#define KERNEL_BASE 0x130000000000ull // and kernels, which other kernels launch

// A kernel whose address some code takes.
typedef struct Named {
    const char *name;
    u32 number;
    struct Named *next;
} Named;

struct Module {
    u32 device;
    u32 constant_bytes; // of all its __constant__ variables
    Kernel *kernels;    // the first; follow `next`
    Named *named;       // kernels that others launch, the latest first
    u32 named_count;
};

// The entry of that (mangled) name; NULL if there is none.
Kernel *module_kernel(const Module *module, const char *name);

Kernel *module_kernel_at(const Module *module, u64 address); // as kernels know it; NULL: none
