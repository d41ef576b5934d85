// A launch that has ended, without a fault: a copy of its trace and its counts in which some
// instructions do better, for timing_if().
#pragma once
#include "timing.h"

typedef struct WhatIf {
    Trace trace;        // its accesses and their pieces are copies
    Counts *counts;     // of each instruction
    u32 count;          // of instructions
    bool whole_sectors; // no sector is stored to in part
} WhatIf;

// Copies those of the launch that has ended. False: out of memory.
bool whatif_make(WhatIf *what, const Grid *grid);
void whatif_free(WhatIf *what);

// For the instructions that `at` names: the lanes of each warp access neighbouring elements; no two
// words of shared memory that a warp accesses lie in one bank; what lies in local memory lies in
// registers.
void whatif_coalesced(WhatIf *what, const Grid *grid, const bool *at);
void whatif_without_conflicts(WhatIf *what, const bool *at);
void whatif_in_registers(WhatIf *what, const bool *at);

// The launch's time then, in seconds, without what it waits for from elsewhere.
double whatif_seconds(const WhatIf *what, const Grid *grid);
