// build/grader/sandbox [--read PATH]... [--device PATH]... [--write FOLDER] [--at FOLDER]
// [--keep NAME]... [LIMITS] -- COMMAND [ARGUMENT...]
//
// Runs a command in namespaces of its own (bubblewrap): it sees /usr, an empty /tmp, a /proc and a
// /dev of its own, and the paths that are named; no network, no other process, no other user's
// file. Of the environment it has what is named. Its standard streams, and its descriptors, are the
// caller's. What a path leads through, be it links in folders that are hidden, is there too. The
// exit status is the command's, or 128 and the number of its signal, or one of ends.h, which no
// command can have: 125 if there is no sandbox or no command, which standard error explains.
//
// --isolation user, and process, do without namespaces (sandbox.h): never less than what is asked
// for.
//
//     build/grader/sandbox --check      says in lines "STATE NAME: WORDS" what holds on this
//     machine, with "type COMMAND" below what can be mended; STATE is found, or limited. The last
//     line is "isolation: " and the best that there is. 1 if that is not namespaces.
#define _GNU_SOURCE
#include "ends.h"
#include "sandbox.h"
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PATHS = 32, MOST_WORDS = 512, MOST_LINKS = 64 };

typedef struct Options {
    const char *read[MOST_PATHS + 1], *device[MOST_PATHS + 1], *keep[MOST_PATHS + 1], *write, *at;
    size_t reads, devices, keeps;
    Limits limits;
    bool check, probe;
    enum isolation isolation;
    char **command;
} Options;

typedef struct Words {
    const char *word[MOST_WORDS];
    size_t count;
} Words;

// What the command's process tells us.
typedef struct Told {
    bool another, failed; // it has become another user; it could not become the command
} Told;
static Told *told;

static void fail(const char *what)
{
    fprintf(stderr, "sandbox: %s: %s\n", what, strerror(errno));
    if (told) told->failed = true;
    limits_remove();
    exit(SANDBOX_FAILED);
}

static void add_words(Words *w, const char *const *words)
{
    for (; *words; words++) {
        if (w->count + 1 >= MOST_WORDS) errno = E2BIG, fail("the command");
        w->word[w->count++] = *words;
    }
}
#define ADD(w, ...) add_words(w, (const char *const[]){ __VA_ARGS__, NULL })

static char *decimal(unsigned long long number)
{
    char *text = NULL;
    if (asprintf(&text, "%llu", number) < 0) fail("no memory");
    return text;
}

// /bin, /lib and their like are links into /usr today; where they are folders, they are shown too.
// Programs of /usr/bin may be links by way of /etc/alternatives, which has nothing but links.
const char *const system_folders[] = { "/bin", "/sbin", "/lib", "/lib32", "/lib64", NULL };

static void add_system(Words *w)
{
    ADD(w, "--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives");
    for (const char *const *folder = system_folders; *folder; folder++) {
        struct stat at;
        char *to = lstat(*folder, &at) == 0 && S_ISLNK(at.st_mode) ? realpath(*folder, NULL) : NULL;
        if (to) ADD(w, "--symlink", to, *folder);
        else ADD(w, "--ro-bind-try", *folder, *folder);
    }
}

static bool lies_in(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (!path[n] || path[n] == '/');
}

// Is this link there without our making it: in a folder that is shown, or made already?
static bool is_there(const Words *w, const char *link)
{
    bool there = lies_in(link, "/proc") || lies_in(link, "/dev");
    for (const char *const *folder = system_folders; *folder; folder++)
        there = there || lies_in(link, *folder);
    for (size_t n = 0; n + 2 < w->count; n++) {
        const char *to = w->word[n + 2];
        there = there || (strcmp(w->word[n], "--symlink") == 0 && strcmp(link, to) == 0)
             || (strncmp(w->word[n], "--ro-bind", strlen("--ro-bind")) == 0 && lies_in(link, to));
    }
    return there;
}

// Shows what a path leads to, under its own name and by the links on the way.
static void add_path(Words *w, const char *how, const char *path)
{
    Link links[MOST_LINKS];
    char *real = realpath(path, NULL);
    if (!real) fail(path);
    ADD(w, how, real, real);
    size_t count = links_find(path, links, MOST_LINKS);
    for (size_t n = 0; n < count; n++)
        if (!is_there(w, links[n].at)) ADD(w, "--symlink", links[n].to, links[n].at);
}

static void add_paths(Words *w, const Options *o)
{
    char *room = decimal(o->limits.file);
    add_system(w);
    ADD(w, "--proc", "/proc", "--dev", "/dev");
    ADD(w, "--size", room, "--tmpfs", "/tmp", "--size", room, "--tmpfs", "/dev/shm");
    for (size_t n = 0; n < o->reads; n++) add_path(w, "--ro-bind", o->read[n]);
    for (size_t n = 0; n < o->devices; n++) {
        const char *name = strstr(o->device[n], "/dev/"); // in the tests a folder stands before it
        ADD(w, "--dev-bind", o->device[n], name ? name : o->device[n]);
    }
    if (o->write) add_path(w, "--bind", o->write);
    if (o->at) ADD(w, "--dir", o->at); // nothing that is shown may be in it
    ADD(w, "--remount-ro", "/", "--remount-ro", "/dev", "--chdir", o->at ? o->at : "/tmp");
}

static void add_environment(Words *w, const Options *o)
{
    ADD(w, "--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME",
        "/tmp", "--setenv", "LC_ALL", "C.UTF-8");
    for (size_t n = 0; n < o->keeps; n++) {
        const char *value = getenv(o->keep[n]);
        if (value) ADD(w, "--setenv", o->keep[n], value);
    }
}

static void keep(const char **list, size_t *count, const char *word)
{
    if (*count == MOST_PATHS) errno = E2BIG, fail(word);
    list[(*count)++] = word;
}

static const char *const isolations[ISOLATION_COUNT] = {
#define X(id, word) [ISOLATION_##id] = word,
    ISOLATIONS(X)
#undef X
};

static int made; // a file in which bwrap says that its namespaces are made, and how the command
                 // ended; the command has it not

static void become_bwrap(const Options *o)
{
    Words w = { 0 };
    ADD(&w, "bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent",
        "--new-session", "--cap-drop", "ALL", "--hostname", "student", "--uid", "1000", "--gid",
        "1000");
    int filter = filter_open();
    if (filter < 0) fail("no filter of system calls");
    add_paths(&w, o);
    add_environment(&w, o);
    ADD(&w, "--seccomp", decimal((unsigned)filter), "--json-status-fd", decimal((unsigned)made),
        "--");
    add_words(&w, (const char *const *)o->command);
    own_libraries();
    execvp(bwrap_path(), (char **)w.word);
    fail("bwrap (bubblewrap) cannot be run");
}

static void become_command(const Options *o, pid_t parent)
{
    const char *paths[2 * MOST_PATHS + 1] = { 0 };
    memcpy(paths, o->read, o->reads * sizeof *paths);
    memcpy(paths + o->reads, o->device, o->devices * sizeof *paths);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(SANDBOX_FAILED);
    told->another = stranger_become(paths, o->write);
    prctl(PR_SET_PDEATHSIG, SIGKILL); // which a change of the user takes away
    if (o->isolation == ISOLATION_NAMESPACES) become_bwrap(o);
    errno = EPERM;
    if (o->isolation == ISOLATION_USER && !told->another)
        fail(
            "no other user, which root alone can become, and which must be able to read the paths");
    errno = ENOSYS;
    if (o->isolation == ISOLATION_USER && !landlock_is_there())
        fail("this kernel has no Landlock, which hides files");
    alone_run(o->keep, o->at, o->read, o->device, o->write, o->command);
    fail(o->command[0]);
}

// bwrap says how the command has ended only if the command was begun.
static bool was_begun(void)
{
    char said[4096];
    ssize_t n = pread(made, said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = 0;
    return strstr(said, "\"exit-code\"");
}

// What is told of the end: the command's own, unless it is not the command's.
static int end_of(const Options *o, int status, enum killed killed)
{
    bool exited = WIFEXITED(status);
    int own = exited ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    bool begun = !told->failed && (o->isolation != ISOLATION_NAMESPACES || !exited || was_begun());
    if (!begun) return SANDBOX_FAILED;
    if (own && killed)
        return killed == KILLED_BY_LIMIT ? SANDBOX_LIMIT_MEMORY : SANDBOX_MACHINE_MEMORY;
    return own > SANDBOX_OTHER && own <= SANDBOX_FAILED ? SANDBOX_OTHER : own;
}

static int run(const Options *o)
{
    void *shared =
        mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    made = memfd_create("made", 0);
    if (shared == MAP_FAILED || made < 0) fail("no memory");
    told = shared;
    int status = 0;
    pid_t parent = getpid();
    if (!limits_set(&o->limits)) fail("the limits cannot be set");
    pid_t pid = fork();
    if (pid < 0) fail("no process");
    if (pid == 0) become_command(o, parent);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (o->isolation != ISOLATION_NAMESPACES && told->another) alone_sweep(pid);
    enum killed killed = limits_killed();
    limits_remove();
    if (o->write && chown(o->write, getuid(), getgid()) < 0) fail(o->write);
    return end_of(o, status, killed);
}

static void say_kept(const char *what, const char *by)
{
    printf("%s %s: kept by %s\n", strncmp(by, "cgroup", 6) ? "limited" : "found", what, by);
}

// In a process of its own, since limits stay. What a part lacks is said from inside.
static bool try_isolation(Options *o, enum isolation isolation)
{
    fflush(stdout);
    pid_t pid = fork();
    int status = 1;
    if (pid == 0) {
        o->isolation = isolation;
        if (run(o) != 0) exit(1);
        puts(told->another
                 ? "found user: another one, which no other process has"
                 : "limited user: that of who grades; root gives each program another one");
        say_kept("memory", limits_memory_kept());
        say_kept("processes", limits_processes_kept());
        printf("isolation: %s\n", isolations[isolation]);
        exit(0);
    }
    if (pid > 0) waitpid(pid, &status, 0);
    return status == 0;
}

static int check(Options o)
{
    char *self = realpath("/proc/self/exe", NULL), *probe[] = { self, "--probe", NULL };
    if (!self) fail("/proc/self/exe");
    limits_sweep();
    probe_prepare();
    keep(o.read, &o.reads, self);
    keep(o.keep, &o.keeps, PROBE_NAMESPACES);
    o.command = probe;
    if (try_isolation(&o, ISOLATION_NAMESPACES)) return 0;
    probe_say_refusal();
    if ((getuid() != 0 || !try_isolation(&o, ISOLATION_USER))
        && !try_isolation(&o, ISOLATION_PROCESS))
        puts("isolation: none");
    return 1;
}

static enum isolation isolation_of(const char *word)
{
    for (int n = 0; n < ISOLATION_COUNT; n++)
        if (strcmp(word, isolations[n]) == 0) return (enum isolation)n;
    fprintf(stderr, "sandbox: there is no isolation '%s'\n", word);
    exit(SANDBOX_FAILED);
}

static unsigned long long number(const char *text, const char *what)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || !value) {
        fprintf(stderr, "sandbox: %s takes a number above 0, not '%s'\n", what, text);
        exit(SANDBOX_FAILED);
    }
    return value;
}

static Options parse(int count, char **words)
{
    static const struct option known[] = {
        { "read", required_argument, NULL, 'r' },
        { "device", required_argument, NULL, 'd' },
        { "write", required_argument, NULL, 'w' },
        { "at", required_argument, NULL, 'a' },
        { "keep", required_argument, NULL, 'k' },
        { "memory", required_argument, NULL, 'm' },
        { "processes", required_argument, NULL, 'p' },
        { "seconds", required_argument, NULL, 's' },
        { "file", required_argument, NULL, 'f' },
        { "check", no_argument, NULL, 'c' },
        { "probe", no_argument, NULL, 'q' },
        { "isolation", required_argument, NULL, 'i' },
        { NULL, 0, NULL, 0 },
    };
    Options o = { .limits = {
                      .memory = 4ull << 30, .processes = 64, .seconds = 120, .file = 64 << 20 } };
    for (int c; (c = getopt_long(count, words, "+", known, NULL)) >= 0;) switch (c) {
        case 'r': keep(o.read, &o.reads, optarg); break;
        case 'd': keep(o.device, &o.devices, optarg); break;
        case 'w': o.write = optarg; break;
        case 'a': o.at = optarg; break;
        case 'k': keep(o.keep, &o.keeps, optarg); break;
        case 'm': o.limits.memory = number(optarg, "--memory"); break;
        case 'p': o.limits.processes = (unsigned)number(optarg, "--processes"); break;
        case 's': o.limits.seconds = (unsigned)number(optarg, "--seconds"); break;
        case 'f': o.limits.file = number(optarg, "--file"); break;
        case 'c': o.check = true; break;
        case 'q': o.probe = true; break;
        case 'i': o.isolation = isolation_of(optarg); break;
        default: exit(SANDBOX_FAILED);
        }
    o.command = words + optind;
    if (!o.check && !o.probe && !*o.command) {
        fputs("sandbox: no command. Usage: sandbox [--read PATH]... [--write FOLDER] [--keep "
              "NAME]... -- COMMAND [ARGUMENT...]\n",
              stderr);
        exit(SANDBOX_FAILED);
    }
    return o;
}

int main(int count, char **words)
{
    Options o = parse(count, words);
    if (o.probe) return probe_say(&o.limits), 0;
    return o.check ? check(o) : run(&o);
}
