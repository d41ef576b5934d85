// Barriers that a program keeps in shared memory (mbarrier).
#pragma once
#include "observer.h"

void mbarriers_forget(Block *); // a block begins
void mbarriers_free(Block *);

// What the mbarrier still misses that a warp waits at, in words. False: it waits at none.
bool mbarrier_missing(const Warp *w, char *text, size_t size);

// Of copies: lanes that will arrive at mbarriers, at[lane] each, when their copies are there; of
// one arrival `more` than the phase waits for so far. False: they must not.
bool mbarrier_expect_arrivals(Warp *w, const Insn *i, u32 lanes, bool more, u64 at[LANES]);
void mbarrier_arrive_expected(Warp *w, const Insn *i, u32 lanes, const u64 at[LANES]);

// Of copies in bulk: is there an mbarrier that one may tell of its bytes? And it does.
bool mbarrier_is_initialised(Warp *w, const Insn *i, u32 lane, u64 at);
void mbarrier_complete_bytes(Warp *w, const Insn *i, u32 lane, u64 at, u32 bytes);

bool mbarrier_waits(const Insn *i); // does it look whether a phase is over?
