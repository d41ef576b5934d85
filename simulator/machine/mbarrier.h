// Barriers that programs keep in shared memory (PTX mbarrier).
#pragma once
#include "observer.h"
#include "report/report.h"

void mbarriers_forget(Block *); // a block begins
void mbarriers_free(Block *);

// Reports what the mbarrier lacks at which the warp waits: the cause and its numbers. False: the
// warp waits at none.
bool mbarrier_missing(const Warp *w, Report *report);

// For asynchronous copies: lanes will arrive at mbarriers, at[lane] each, when their copies
// complete. With `more` the phase expects one more arrival for each. False: they must not.
bool mbarrier_expect_arrivals(Warp *w, const Insn *i, u32 lanes, bool more, u64 at[LANES]);
void mbarrier_arrive_expected(Warp *w, const Insn *i, u32 lanes, const u64 at[LANES]);

// For copies in bulk: is there an mbarrier that can count the bytes? Then the bytes have arrived.
bool mbarrier_is_initialised(Warp *w, const Insn *i, u32 lane, u64 at);
void mbarrier_complete_bytes(Warp *w, const Insn *i, u32 lane, u64 at, u32 bytes);

bool mbarrier_waits(const Insn *i); // does it test for the end of a phase?
