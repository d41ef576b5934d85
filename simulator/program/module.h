// A module: kernels that were decoded together.
#pragma once
#include "kernel.h"

// The addresses of functions, as programs see them: FUNCTION_BASE + FUNCTION_BYTES * number.
#define FUNCTION_BASE 0x120000000000ull
enum { FUNCTION_BYTES = 16 };
#define KERNEL_BASE 0x130000000000ull // the addresses of kernels that kernels launch

// A kernel whose address is taken by code.
typedef struct Named {
    const char *name;
    u32 number;
    struct Named *next;
} Named;

struct Module {
    u32 device;
    u32 constant_bytes; // of all its __constant__ variables
    Kernel *kernels;    // the first; follow `next`
    Named *named;       // kernels whose address is taken, the latest first
    u32 named_count;
};

// The entry of that mangled name; NULL: none.
Kernel *module_kernel(const Module *module, const char *name);

Kernel *module_kernel_at(const Module *module,
                         u64 address); // by its address in kernels; NULL: none
