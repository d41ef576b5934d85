// Which native code stands for which PTX: both as runs, and their alignment.
#pragma once
#include "op.h"

// What runs have in common. Those before EXACT in the same number, the units in about the same.
enum feature {
    GLOBAL_LOADS,
    GLOBAL_STORES,
    SHARED_LOADS,
    SHARED_STORES,
    LOCAL_LOADS,
    LOCAL_STORES,
    SHUFFLES,
    TENSOR,
    EXACT,
    XU = EXACT,
    FP64,
    UNITS_END,
    CONSTANT_LOADS = UNITS_END, // in any number: ptxas makes operands of them
    FEATURES,
    NO_FEATURE = FEATURES
};

// Instructions from one branch, barrier or atomic to the next, in the PTX or in the native code.
typedef struct Run {
    u32 first, end;
    bool loops; // ends with a branch to its own beginning
    bool taken; // it is aligned
    u8 last;    // enum op_kind of its end; OP_PLAIN: it ends because another one begins
    u32 branched_first, branched_last; // the branches to it; first > last: there are none
    float count[FEATURES], slots;
} Run;

typedef struct Runs {
    Run *run;
    u32 count;
} Runs;

// Two runs that stand for each other.
typedef struct Pair {
    u32 ptx, native; // numbers of runs; of the PTX's the first
    u32 joined;      // runs of the PTX that ptxas made one
    u32 copies;      // times that the PTX's is executed in the native one: a loop is unrolled
} Pair;

enum feature native_feature_of(const Kernel *k, const Op *op);
enum feature native_feature(const NativeInsn *i);

// What an instruction is if it ends a run; OP_PLAIN: it does not.
enum op_kind native_end(const NativeInsn *i);

Runs native_runs_of_ptx(const Kernel *k, const Op *ops);
Runs native_runs_of_code(const NativeInsn *code, u32 count);

// The run of several in a row, of which ptxas may have replaced the branches between them by
// predicates: they all lead forwards, and not beyond the last, and none comes from elsewhere.
// False: it may not.
bool native_join(const Kernel *k, const Runs *ptx, u32 first, u32 last, Run *joined);

// The pairs, malloc'ed, and how many. NULL: there are too many runs, or no memory.
Pair *native_align(const Kernel *k, Runs *ptx, Runs *native, u32 *count);
