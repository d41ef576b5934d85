// The instructions that the blocks of one SM ran, for the time model to replay.
#pragma once
#include "coalesce.h"
#include "op.h"

typedef struct Step { // one instruction of one warp
    u32 pc;
    u32 access; // 1 + index into Trace.access; 0: no memory access
} Step;

typedef struct TraceAccess {
    u32 first, count; // its pieces in Trace.piece
    u32 passes;       // shared memory: wavefronts; 0: another access of the wide one counts them;
                      // constants: different words
    u32 far;          // sectors in other blocks' shared memory
    u8 space;         // enum space; SPACE_PARAM: constants
    bool waits; // for the mbarrier phase below; otherwise its warp or its copies help to complete
                // that phase
    u32 phase;  // index into Trace.phase; 0: none
    u64 waited; // no access, but a wait of so many clocks
} TraceAccess;

typedef struct TraceWarp {
    Step *step;
    u32 count, room;
    u32 waits;         // 1 + its latest waiting step
    struct Poll *poll; // the strong load that it repeats; NULL: none
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
    TraceBlock **block; // in the order of their beginnings
    u32 block_count, block_room;
    TraceAccess *access;
    u32 access_count, access_room;
    Piece *piece;
    u32 piece_count, piece_room;
    u32 *phase; // of each mbarrier phase: the steps that help to complete it
    u32 phase_count, phase_room;
    u64 steps;      // of the first SM's blocks
    bool full;      // some blocks are missing
    double hottest; // clocks of the atomic operations of all blocks at the most contended place
} Trace;

// Of the launch that has ended.
const Trace *trace_latest(void);
