// Work that the program has put on streams and that is not done. A launch is answered before it
// runs, and runs when the program next asks for something, or asks for nothing for a while and may
// be reading what the launch writes to pinned memory. One whose warps all wait for what others do
// is set aside: other work goes on beside it, as far as stream order and the room on its device
// allow, and what comes behind it is put off. So the host and kernels never run at the same time
// (but where kernels read what the host writes), and what each sees of the other is the same in
// every run.
#pragma once
#include "serve.h"

void work_launch(const Call *call); // a launch that was checked and answered
void work_go_on(void);              // gives what can go on a turn
bool work_is_left(void);
bool work_asks_host(void); // does a kernel read memory that the host may write?

enum work_when {
    WORK_NOW,        // nothing stands before it (any more): the request can be answered
    WORK_LATER,      // it will be done in its turn: the program need not wait for it
    WORK_NOT_READY,  // the program asked whether work is done that is not
    WORK_DEADLOCKED, // kernels that it would have to wait for do not get on
};

// What is to become of a request? It may run a great deal of other work first, and end the
// program's kernels with a sticky error: when none gets on and nobody is left who could help.
enum work_when work_when(Call *call);

void work_finish(void); // the program has ended: so does all that is left
