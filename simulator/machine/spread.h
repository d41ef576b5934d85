// Blocks of a launch in several threads, with the same results as one after another (spread.c).
#pragma once
#include "observer.h"

// Launches with fewer warp instructions are not worth it.
void spread_from(u64 steps);

// Of all launches so far: batches of blocks that did well beside each other, and that had to be put
// back.
typedef struct SpreadTally {
    u64 good, put_back;
} SpreadTally;
SpreadTally spread_tally(void);

// May a block of the kernel's see what other blocks do, as far as its instructions tell?
bool spread_sees_others(Kernel *kernel);

// Lays down whether the launch, which begins, may be spread.
void spread_start(Grid *g);
void spread_free(Grid *g);

// Runs blocks from the next one on beside each other, as far as that goes well. Returns up to which
// block they are to run one after another now.
u64 spread_run(Grid *g);

// Blocks of the part need not go on: another one has found that they must run one after another.
bool spread_is_over(const Grid *part);

// The part is about to do that in global memory, in bounds.
void spread_note(const Access *a);
void spread_note_store(Grid *part, u64 address, u32 bytes);
