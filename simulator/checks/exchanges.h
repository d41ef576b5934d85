// Values that the lanes of a warp pass one another by shuffles, votes and the like. These order no
// accesses to memory. But where a lane stores what it has worked out from a value that another lane
// has read and passed on, the store cannot come before the read, on any device: PTX's memory
// consistency model has no values out of thin air.
#pragma once
#include "machine/observer.h"

typedef struct Exchanges Exchanges; // what the warps of a block have passed

// `here` lanes have received a value: lane l that of lane from[l], or, with NULL, of all of them.
// `serial`: a number of the block; `sequence`: of the block's latest access. Makes *all if it is
// NULL.
void exchanges_note(Exchanges **all, const Warp *, u32 serial, u32 sequence, u32 here,
                    const u8 *from);
void exchanges_free(Exchanges *);

// The lanes of `others` of which the lane has received a value, if by way of others, since the
// access of that sequence number. What was too long ago to be known counts as received.
u32 exchanges_reach(const Exchanges *, const Warp *, u32 serial, u32 lane, u32 others,
                    u32 sequence);

// Does what the instruction at `store` stores, or where, or whether, depend on what the one at
// `load` loads, by way of another lane?
bool exchanges_decide(const Grid *, u32 load, u32 store);

// Does the kernel compare what some strong load from that space (enum space) loads? It may be a
// flag then, for which a thread waits.
bool exchanges_have_flags(const Grid *, u32 space);
