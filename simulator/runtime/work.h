// Work that the program has put on streams and that is not done. A launch is answered before it
// runs. It runs when the program makes its next request, or makes none for a while and may be
// reading what the launch writes to pinned memory. A launch whose warps all wait for other work is
// blocked: other work then runs beside it, as far as stream order and the room on its device allow,
// and what comes after it is deferred. So the host and kernels do not run at the same time, except
// where kernels read what the host writes, and each sees the same of the other in every run.
#pragma once
#include "serve.h"

void work_launch(const Call *call); // a launch that was checked and answered
void work_go_on(void);              // gives a turn to the work that can make progress
bool work_is_left(void);
bool work_asks_host(void); // does a kernel read memory that the host may write?

enum work_when {
    WORK_NOW,        // no work is left that it comes after: the request can be answered
    WORK_LATER,      // it will be done in its turn: the program need not wait for it
    WORK_NOT_READY,  // the program asked whether work is done that is not
    WORK_DEADLOCKED, // kernels that it would have to wait for make no progress
};

// When can the request be answered? This may run much other work first, and may end the program's
// kernels with a sticky error: when none makes progress and no other thread could let one.
enum work_when work_when(Call *call);

void work_finish(void); // the program has ended: so does all that is left
