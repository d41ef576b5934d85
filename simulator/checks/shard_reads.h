// What a shard of a grid has read of global memory: which of its reads need not be told race.c,
// since two of the shard's blocks have read of the same line before. Its kernel stores nothing
// there, and other operations come before all of it, or race with those two.
#pragma once
#include "machine/observer.h"

typedef struct ShardReads ShardReads;

ShardReads *shard_reads_make(const Grid *shard);
void shard_reads_free(ShardReads *);
void shard_reads_reset(ShardReads *, const Grid *shard); // what was read does not count

// Is that all so, of a load of memory that the kernel does not store to? If not, it is so from now
// on, as far as this block goes.
bool shard_reads_are_redundant(ShardReads *, Access *, const Span *spans, u64 from);

// The same of a block's load of so many bytes without a hole, with no promise.
bool shard_reads_note(ShardReads *, u32 block, u64 address, u64 bytes);

// Has no other block of the shard read any of those lines? They are noted as read by this one then.
bool shard_reads_note_first(ShardReads *, u32 block, u64 address, u64 bytes);
