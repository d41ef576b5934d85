// Worker threads beside the master thread, which serves the program and alone calls these
// functions. There are as many as the host has cores. Jobs given to worker_do() run one after
// another in the background, in order. A job given to worker_share() runs on every idle thread, the
// master included.
#pragma once
#include "base/base.h"

// 1: the master does everything itself, at once. 0, the default: as many threads as the host has
// cores.
void worker_threads(u32 count);
u32 worker_count(void); // threads that share work, the master included

// `with` must stay valid until WORKER_BEHIND further jobs have been given, or worker_wait()
// returns.
enum { WORKER_BEHIND = 3 };
void worker_do(void (*work)(void *), void *with);
void worker_wait(void); // waits until every job is done

// Every thread that is idle before worker_join() returns calls `work` once, with a number of its
// own: 1, 2, ...
void worker_share(void (*work)(void *, u32 me), void *with);
void worker_join(void); // the master calls it with 0, and waits for all others
