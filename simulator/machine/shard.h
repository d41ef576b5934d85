// Runs the blocks of a launch in several threads, with the same results as one after another
// (shard.c).
#pragma once
#include "observer.h"

// Sets how many warp instructions a launch must have to be worth sharding.
void shard_set_threshold(u64 steps);

// Batches of all launches so far.
typedef struct ShardTally {
    u64 committed, rolled_back;
} ShardTally;
ShardTally shard_tally(void);

// Decides whether the launch, which begins, may be sharded.
void shard_start(Grid *g);
void shard_free(Grid *g);

// Runs blocks from the next one on in shards, as long as the batches commit. Returns the block up
// to which they are to run one after another.
u64 shard_run(Grid *g);

// Has the batch been aborted? Then the shard's blocks need not go on.
bool shard_is_aborted(const Grid *shard);

// The shard is about to make this access, in bounds, to global memory.
void shard_note(const Access *a);
void shard_note_store(Grid *shard, u64 address, u32 bytes);
