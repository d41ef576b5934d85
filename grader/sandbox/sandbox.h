// Runs programs that are not trusted: the parts of build/grader/sandbox, whose command is explained
// in main.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// What a program may use of the machine.
typedef struct Limits {
    unsigned long long
        memory; // bytes of all its processes together; of each one where no cgroup can be had
    unsigned processes;      // and threads
    unsigned seconds;        // of the processors, each process
    unsigned long long file; // bytes of a file, and of /tmp and /dev/shm together
} Limits;

// A descriptor with the program of a system call filter for bwrap's --seccomp: what looks into
// other processes, makes namespaces, mounts, loads code into the kernel, or reaches around the
// filter, fails with EPERM. -1: errno says why. Source: seccomp_rule_add(3), and the calls that
// Docker's default profile denies.
int filter_open(void);

// Makes cgroups for this process and moves it there, where cgroups (v1 or v2) can be written.
// Limits that no cgroup keeps are the process's own (setrlimit(2)). Both hold for what it starts.
// False: a limit cannot be set, errno says why.
bool limits_set(const Limits *limits);

// Removes the cgroups of limits_set(), once nothing is left in them.
void limits_remove(void);

// Who keeps a limit, once it is set: "cgroup v1", "cgroup v2", or "each process alone".
const char *limits_memory_kept(void);
const char *limits_processes_kept(void);

// If this is root, becomes a user with a number that no other process has, as long as such a user
// may read all `paths` (which end with NULL). That user owns `folder` then, which may be NULL.
// False: it stays who it is.
bool stranger_become(const char *const *paths, const char *folder);
