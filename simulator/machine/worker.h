// The threads that work beside the one that serves the program, the master, which alone calls
// these: as many as the host has cores for. There are two kinds of work for them. Of one kind a
// thing is done after another, in the order in which it was asked for, behind the master's back.
// The other is shared by whoever has nothing else to do, the master too.
#pragma once
#include "base/base.h"

// With 1 thread, the master does it all himself, at once; with 0, and unless told, there are as
// many as the host has cores.
void worker_threads(u32 count);
u32 worker_count(void); // threads that share work: the master, and those that are beside him

// What it works with is its own until WORKER_BEHIND further things have been asked for, or
// worker_wait() returns.
enum { WORKER_BEHIND = 3 };
void worker_do(void (*work)(void *), void *with);
void worker_wait(void); // all that was asked for has been done

// Each thread that finds the time before worker_join() returns calls it once, each with a number of
// its own: 1, 2, ...
void worker_share(void (*work)(void *, u32 me), void *with);
void worker_join(void); // so does the master, with 0, and waits until all have returned
