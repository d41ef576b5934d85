#define _GNU_SOURCE
#include "sandbox.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// Our cgroups: one of v2, or one for each controller of v1.
typedef struct Group {
    char path[PATH_MAX];
    bool made;
} Group;

enum { MEMORY, PROCESSES, CONTROLLERS };
static Group groups[CONTROLLERS];
static const char *kept_by[CONTROLLERS];

static const struct {
    const char *name, *file1, *file2; // v1's file, and v2's
} controllers[] = {
    [MEMORY] = { "memory", "memory.limit_in_bytes", "memory.max" },
    [PROCESSES] = { "pids", "pids.max", "pids.max" },
};

static bool write_file(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool good = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return good;
}

// This process's cgroup of a controller, "" for v2's tree: "4:memory:/user.slice" in
// /proc/self/cgroup. A container may be shown paths that it does not have: then the top of what it
// has.
static bool find_group(const char *controller, char *path, size_t size)
{
    char line[PATH_MAX];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        char *list = strchr(line, ':'), *at = list ? strchr(list + 1, ':') : NULL;
        if (!at) continue;
        *at++ = 0;
        at[strcspn(at, "\n")] = 0;
        found = strcmp(list + 1, controller) == 0;
        if (!found) continue;
        int top = snprintf(path, size, "/sys/fs/cgroup/%s", controller);
        snprintf(path + top, size - (size_t)top, "%s", at);
        if (access(path, F_OK) != 0) path[top] = 0;
    }
    if (f) fclose(f);
    return found;
}

// A group of a sandbox that was killed. (One with a process in it stays.)
static int remove_dead(const char *path, const struct stat *at, int type, struct FTW *walk)
{
    int pid, end = 0;
    const char *name = path + walk->base;
    (void)at, (void)type;
    if (sscanf(name, "warpwise-%d%n", &pid, &end) == 1 && !name[end] && kill(pid, 0) < 0
        && errno == ESRCH)
        rmdir(path);
    return 0;
}

static void sweep(const char *top)
{
    enum { FOLDERS_OPEN = 16 };
    nftw(top, remove_dead, FOLDERS_OPEN, FTW_PHYS | FTW_DEPTH);
}

void limits_sweep(void) { sweep("/sys/fs/cgroup"); }

static bool make_group(Group *g, const char *parent)
{
    if (snprintf(g->path, sizeof g->path, "%s/warpwise-%d", parent, (int)getpid())
        >= (int)sizeof g->path)
        return false;
    rmdir(g->path); // of a sandbox that had this number and was killed
    g->made = mkdir(g->path, 0755) == 0;
    return g->made;
}

static void remove_group(Group *g)
{
    char above[PATH_MAX + 4];
    if (!g->made) return;
    snprintf(above, sizeof above, "%s/..", g->path);
    write_file(above, "cgroup.procs", "0"); // this process must not be in it
    for (int tries = 0; rmdir(g->path) < 0 && errno == EBUSY && tries < 100; tries++) usleep(10000);
    *strrchr(g->path, '/') = 0;
    sweep(g->path); // of its parent: the groups of sandboxes that were killed
    g->made = false;
}

// In v2 one group keeps all limits, where its parent hands these controllers on.
static bool keep_v2(const char *const *most)
{
    char parent[PATH_MAX];
    Group *g = &groups[0];
    bool good = find_group("", parent, sizeof parent) && make_group(g, parent);
    for (int c = 0; c < CONTROLLERS && good; c++)
        good = write_file(g->path, controllers[c].file2, most[c]);
    good = good && write_file(g->path, "cgroup.procs", "0");
    if (!good) remove_group(g);
    for (int c = 0; c < CONTROLLERS && good; c++) kept_by[c] = "cgroup v2";
    return good;
}

static void keep_v1(int c, const char *most)
{
    char parent[PATH_MAX];
    Group *g = &groups[c];
    if (find_group(controllers[c].name, parent, sizeof parent) && make_group(g, parent)
        && write_file(g->path, controllers[c].file1, most)
        && write_file(g->path, "cgroup.procs", "0"))
        kept_by[c] = "cgroup v1";
    else remove_group(g);
}

static bool set_own(int what, unsigned long long most)
{
    struct rlimit limit = { most, most };
    return setrlimit((__rlimit_resource_t)what, &limit) == 0;
}

bool limits_set(const Limits *l)
{
    char bytes[32], count[32];
    const char *most[] = { [MEMORY] = bytes, [PROCESSES] = count };
    snprintf(bytes, sizeof bytes, "%llu", l->memory);
    snprintf(count, sizeof count, "%u", l->processes);
    if (!keep_v2(most))
        for (int c = 0; c < CONTROLLERS; c++) keep_v1(c, most[c]);
    // Never RLIMIT_AS: the simulated device and NVIDIA's driver reserve addresses by the terabyte.
    return (kept_by[MEMORY] || set_own(RLIMIT_DATA, l->memory))
        && (kept_by[PROCESSES] || set_own(RLIMIT_NPROC, l->processes))
        && set_own(RLIMIT_CPU, l->seconds) && set_own(RLIMIT_FSIZE, l->file)
        && setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 }) == 0;
}

// The number behind a name, in a file with a name and a number a line, or the only number of a
// file; 0: there is none.
static unsigned long long count_in(const char *folder, const char *name, const char *key)
{
    char path[PATH_MAX + 64], line[128];
    unsigned long long number = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        size_t n = strlen(key);
        if (strncmp(line, key, n) == 0 && sscanf(line + n, "%llu", &number) == 1) break;
    }
    if (f) fclose(f);
    return number;
}

// Source: the kernel's cgroup-v2.rst, "memory.events", and cgroup-v1/memory.rst. The first count is
// of all that were killed in the group, whoever's memory was used up.
enum killed limits_killed(void)
{
    const Group *g = &groups[MEMORY];
    if (!kept_by[MEMORY]) return KILLED_NONE;
    bool v2 = strcmp(kept_by[MEMORY], "cgroup v2") == 0;
    if (!count_in(g->path, v2 ? "memory.events" : "memory.oom_control", "oom_kill "))
        return KILLED_NONE;
    bool reached =
        v2 ? count_in(g->path, "memory.events", "oom ") : count_in(g->path, "memory.failcnt", "");
    return reached ? KILLED_BY_LIMIT : KILLED_BY_MACHINE;
}

void limits_remove(void)
{
    for (int c = 0; c < CONTROLLERS; c++) remove_group(&groups[c]);
}

static const char *kept(int c) { return kept_by[c] ? kept_by[c] : "each process alone"; }

const char *limits_memory_kept(void) { return kept(MEMORY); }
const char *limits_processes_kept(void) { return kept(PROCESSES); }
