// The simulated machine: the process that simulator/run becomes. It starts the program, and for
// each process that opens the devices it forks a device process, which has that one process to
// serve (serve.c) and a state of its own, as each process has contexts of its own on real devices.
// What they have in common lies in a page that all of them share.
#pragma once
#include "base/base.h"
#include <sys/types.h>

enum machine_end { MACHINE_RUNS, MACHINE_EXITED, MACHINE_KILLED };

typedef struct Machine {
    u64 used[MOST_DEVICES]; // bytes of each device's memory; changed by atomic operations
    volatile int ended;     // enum machine_end: how the program that was started did
    volatile int status;    // of one that exited
} Machine;

extern Machine *machine;

void machine_make(void); // the page

// Listens under a name that programs find in their environment.
const char *machine_listen(void);

// Serves whoever connects until the program (its pid, and a pidfd of it) and all device processes
// have ended. `control` is the socket that the program inherited the other end of. False: no
// program ever loaded the client library.
bool machine_run(pid_t program, int pidfd, int control);
