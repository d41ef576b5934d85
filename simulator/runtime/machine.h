// The simulated machine: the process that simulator/run becomes. It starts the program. For each
// process that opens the devices it forks a device process, which serves that process alone
// (serve.c) and has a state of its own, as each process has contexts of its own on real devices.
// What device processes share is in one page of memory.
#pragma once
#include "base/base.h"
#include <sys/types.h>

enum machine_end { MACHINE_RUNS, MACHINE_EXITED, MACHINE_KILLED };

typedef struct Machine {
    u64 used[MOST_DEVICES]; // of each device's memory; updated atomically
    volatile int ended;     // enum machine_end: how the program ended
    volatile int status;    // its exit status
} Machine;

extern Machine *machine;

void machine_make(void); // makes the shared page

// Listens under a name that programs find in their environment.
const char *machine_listen(void);

// Serves every process that connects, until the program (its pid, and a pidfd of it) and all device
// processes have ended. `control`: the socket whose other end the program inherited. False: no
// program loaded the client library.
bool machine_run(pid_t program, int pidfd, int control);
