// What is asked of a kernel as a whole.
#include <string.h>

#include "instruction.h"
#include "kernel.h"

// By their namespaces.
bool kernel_is_nvidias(const Kernel *k)
{
    return !strncmp(k->name, "_ZN3cub", 7) || !strncmp(k->name, "_ZN6thrust", 10);
}

static bool communicates(const Insn *i)
{
    return i->strong || insn_row(i)->shape == ATOMIC || i->op == ISA_fence || i->op == ISA_call
        || i->op == ISA_clock || i->op == ISA_bulk;
}

bool kernel_communicates(Kernel *k)
{
    for (u32 pc = 0; pc < k->code_count && !k->known_communication; pc++)
        k->communicates |= communicates(&k->code[pc]);
    k->communicates |= k->has_cluster_barrier;
    k->known_communication = true;
    return k->communicates;
}
