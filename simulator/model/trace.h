// What the blocks of one SM did, instruction by instruction, for the model of time to go through
// once more.
#pragma once
#include "coalesce.h"
#include "op.h"

typedef struct Step { // one instruction of one warp
    u32 pc;
    u32 access; // 1 + index into Trace.access; 0: it did not touch memory
} Step;

typedef struct TraceAccess {
    u32 first, count; // pieces of it, in Trace.piece
    u32 passes;       // shared memory: over the banks; 0: it happens with another access
    u32 far;          // shared memory of other blocks: sectors
    u8 space;         // enum space
    bool waits; // for the phase of an mbarrier below: else its warp, or its copies, help to end it
    u32 phase;  // index into Trace.phase; 0: it has to do with none
    u64 waited; // no access, but a wait of so many clocks
} TraceAccess;

typedef struct TraceWarp {
    Step *step;
    u32 count, room;
    u32 waits;         // 1 + its latest step that waits
    struct Poll *poll; // the strong load that it makes again and again; NULL: it has made none
} TraceWarp;

typedef struct TraceBlock {
    u32 number;
    u32 warp_count;
    TraceWarp *warp;
    bool ended;
} TraceBlock;

typedef struct Trace {
    const Op *op; // of the kernel
    u32 op_count;
    TraceBlock **block; // in the order in which they began
    u32 block_count, block_room;
    TraceAccess *access;
    u32 access_count, access_room;
    Piece *piece;
    u32 piece_count, piece_room;
    u32 *phase; // phases of mbarriers: of each, the steps that help to end it
    u32 phase_count, phase_room;
    u64 steps;   // of the first SM's blocks
    bool full;   // not all of them are there
    u64 hottest; // atomic operations of all blocks in the place where most of them met
} Trace;

// Of the launch that has ended.
const Trace *trace_latest(void);
