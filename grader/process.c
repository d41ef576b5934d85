// Starting programs that may misbehave, and leaving none of them behind. A
// process group alone is not enough (setsid leaves it), so we are the subreaper
// of all that we start: whatever loses its parent becomes our child, and
// process_sweep() kills children until there are none.
#define _GNU_SOURCE
#include "process.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

void process_adopt(void) { prctl(PR_SET_CHILD_SUBREAPER, 1); }

// Not dumpable: no process without CAP_SYS_PTRACE, of the same user neither, reads or writes our
// memory, traces us or opens our descriptors (ptrace(2), "Ptrace access mode checking"). In every
// program of the grader's, before anything of a submission runs.
__attribute__((constructor)) static void close_to_others(void) { prctl(PR_SET_DUMPABLE, 0); }

void process_die_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

// First out of the way of all targets, then into place: a target may be a source too.
static bool place_descriptors(const Spawn *s, int keep)
{
    enum { ABOVE = 64 };
    int high[8];
    for (size_t i = 0; i < s->descriptors; i++)
        if ((high[i] = fcntl(s->from[i], F_DUPFD_CLOEXEC, ABOVE)) < 0) return false;
    for (size_t i = 0; i < s->descriptors; i++)
        if (dup2(high[i], s->to[i]) < 0) return false;

    bool has_stdin = false;
    for (size_t i = 0; i < s->descriptors; i++) has_stdin |= s->to[i] == 0;
    if (!has_stdin) {
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (null < 0 || (null != 0 && dup2(null, 0) < 0)) return false;
    }

    for (int fd = 3; fd < ABOVE; fd++) {
        bool named = fd == keep;
        for (size_t i = 0; i < s->descriptors; i++) named |= s->to[i] == fd;
        if (!named) close(fd);
    }
    return true;
}

// What root may that other users may not, no program of ours may get back either: but for files,
// so that a folder of another user's works for root as it did.
static bool drop_capabilities(void)
{
    const unsigned files = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, caps)) return false;
    caps[0].permitted &= files, caps[0].effective &= files, caps[0].inheritable &= files;
    caps[1] = (struct __user_cap_data_struct){ 0 };
    return syscall(SYS_capset, &header, caps) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static void become(const Spawn *s, int failed, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) // it died before prctl could notice
        _exit(127);
    setpgid(0, 0);

    // Criterion's process may have blocked or ignored signals; a program starts without.
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);

    for (const char *const *e = s->environment; e && *e; e++)
        putenv((char *)*e); // without a value, it takes the name out
    if (place_descriptors(s, failed) && (s->trusted || drop_capabilities()))
        execvp(s->argv[0], (char *const *)s->argv);
    int why = errno;
    if (write(failed, &why, sizeof why) != sizeof why) _exit(126);
    _exit(127);
}

pid_t process_start(const Spawn *spawn)
{
    int failed[2], why;
    if (pipe2(failed, O_CLOEXEC) < 0) return -1;

    // High, so that no descriptor of the child's is in its way.
    int report = fcntl(failed[1], F_DUPFD_CLOEXEC, 128);
    close(failed[1]);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) become(spawn, report, parent);
    close(report);

    ssize_t n = pid < 0 ? 0 : read(failed[0], &why, sizeof why);
    close(failed[0]);
    if (n == sizeof why) {
        waitpid(pid, NULL, 0);
        errno = why;
        return -1;
    }
    if (pid > 0) setpgid(pid, pid);
    return pid;
}

static pid_t parent_of(const char *pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = 0;

    // "pid (name) state ppid": the name may hold anything, so the last ')' counts.
    char *end = strrchr(line, ')');
    int parent = 0;
    if (end) sscanf(end + 1, " %*c %d", &parent);
    return parent;
}

// The next entry whose name is a number: of /proc a process, of a task folder a thread. NULL: the
// end, or no folder.
static const char *next_number(DIR *folder)
{
    struct dirent *e = NULL;
    while (folder && (e = readdir(folder)) && !isdigit((unsigned char)e->d_name[0]))
        ;
    return e ? e->d_name : NULL;
}

// Most often there are none, and all processes of the machine need not be asked.
static bool has_children(void)
{
    siginfo_t any;
    return waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// The longest that a thread of it has waited for a core.
static double delay_of(const char *pid)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/%.20s/task", pid);
    DIR *tasks = opendir(path);
    double longest = 0;
    for (const char *thread; (thread = next_number(tasks));) {
        unsigned long long waited = 0; // nanoseconds: the second of three numbers
        snprintf(path, sizeof path, "/proc/%.20s/task/%.20s/schedstat", pid, thread);
        FILE *f = fopen(path, "re");
        if (f && fscanf(f, "%*u %llu", &waited) == 1 && waited * 1e-9 > longest)
            longest = waited * 1e-9;
        if (f) fclose(f);
    }
    if (tasks) closedir(tasks);
    return longest;
}

static bool is_descendant(const char *pid)
{
    char text[24];
    pid_t parent = parent_of(pid);
    while (parent > 1 && parent != getpid()) {
        snprintf(text, sizeof text, "%d", parent);
        parent = parent_of(text);
    }
    return parent == getpid();
}

double process_delay(void)
{
    DIR *proc = has_children() ? opendir("/proc") : NULL;
    double sum = 0;
    for (const char *pid; (pid = next_number(proc));)
        if (is_descendant(pid)) sum += delay_of(pid);
    if (proc) closedir(proc);
    return sum;
}

double process_stolen(void)
{
    unsigned long long ticks = 0;
    FILE *f = fopen("/proc/stat", "re");
    if (f && fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &ticks) != 1) ticks = 0;
    if (f) fclose(f);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK) / (double)sysconf(_SC_NPROCESSORS_ONLN);
}

ProcessClock process_clock(double seconds)
{
    double now = seconds_now();
    return (ProcessClock){
        .start = now, .seconds = seconds, .looked = now, .delay = process_delay() + process_stolen()
    };
}

static double end_of(const ProcessClock *c)
{
    return c->start + c->seconds + fmin(c->waited, (PROCESS_BUSY - 1) * c->seconds);
}

double process_left(ProcessClock *c)
{
    static const double LOOK = 0.5; // seconds: what those waited who have ended is no longer told
    double now = seconds_now();
    if (now >= fmin(c->looked + LOOK, end_of(c))) {
        double before = c->delay;
        c->delay = process_delay() + process_stolen();
        c->waited += fmax(c->delay - before, 0);
        c->looked = now;
    }
    return fmax(end_of(c) - now, 0);
}

bool process_wait(pid_t pid, double seconds, int *status)
{
    ProcessClock clock = process_clock(seconds);
    while (waitpid(pid, status, WNOHANG) != pid) {
        if (process_left(&clock) <= 0) return false;
        poll(NULL, 0, 5); // milliseconds
    }
    return true;
}

// Kills our children; false if there are none.
static bool kill_children(void)
{
    DIR *proc = has_children() ? opendir("/proc") : NULL;
    bool any = false;
    for (const char *pid; (pid = next_number(proc));)
        if (parent_of(pid) == getpid()) {
            kill(atoi(pid), SIGKILL);
            any = true;
        }
    if (proc) closedir(proc);
    return any;
}

void process_sweep(void)
{
    // Whatever is reaped hands us its own children, so go on until there are none.
    while (kill_children()) {
        waitpid(-1, NULL, 0);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
}
