// Blocks of a launch in several threads, with the same results as one after another (shard.c).
#pragma once
#include "observer.h"

// Launches with fewer warp instructions are not worth it.
void shard_set_threshold(u64 steps);

// Of all launches so far: batches of blocks that did well beside each other, and that had to be put
// back.
typedef struct ShardTally {
    u64 committed, rolled_back;
} ShardTally;
ShardTally shard_tally(void);

// May a block of the kernel's see what other blocks do, as far as its instructions tell?
bool shard_kernel_communicates(Kernel *kernel);

// Lays down whether the launch, which begins, may be spread.
void shard_start(Grid *g);
void shard_free(Grid *g);

// Runs blocks from the next one on beside each other, as far as that goes well. Returns up to which
// block they are to run one after another now.
u64 shard_run(Grid *g);

// Blocks of the shard need not go on: another one has found that they must run one after another.
bool shard_is_aborted(const Grid *shard);

// The shard is about to do that in global memory, in bounds.
void shard_note(const Access *a);
void shard_note_store(Grid *shard, u64 address, u32 bytes);
