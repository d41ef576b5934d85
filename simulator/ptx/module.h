// A module: PTX text decoded once into tables that the executor walks.
#pragma once
#include "base.h"
#include "native.h"

typedef struct Module Module;
typedef struct Insn Insn;
typedef struct Warp Warp;

typedef struct Location { // a place in the student's source
    const char *file;
    u32 line; // 0: the compiler gave none
    u32 column;
    const char *function; // NULL, or the function that was inlined here
    s32 inlined_at;       // index of the place it was inlined at, or -1
} Location;

// A row of registers, or `count` rows of one width.
typedef struct RowRange {
    u32 row, width, count;
    struct RowRange *next;
} RowRange;

// A parameter or a result: lane after lane, `bytes` each.
typedef struct Passed {
    u32 row, bytes;
} Passed;

// A variable in local memory: where in the function's frame, and the row that holds its address
// during a call.
typedef struct FrameVariable {
    u32 row, width;
    u64 offset;
    struct FrameVariable *next;
} FrameVariable;

// A function that was not inlined, in the kernel that calls it.
typedef struct Function {
    const char *name;
    u32 number; // in the module
    u32 entry;  // its first instruction
    u32 param_count;
    Passed *params, result; // result.row 0: none
    u32 frame_bytes;        // local memory of one call
    FrameVariable *variables;
    RowRange *rows; // what a call of itself must not change
} Function;

typedef struct CallSite {
    u32 function; // index into the kernel's functions; ~0u: `address` says which
    u32 address;  // row
    u32 param_count;
    Passed *params, result;
} CallSite;

typedef struct Kernel {
    const char *name; // mangled, as in the PTX
    char *signature;  // demangled
    Module *module;
    u32 param_count;
    u32 *param_offset, *param_size; // bytes, in the parameter block
    u32 param_bytes;
    u32 shared_bytes;   // static shared memory
    bool asks_reserved; // it uses the shared memory that is the system's
    u32 local_bytes;    // for each thread
    u32 max_threads;    // .maxntid, or 1024
    u32 cluster[3];     // .reqnctapercluster: blocks of its clusters; 0: the launch says how many
    u32 max_cluster;    // .maxclusterrank: at most so many blocks; 0: it does not say
    bool clustered;     // .explicitcluster: it has clusters, whoever launches it
    bool grid_in_clusters;   // .blocksareclusters: a launch's grid is so many clusters
    bool meets_cluster;      // it uses the cluster's barrier
    u32 register_bytes;      // of one warp's register file, constants included
    u32 registers;           // virtual registers that it names
    u32 hardware_registers;  // that ptxas gave each thread,
    u32 hardware_local;      // and bytes of local memory,
    bool registers_known;    // as its native image says; else a guess
    bool native_known;       // there is native code,
    NativeCode native;       // with these accesses to shared and local memory
    bool local_in_registers; // ptxas keeps there what the PTX has in local memory
    Insn *code;
    u32 code_count;
    u32 shape_count;     // memory instructions
    Location *locations; // of each distinct .loc, shared by the module
    Function *functions; // that it may call, and that those may call
    u32 function_count;
    CallSite *calls;
    u32 call_count;
    struct Op *ops;   // what the hardware makes of the code (op.h), once somebody has asked
    u32 frames_at;    // byte of local memory at which the frames of functions begin
    u32 frame_bytes;  // one of each
    bool stack_grows; // beyond that: a function may call itself
    struct Constant *constants; // rows of the register file that never change
    u32 constant_count;
    u8 shared_granule;      // bytes: the narrowest access to shared memory that its code may make
    u8 padding[ALIGNMENTS]; // the most bytes that its stores leave out to align a member, by that
                            // (machine/memory.h)
    bool lasting_known;     // lasting.c has counted
    u32 lasting_count;      // instructions whose result lasts
    bool sets_order;        // it has a fence, or an access that acquires or releases
    bool told_of_clock;     // waits.c: what its clocks count
    bool known_alone,
        sees_others; // spread.c: whether a block may see what others do, once that is known
    bool known_order, hears,
        meets_some; // checks/operations.c: whether warps may hear of others, or others of them, but
                    // at the block's barrier, or at one for some of the block, or that some have
                    // left for good; once known
    u32 failures;   // launches whose blocks did, all the same
    char *unsupported;  // why it cannot run here, or NULL
    u32 unsupported_at; // index into locations, or ~0u
    struct Kernel *next;
} Kernel;

// Decodes PTX texts (NULL ends them) for a device and links them. `twin`: the same for another
// device, whose managed variables are this one's too, or NULL. NULL: *error (the caller's to free)
// says what and where.
Module *module_load(char *const *texts, u32 device, const Module *twin, char **error);

u32 module_device(const Module *module);
u32 module_constant_bytes(const Module *module); // of all its __constant__ variables

// Frees it with its kernels and variables.
void module_unload(Module *module);

// The entry of that (mangled) name; NULL if there is none.
Kernel *module_kernel(Module *module, const char *name);

// One of CUB's or Thrust's own, in which who calls it can mend nothing.
bool kernel_is_nvidias(const Kernel *kernel);
Kernel *module_kernels(Module *module);                // the first; follow `next`
Kernel *module_kernel_at(Module *module, u64 address); // as kernels know it; NULL: there is none

// Where a __device__ or __constant__ variable lies, and its bytes. False: there is none of that
// name.
bool module_variable(Module *module, const char *name, u64 *address, u64 *size);
