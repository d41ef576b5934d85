// Where namespaces are refused: other processes and the network stay in sight. What is left is
// another user (for root), Landlock, the filter of system calls, the limits, and an environment of
// its own.
#define _GNU_SOURCE
#include "sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void set_environment(const char *const *kept)
{
    char *words[64];
    size_t n = 0;
    for (; *kept && n < sizeof words / sizeof *words; kept++) {
        const char *value = getenv(*kept);
        if (value && asprintf(&words[n], "%s=%s", *kept, value) >= 0) n++;
    }
    clearenv();
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
    setenv("HOME", "/tmp", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    for (size_t i = 0; i < n; i++) putenv(words[i]);
}

void alone_run(const char *const *kept, const char *at, const char *const *paths,
               const char *const *devices, const char *folder, char **command)
{
    setsid();
    set_environment(kept);
    if (chdir(at ? at : "/tmp") < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return;
    if (landlock_is_there() && !landlock_hide(paths, devices, folder)) return;
    if (!filter_load()) return;
    execvp(command[0], command);
}

// kill(-1) reaches all processes of a user, but for the one that calls it. Those that are made
// meanwhile are found the next time.
void alone_sweep(pid_t pid)
{
    enum { TIMES = 3 };
    for (int times = 0; times < TIMES; times++) {
        pid_t killer = fork();
        if (killer == 0) {
            if (stranger_again(pid)) kill(-1, SIGKILL);
            _exit(0);
        }
        if (killer > 0) waitpid(killer, NULL, 0);
    }
}
