// Runs programs that are not trusted: the parts of build/grader/sandbox, whose command is explained
// in main.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// What keeps a program apart from the rest of the machine, from the most to the least.
//     namespaces   bubblewrap's: it sees what it is shown
//     user         another user for root, Landlock, limits, and the filter: what containers allow
//                  that refuse namespaces. It sees the same files, but other processes too.
//     process      limits and the filter, and another user and Landlock where these can be had
#define ISOLATIONS(X) X(NAMESPACES, "namespaces") X(USER, "user") X(PROCESS, "process")
enum isolation {
#define X(id, word) ISOLATION_##id,
    ISOLATIONS(X)
#undef X
        ISOLATION_COUNT
};

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

// Puts this process under the filter, and refuses it sockets but for this machine's own, and memory
// and queues that outlive it. False: errno says why. It takes PR_SET_NO_NEW_PRIVS.
bool filter_load(void);

// Makes cgroups for this process and moves it there, where cgroups (v1 or v2) can be written.
// Limits that no cgroup keeps are the process's own (setrlimit(2)). Both hold for what it starts.
// False: a limit cannot be set, errno says why.
bool limits_set(const Limits *limits);

// Whether the kernel has killed anything in those cgroups for want of memory: because the limit was
// reached, or because the machine, or what holds us there, has no more. Without a cgroup it is not
// known: none.
enum killed { KILLED_NONE, KILLED_BY_LIMIT, KILLED_BY_MACHINE };
enum killed limits_killed(void);

// Removes the cgroups that sandboxes which were killed have left, wherever they began.
void limits_sweep(void);

// Removes the cgroups of limits_set(), once nothing is left in them.
void limits_remove(void);

// Who keeps a limit, once it is set: "cgroup v1", "cgroup v2", or "each process alone".
const char *limits_memory_kept(void);
const char *limits_processes_kept(void);

// If this is root, becomes a user with a number that no other process has, as long as such a user
// may read all `paths` (which end with NULL). That user owns `folder` then, which may be NULL.
// False: it stays who it is.
bool stranger_become(const char *const *paths, const char *folder);

// The folders beside /usr with the system's programs and libraries; NULL at the end.
extern const char *const system_folders[];

// Has this process, and what it starts, read and run only what is in /usr, system_folders and the
// `paths`, read /proc, and use the `devices` and those that hold nothing. In `folder` (which may be
// NULL) it may do anything. The lists end with NULL. False: errno says why. It needs
// PR_SET_NO_NEW_PRIVS.
bool landlock_hide(const char *const *paths, const char *const *devices, const char *folder);

// Has this kernel Landlock?
bool landlock_is_there(void);

// Becomes the stranger that process `pid` became, and cannot go back. False: this is not root.
bool stranger_again(pid_t pid);

// Becomes `command` without namespaces, in folder `at` (NULL: /tmp), with the variables whose names
// are in `kept`. Of files it sees what landlock_hide() says, where there is Landlock. The lists end
// with NULL. Returns if it cannot: errno says why.
void alone_run(const char *const *kept, const char *at, const char *const *paths,
               const char *const *devices, const char *folder, char **command);

// Kills what is left of the stranger that process `pid` became.
void alone_sweep(pid_t pid);

// The words that the environment gives a probe, and what it then says of itself: a line "STATE
// NAME: WORDS" for each part of the sandbox that it is in. STATE is found, or limited.
enum { PROBE_WORDS = 512 };
#define PROBE_NAMESPACES "WARPWISE_NAMESPACES"
void probe_prepare(void);
void probe_say(const Limits *limits);

// Says why namespaces are refused, in lines "limited NAME: WORDS" and "type COMMAND".
void probe_say_refusal(void);

// A link, by a path without links, and what it says.
typedef struct Link {
    char *at, *to;
} Link;

// The links that `path`, an absolute one, leads through, in that order; how many, at most `most`.
size_t links_find(const char *path, Link *links, size_t most);

// Bubblewrap: a bundle's own (a path), or the machine's ("bwrap", which is looked for in PATH). And
// has the next program of this process find the bundle's libraries, if bubblewrap is its own.
const char *bwrap_path(void);
void own_libraries(void);
