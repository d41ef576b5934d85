// What the hardware makes of an instruction: issue slots, the unit that executes it, and how long
// its result takes. ptxas turns PTX into the GPU's own instructions; this is a table of what
// usually becomes of each (op.c).
#pragma once
#include "coalesce.h"
#include "program/instruction.h"

enum unit {
    UNIT_ALU,
    UNIT_FMA,
    UNIT_HEAVY,   // HEAVY: the half of the FMA pipe that multiplies integers
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
    OP_WAIT, // cp.async
    OP_ARRIVE,
    OP_BULK,
    OP_BULK_WAIT
}; // its arrival at an mbarrier, copies in bulk and the wait for their sources

enum { OP_READS = 28, OP_WRITES = 10 };

typedef struct Op {
    u8 unit, kind;
    u8 space;     // of memory: enum space
    bool past_l1; // a load that L1 does not keep
    u8 read_count, write_count;
    float slots;   // instructions that the scheduler issues; 0: part of another one
    float own;     // of them those that its unit executes; the others are simple ones around it
    float busy;    // clocks that a tensor unit works at it
    s32 groups;    // OP_WAIT: of copies, that may still be under way; below 0: none, nor any copy
    float latency; // clocks until its result can be used; loads: what comes on top of the memory's
    u32 read[OP_READS], write[OP_WRITES]; // rows / 64 of the register file
    u32 rank;        // where ptxas puts it: its place within its run of instructions
    u32 run_end;     // behind the last instruction of the run that it belongs to
    bool ends;       // a branch to the kernel's end
    u32 skips;       // a branch over so few instructions that they become predicated ones instead
    u32 over;        // of those: 1 + the branch that chooses
    Wide wide;       // what it is a part of
    u32 wide_number; // which in the kernel
} Op;

// One for each instruction of the kernel, which keeps them: they are worked out once. NULL: no
// memory.
const Op *ops_of(Kernel *kernel);
