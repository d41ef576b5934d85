// Work that the program has issued to streams and that is not complete. A launch is answered before
// it runs. It runs when the program makes its next request, or when the program makes no request
// for a while, since it may then be polling pinned memory that the launch writes. A launch whose
// warps all wait for other work is blocked: other work then runs concurrently, as far as stream
// order and the free resources of its device allow, and later work is deferred. So the host and
// kernels do not run at the same time, except where kernels read what the host writes, and every
// run is the same.
#pragma once
#include "serve.h"

void work_launch(const Call *call); // issues a launch that was checked and answered
void work_go_on(void);              // gives a turn to all work that can make progress
void work_go_on_alone(void);        // the same when the program makes no request
bool work_is_left(void);
bool work_asks_host(void); // does a kernel poll memory that the host may write?

enum work_when {
    WORK_NOW,        // all earlier work is complete: the request can be handled
    WORK_LATER,      // the request is deferred: it will be handled in stream order
    WORK_NOT_READY,  // the request is a query, and the work is not complete
    WORK_DEADLOCKED, // the kernels that it must wait for make no progress
};

// When can the request be handled? This may first run other work. If no kernel makes progress, and
// no other thread of the program can change that, it ends the kernels with a sticky error.
enum work_when work_when(Call *call);

void work_finish(void); // completes or ends all work, when the program has ended
