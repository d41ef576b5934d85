// The pipes of an SM of compute capability 9.0, and what goes to each: Nsight Compute's guide
// ("Pipelines"), and the throughput table of the CUDA C++ Programming Guide ("Arithmetic
// Instructions"), whose rates tell the units apart.
#include "pipe.h"
#include "machine/handlers.h"
#include <string.h>

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool begins_with_one(const char *name, const char *const *prefixes)
{
    while (*prefixes && !begins(name, *prefixes)) prefixes++;
    return *prefixes != NULL;
}

static bool is_floating(enum type t)
{
    return t == TYPE_f32 || t == TYPE_f64 || (t >= TYPE_f16 && t <= TYPE_bf16x2);
}

// Between integers a conversion is a choice of bytes; to, from and among floats it takes the XU,
// halves aside.
static enum pipe conversion(const IsaRow *row)
{
    bool from = is_floating(row->type[1]), to = is_floating(row->type[0]);
    if (!from && !to) return PIPE_ALU;
    return from && to && row->type[0] != TYPE_f64 && row->type[1] != TYPE_f64 ? PIPE_ALU : PIPE_XU;
}

static enum pipe arithmetic(const IsaRow *row)
{
    static const char *const xu[] = { "rcp",  "sqrt", "rsqrt", "ex2",   "lg2", "sin", "cos", "tanh",
                                      "popc", "clz",  "brev",  "bfind", "div", "rem", NULL };
    static const char *const alu[] = { "mov", "setp",     "selp",  "slct", "min",
                                       "max", "copysign", "testp", NULL };
    static const char *const products[] = { "mul", "mad", "dp4a", "dp2a", NULL };
    enum type type = row->type[0] == TYPE_pred ? row->type[1] : row->type[0];
    if (begins_with_one(row->name, xu)) return PIPE_XU;
    if (type == TYPE_f64 && !begins(row->name, "mov") && !begins(row->name, "selp"))
        return PIPE_FP64;
    if (begins_with_one(row->name, alu)) return PIPE_ALU;
    return is_floating(type) || begins_with_one(row->name, products) ? PIPE_FMA : PIPE_ALU;
}

enum pipe row_pipe(const IsaRow *row)
{
    static const char *const memory[] = { "prefetch", "applypriority", "discard", "fence", NULL };
    static const char *const stack[] = { "alloca", "stack", "createpolicy", NULL };
    switch (row->shape) {
    case MEMORY: return row->space == SPACE_PARAM ? PIPE_ADU : PIPE_LSU;
    case ATOMIC:
    case FENCE: return PIPE_LSU;
    case EXCHANGE:
        return begins(row->name, "shfl")  ? PIPE_LSU
             : begins(row->name, "redux") ? PIPE_XU
             : begins(row->name, "bar")   ? PIPE_CBU
                                          : PIPE_ALU;
    case FLOW:
        return begins(row->name, "bar") || begins(row->name, "mbarrier") ? PIPE_ADU
             : begins_with_one(row->name, memory)                        ? PIPE_LSU
             : begins_with_one(row->name, stack)                         ? PIPE_ALU
                                                                         : PIPE_CBU;
    case MATRIX:
        return row->run == run_bulk || row->run == run_bulk_commit       ? PIPE_TMA
             : begins(row->name, "mma") || begins(row->name, "wmma_mma") ? PIPE_TENSOR
                                                                         : PIPE_LSU;
    case CONVERT: return conversion(row);
    default: return arithmetic(row);
    }
}
