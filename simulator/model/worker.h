// Work that can be done behind the launch that asks for it: by a second thread, if the host has a core for it. Whatever
// is asked for is done in that order, one thing after another, so that nobody can tell how many threads there are.
#pragma once
#include "base.h"

// With 1 thread, whoever asks for work does it himself; with 0, and unless told, there are as many as the host has cores.
void worker_threads(u32 count);

// What it works with is its own until worker_wait() returns. Waits for what was asked for before it.
void worker_do(void (*work)(void *), void *with);

// All that was asked for has been done.
void worker_wait(void);
