// A kernel's native code: the instructions of the GPU itself, which ptxas made of the PTX, as far
// as the time depends on them. Since Volta each says when the next one of its warp may follow.
#pragma once
#include "isa/isa.h"

enum native_kind {
    NATIVE_PLAIN,
    NATIVE_NOTHING, // fills up memory, and is never reached
    NATIVE_SHUFFLE,
    NATIVE_LOAD,
    NATIVE_STORE,
    NATIVE_ATOMIC,
    NATIVE_COPY,   // cp.async, and what
    NATIVE_COMMIT, // makes a group of such copies
    NATIVE_WAIT,   // and waits for groups
    NATIVE_BARRIER,
    NATIVE_BRANCH,
    NATIVE_CALL,
    NATIVE_EXIT // or the return from a function
};

enum {
    NATIVE_SCOREBOARDS = 7,
    NATIVE_UNIFORM = 6,
    NATIVE_BANKS = 2,
    NATIVE_BYTES = 16,
    NATIVE_NOWHERE = -1
};

typedef struct NativeInsn {
    u16 opcode;
    u8 kind, pipe;          // enum native_kind, enum pipe
    u8 clocks;              // for which it occupies a scheduler's part of the pipe
    u8 space;               // of memory: enum space
    u8 bytes;               // of memory: that a lane moves: 4 (or fewer), 8 or 16
    bool guarded;           // it is predicated
    u8 stall;               // clocks until the warp's next instruction may be issued
    u8 waits;               // bit n: it waits for scoreboard n
    s8 sets;                // the scoreboard that is set until its result is there; below 0: none
    s8 frees;               // and until its operands are read
    u8 reads[NATIVE_BANKS]; // registers of each bank that it reads, without those
    u8 kept[NATIVE_BANKS];  // that are at hand if the warp's instruction before was the latest
    s32 target;             // of a branch, the instruction's number; NATIVE_NOWHERE: unknown
} NativeInsn;

// Memory instructions, by the bytes that a lane moves: up to 4, 8 and 16.
typedef struct NativeAccesses {
    u32 loads[3], stores[3];
} NativeAccesses;
static inline u32 native_count(const u32 by_width[3])
{
    return by_width[0] + by_width[1] + by_width[2];
}

// ptxas merges accesses to neighbouring words of shared memory if it can prove them aligned, and
// spills to local memory what it has no registers for.
typedef struct NativeCode {
    const u8 *insn; // in the native image: NATIVE_BYTES each
    u32 count;
    NativeAccesses shared, local;
} NativeCode;
