// What a part of a grid has read of global memory: which of its reads need not be told race.c,
// since two of the part's blocks have read of the same line before. Its kernel stores nothing
// there, and other operations come before all of it, or race with those two.
#pragma once
#include "machine/observer.h"

typedef struct Reads Reads;

Reads *reads_take(const Grid *part);
void reads_give_back(Reads *);
void reads_forget(Reads *, const Grid *part); // what was read does not count

// Is that all so, of a load of memory that the kernel does not store to? If not, it is so from now
// on, as far as this block goes.
bool reads_tell_nothing(Reads *, Access *, const Span *spans, u64 from);

// The same of a block's load of so many bytes without a hole, with no promise.
bool reads_say_nothing(Reads *, u32 block, u64 address, u64 bytes);

// Has no other block of the part read any of those lines? They are noted as read by this one then.
bool reads_begin(Reads *, u32 block, u64 address, u64 bytes);
