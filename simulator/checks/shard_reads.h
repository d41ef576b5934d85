// The global memory that a shard of a grid has read. A read is redundant for race.c once two of the
// shard's blocks have read the same line: the kernel stores nothing there, and another operation
// that races with the read also races with the earlier two.
#pragma once
#include "machine/observer.h"

typedef struct ShardReads ShardReads;

ShardReads *shard_reads_make(const Grid *shard);
void shard_reads_free(ShardReads *);
void shard_reads_reset(ShardReads *, const Grid *shard); // the shard's reads were rolled back

// Is the load redundant? If not, its lines are noted as read by its block. The kernel must not
// store to this memory. May set the access's pass.
bool shard_reads_are_redundant(ShardReads *, Access *, const Span *spans, u64 from);

// The same for a contiguous load by a block; sets no pass.
bool shard_reads_note(ShardReads *, u32 block, u64 address, u64 bytes);

// If no other block of the shard has read any of those lines, notes them as read by this block.
bool shard_reads_note_first(ShardReads *, u32 block, u64 address, u64 bytes);
