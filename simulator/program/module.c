// Kernels are found by name: a module has few.
#include <string.h>

#include "module.h"

Kernel *module_kernel(const Module *m, const char *name)
{
    Kernel *k = m->kernels;
    while (k && strcmp(k->name, name)) k = k->next;
    return k;
}

Kernel *module_kernel_at(const Module *m, u64 address)
{
    const Named *n = m->named;
    while (n && KERNEL_BASE + FUNCTION_BYTES * (u64)n->number != address) n = n->next;
    return n ? module_kernel(m, n->name) : NULL;
}
