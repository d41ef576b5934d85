// Barriers that a program keeps in shared memory (mbarrier).
#pragma once
#include "observer.h"

void mbarriers_forget(Block *);     // a block begins
void mbarriers_free(Block *);

// What the mbarrier still misses that a warp waits at, in words. False: it waits at none.
bool mbarrier_missing(const Warp *w, char *text, size_t size);

bool mbarrier_waits(const Insn *i); // does it look whether a phase is over?
