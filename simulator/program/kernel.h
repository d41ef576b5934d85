// A decoded kernel: tables that the executor walks.
#pragma once
#include "base/base.h"

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

// Instructions for a memory in a kernel's native code, by how much a lane moves: up to 4 bytes, 8
// and 16.
typedef struct NativeAccesses {
    u32 loads[3], stores[3];
} NativeAccesses;
static inline u32 native_count(const u32 by_width[3])
{
    return by_width[0] + by_width[1] + by_width[2];
}

// Of shared memory ptxas joins accesses to neighbouring words, where it can tell that they are
// aligned; in local memory it keeps what it has no registers for.
typedef struct NativeCode {
    NativeAccesses shared, local;
} NativeCode;

enum { KERNEL_SLOTS = 2 };

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
    bool grid_in_clusters;    // .blocksareclusters: a launch's grid is so many clusters
    bool has_cluster_barrier; // it uses the cluster's barrier
    u32 register_bytes;       // of one warp's register file, constants included
    u32 registers;            // virtual registers that it names
    u32 hardware_registers;   // that ptxas gave each thread,
    u32 hardware_local;       // and bytes of local memory,
    bool registers_known;     // as its native image says; else a guess
    bool native_known;        // there is native code,
    NativeCode native;        // with these accesses to shared and local memory
    bool local_in_registers;  // ptxas keeps there what the PTX has in local memory
    Insn *code;
    u32 code_count;
    u32 pattern_count;   // memory instructions
    Location *locations; // of each distinct .loc, shared by the module
    Function *functions; // that it may call, and that those may call
    u32 function_count;
    CallSite *calls;
    u32 call_count;
    u32 frames_at;              // byte of local memory at which the frames of functions begin
    u32 frame_bytes;            // one of each
    bool stack_grows;           // beyond that: a function may call itself
    struct Constant *constants; // rows of the register file that never change
    u32 constant_count;
    u8 shared_granule;      // bytes: the narrowest access to shared memory that its code may make
    u8 padding[ALIGNMENTS]; // the most bytes that its stores leave out to align a member, by that
                            // (memory/memory.h)
    bool bound;             // its instructions have their handlers (machine/handlers.h)
    bool invariant_known;   // lasting.c has counted
    u32 invariant_count;    // instructions whose result lasts
    bool sets_order;        // it has a fence, or an access that acquires or releases
    bool told_of_clock;     // polling.c: what its clocks count
    bool known_communication,
        communicates;         // whether a block may see what others do, once that is known
    void *kept[KERNEL_SLOTS]; // what observers have worked out of the code, a slot each: free()d
                              // with it
    u32 failures;             // launches whose blocks did, all the same
    char *unsupported;        // why it cannot run here, or NULL
    u32 unsupported_at;       // index into locations, or ~0u
    struct Kernel *next;
} Kernel;

// One of CUB's or Thrust's own, in which who calls it can mend nothing.
bool kernel_is_nvidias(const Kernel *kernel);

// Can its blocks communicate, as far as its instructions tell? Worked out once.
bool kernel_communicates(Kernel *kernel);
