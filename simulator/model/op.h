// What the hardware makes of an instruction: issue slots, the executing unit, and the result's
// latency. ptxas translates PTX into the GPU's own instructions; op.c describes the usual
// translation.
#pragma once
#include "coalesce.h"
#include "program/instruction.h"
#include "program/native.h"
#include "program/operands.h"

enum unit {
    UNIT_ALU,
    UNIT_FMA,
    UNIT_HEAVY,   // the half of the FMA pipe that multiplies integers
    UNIT_LITE,    // in native code: the other half,
    UNIT_BOTH,    // and both together
    UNIT_INTEGER, // ALU or HEAVY, whichever is free: ptxas spreads simple integer work over both
    UNIT_FP64,
    UNIT_XU,
    UNIT_LSU,
    UNIT_TENSOR,
    UNIT_ADU,
    UNIT_TMA,
    UNIT_NONE,
    UNITS
};

enum op_kind {
    OP_PLAIN,
    OP_LOAD,
    OP_STORE,
    OP_ATOMIC,
    OP_BARRIER,
    OP_BRANCH,
    OP_COPY,
    OP_COMMIT,
    OP_WAIT, // of cp.async
    OP_ARRIVE,
    OP_BULK,
    OP_BULK_WAIT
}; // OP_ARRIVE: of cp.async at an mbarrier; OP_BULK_WAIT: for the sources of copies in bulk

// A run of instructions for which there is native code.
typedef struct NativeRun {
    u32 end;    // the instruction after the run
    u32 op;     // the first of the native ops, which follow those of the PTX; 0: there are none
    u32 count;  // of native ops
    u32 copies; // times that the run is executed in them: ptxas unrolls loops
} NativeRun;

// What the native instruction itself says.
typedef struct NativeOp {
    bool known;     // this is a native op
    u8 stall;       // clocks until the warp's next instruction may be issued
    u8 waits;       // bit n: for scoreboard n
    s8 sets, frees; // scoreboards, set until its result is there, and its operands are read; below
                    // 0: none
    u8 reads[NATIVE_BANKS], kept[NATIVE_BANKS]; // registers (program/native.h)
    u8 words;                                   // registers that a load fills
    u8 copy; // of the copies in its run, its memory access is that copy's,
    u32 pc;  // of this instruction of the PTX
    u32 run; // the PTX instruction at which its run begins
} NativeOp;

typedef struct Op {
    u8 unit, kind;
    u8 space;     // of memory: enum space
    bool past_l1; // a load that bypasses L1
    u8 read_count, write_count;
    float slots;   // instructions that the scheduler issues; 0: part of another instruction
    float own;     // those of them that the op's unit executes; the others are simple ones
    float busy;    // clocks for which it occupies a tensor unit; in native code, any unit
    s32 groups;    // OP_WAIT: copy groups that may still be in flight; below 0: no copy may be
    float latency; // clocks until its result can be used; of loads in addition to the memory's
    u32 read[OPERANDS_READ], write[OPERANDS_WRITTEN]; // as operands_of() tells
    u32 rank;        // its position within its run of instructions, as ptxas schedules it
    u32 run_end;     // the instruction after that run
    bool ends;       // a branch to the kernel's end
    u32 skips;       // a branch over so few instructions that ptxas predicates them instead
    u32 over;        // of a predicated one: 1 + the branch
    Wide wide;       // the wide access to which it belongs
    u32 wide_number; // the number of that in the kernel
    u32 jumps;       // of a branch within a run that has native code: what it may leave out
    float stall;     // clocks in which a branch keeps its warp from going on
    NativeRun run;   // that begins here
    NativeOp native;
} Op;

// The later parts of a wide access happen with its first.
static inline bool op_is_part(const Op *op) { return op->wide.bytes && !op->wide.leads; }

// The ops of a kernel's instructions and then those of its native code, computed once and kept with
// the kernel. NULL: out of memory.
const Op *ops_of(Kernel *kernel);
