// A decoded kernel: the tables that the executor runs.
#pragma once
#include "native.h"

typedef struct Module Module;
typedef struct Insn Insn;
typedef struct Warp Warp;

typedef struct Location { // a place in the student's source
    const char *file;
    u32 line; // 0: the compiler recorded none
    u32 column;
    const char *function; // the function that was inlined here, or NULL
    s32 inlined_at;       // index of the place where it was inlined, or -1
} Location;

// One register row, or `count` rows of one width.
typedef struct RowRange {
    u32 row, width, count;
    struct RowRange *next;
} RowRange;

// A parameter or a result: `bytes` of each lane in turn.
typedef struct Passed {
    u32 row, bytes;
} Passed;

// A variable in local memory: its place in the function's frame, and the row that holds its address
// during a call.
typedef struct FrameVariable {
    u32 row, width;
    u64 offset;
    struct FrameVariable *next;
} FrameVariable;

// A function that was not inlined, in a kernel that calls it.
typedef struct Function {
    const char *name;
    u32 number; // in the module
    u32 entry;  // its first instruction
    u32 param_count;
    Passed *params, result; // result.row 0: none
    u32 frame_bytes;        // local memory of one call
    FrameVariable *variables;
    RowRange *rows; // that a recursive call must preserve
} Function;

typedef struct CallSite {
    u32 function; // index into the kernel's functions; ~0u: see `address`
    u32 address;  // row that holds the function's address
    u32 param_count;
    Passed *params, result;
} CallSite;

enum { KERNEL_SLOTS = 2 };

typedef struct Kernel {
    const char *name; // mangled, as in the PTX
    char *signature;  // demangled
    Module *module;
    u32 param_count;
    u32 *param_offset, *param_size; // bytes, in the parameter block
    u32 param_bytes;
    u32 shared_bytes;         // static shared memory
    bool asks_reserved;       // it uses the system's part of shared memory
    u32 local_bytes;          // for each thread
    u32 max_threads;          // .maxntid, or 1024
    u32 cluster[3];           // .reqnctapercluster: the blocks of a cluster; 0: the launch decides
    u32 max_cluster;          // .maxclusterrank: the most blocks of a cluster; 0: unspecified
    bool clustered;           // .explicitcluster: it is always launched with clusters
    bool grid_in_clusters;    // .blocksareclusters: the launch's grid counts clusters
    bool has_cluster_barrier; // it uses the cluster's barrier
    u32 register_bytes;       // of one warp's register file, constants included
    u32 registers;            // virtual registers in the PTX
    u32 hardware_registers;   // that ptxas allocated to each thread,
    u32 hardware_local;       // and bytes of local memory,
    bool registers_known;     // as the native image says; otherwise an estimate
    bool native_known;        // there is native code,
    NativeCode native;        // this, as long as the module is loaded
    bool local_in_registers;  // ptxas keeps the PTX's local memory in registers
    Insn *code;
    u32 code_count;
    u32 pattern_count;   // memory instructions
    Location *locations; // of each distinct .loc, shared by the module
    Function *functions; // the functions that it may call, directly or not
    u32 function_count;
    CallSite *calls;
    u32 call_count;
    u32 frames_at;              // byte of local memory at which functions' frames begin
    u32 frame_bytes;            // of one frame of each function
    bool stack_grows;           // more is needed, because a function may call itself
    struct Constant *constants; // register rows that never change
    u32 constant_count;
    u8 shared_granule;      // bytes: the narrowest possible access to shared memory
    u8 padding[ALIGNMENTS]; // the most bytes that its stores skip before a member of each alignment
                            // (memory/memory.h)
    bool bound;             // its instructions have their handlers (machine/handlers.h)
    bool invariant_known;   // invariant.c has found them
    u32 invariant_count;    // block-invariant instructions
    bool sets_order;        // it has a fence, an acquire or a release
    bool told_of_clock;     // polling.c has told the user what clocks count
    bool known_communication,
        communicates;         // its blocks may communicate; known_communication: this was computed
    void *kept[KERNEL_SLOTS]; // the observers' data about the code, a slot each, freed with the
                              // kernel
    u32 failures;             // launches whose shards had to be rolled back too often
    char *unsupported;        // why it cannot run here, or NULL
    u32 unsupported_at;       // index into locations, or ~0u
    struct Kernel *next;
} Kernel;

// Is it a kernel of CUB's or Thrust's, which the program's author cannot change?
bool kernel_is_nvidias(const Kernel *kernel);

// Can its blocks communicate, as far as its instructions tell? Computed once.
bool kernel_communicates(Kernel *kernel);
