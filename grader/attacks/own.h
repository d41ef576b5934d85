// Whom an attack may touch: the processes of the grader that grades it. Any other may be anybody's,
// and what root runs can write over the very files that it has open.
#pragma once
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// 0: it has gone. `graders`: it is called as a lesson's grader is, by its number.
static int parent_of(int pid, bool *graders)
{
    char path[64], name[32] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    if (f && fscanf(f, "%*d (%31[^)]) %*c %d", name, &parent) != 2) parent = 0;
    if (f) fclose(f);
    *graders = isdigit(name[0]) && isdigit(name[1]) && name[2] == '-';
    return parent;
}

static bool is_below(int pid, int above)
{
    bool graders;
    while (pid > 1 && pid != above) pid = parent_of(pid, &graders);
    return pid == above && pid > 1;
}

// The grader's processes above the one that asks, and those of its check: the device, and others of
// the program. Those of other checks, which may only be starting, are left alone. Returns how many.
static int own_processes(int *pids, int most)
{
    bool graders;
    int check = 0, grader = 0, count = 0;
    for (int pid = getpid(), parent; pid > 1; pid = parent) {
        parent = parent_of(pid, &graders);
        if (graders) grader = pid;
        if (!check) check = grader;
    }
    DIR *proc = grader ? opendir("/proc") : NULL;
    for (struct dirent *e; proc && (e = readdir(proc)) && count < most;) {
        int pid = atoi(e->d_name);
        if (pid != getpid()
            && (is_below(pid, check) || (is_below(pid, grader) && is_below(getpid(), pid))))
            pids[count++] = pid;
    }
    if (proc) closedir(proc);
    return count;
}
