// The simulated machine: the process that simulator/run becomes. It starts the program. For each
// process that opens the devices, it forks a device process, which serves only that process
// (serve.c) and has its own state, just as each process has its own contexts on a GPU. Device
// processes share one page of memory.
#pragma once
#include "base/base.h"
#include <sys/types.h>

enum machine_end { MACHINE_RUNS, MACHINE_EXITED, MACHINE_KILLED };

typedef struct Machine {
    u64 used[MOST_DEVICES]; // bytes in use of each device's memory; updated atomically
    volatile int ended;     // enum machine_end: how the program ended
    volatile int status;    // its exit status
} Machine;

extern Machine *machine;

void machine_make(void); // makes the shared page

// Listens on a socket. Returns its name, which programs find in their environment.
const char *machine_listen(void);

// Has every process that connects served, until the program and all device processes have ended.
// `pidfd`: of the program. `control`: the socket whose other end the program inherited. False: no
// process loaded the client library.
bool machine_run(pid_t program, int pidfd, int control);
