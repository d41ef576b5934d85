// The simulator's main process: `device [options] PROGRAM [ARGS]` starts the program as its child,
// has it served (runtime/machine.c), reports how it ended, and exits with its status.

#define _GNU_SOURCE
#include "runtime/machine.h"
#include "machine/grid.h"
#include "memory/memory.h"
#include "memory/writer.h"
#include "machine/profile.h"
#include "machine/shard.h"
#include "machine/worker.h"
#include "model/carried.h"
#include "model/managed.h"
#include "observers.h"
#include "report/html.h"
#include "report/timeline.h"
#include "runtime/images.h"
#include "runtime/program.h"
#include "runtime/serve.h"
#include "runtime/trace.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    EXIT_FOUND = 1,
    EXIT_USAGE = 2,
    EXIT_CANNOT_RUN = 126,
    EXIT_NOT_FOUND = 127,
    MOST_STATUS = 255
};

typedef struct {
    const char *profile;
    const char *timeline, *html;
    int report;      // file descriptor for JSON events; -1: text
    const char *log; // the file that text or JSON is written to; NULL: stderr
    u64 limit, devices;
    u64 found; // exit status when errors were found and the program's own is 0
    bool counters, bare;
    char **program;
} Options;

static pid_t child;
static char library_path[PATH_MAX]; // the folder of our libcudart.so.13

static void usage(void)
{
    puts("usage: simulator/run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
         "Runs a CUDA program, linked by nvcc -cudart shared, on a simulated device.\n"
         "\n"
         "What it tells, on stderr:\n"
         "  --profile           each kernel as Nsight Compute's details page has it\n"
         "  --kernel REGEX      only of kernels whose signature matches it\n"
         "  --launches A-B      only of the Ath to the Bth launch of these\n"
         "  --json              all that happens, as lines of JSON in place of text\n"
         "  --report FD         the same, to this file descriptor\n"
         "  --log-file FILE     to this file, in place of stderr\n"
         "  --html FILE         the profile as a page for a browser, with the source, to\n"
         "                      this file\n"
         "  --timeline FILE     when everything ran, to this file, which ui.perfetto.dev\n"
         "                      and chrome://tracing show\n"
         "  --error-exitcode N  exit with N when errors were found and the program's own\n"
         "                      status is 0; 1 unless told, and 0 leaves that status\n"
         "\n"
         "What it looks for:\n"
         "  --bare              only accesses outside of memory; nothing is counted\n"
         "  --shuffle SEED      blocks begin, and they and their warps take turns, in an\n"
         "                      order of that seed's, and lanes of a warp fall behind the\n"
         "                      others: mistakes that habit hides come out\n"
         "  --late              work begins when the program asks or waits for it, not\n"
         "                      when it issues more\n"
         "  --limit N           stop a launch after N warp instructions\n"
         "\n"
         "The machine:\n"
         "  --device FILE       imitate the device of this profile; an H200 unless told,\n"
         "                      or the one of profiles/devices that PROFILE names\n"
         "  --devices N         with so many of them; 1 unless told, here or by DEVICES\n"
         "  --threads N         run on so many of this machine's cores; on all of them\n"
         "                      unless told\n"
         "  --spread N          share out launches of N warp instructions or more; 40000\n"
         "                      unless told\n"
         "  --owner FD          a socket over which another process owns memory on the\n"
         "                      devices (simulator/wire/wire.h)\n"
         "\n"
         "  --help, --version   print this, or the course's version");
}

static void misused(void)
{
    fputs("Type: simulator/run --help\n", stderr);
    exit(EXIT_USAGE);
}

static u64 number(const char *text, const char *option)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-') {
        fprintf(stderr, "simulator/run: %s takes a number, not '%s'\n", option, text);
        exit(EXIT_USAGE);
    }
    return value;
}

static void kernels(const char *pattern)
{
    const char *why = report_kernels(pattern);
    if (!why) return;
    fprintf(stderr, "simulator/run: --kernel takes a regular expression, not '%s': %s\n", pattern,
            why);
    exit(EXIT_USAGE);
}

// "3" or "1-9".
static void launches(const char *range)
{
    char *end;
    u64 from = strtoull(range, &end, 10), to = *end == '-' ? strtoull(end + 1, &end, 10) : from;
    if (!isdigit((unsigned char)range[0]) || *end || from < 1 || to < from) {
        fprintf(stderr,
                "simulator/run: --launches takes numbers from 1 on, as 3 or 1-9, not '%s'\n",
                range);
        exit(EXIT_USAGE);
    }
    report_launches(from, to);
}

// Ends the process if they make no sense.
static void look_through(const Options *options)
{
    if (options->found > MOST_STATUS) {
        fprintf(stderr, "simulator/run: --error-exitcode takes a number from 0 to %d\n",
                MOST_STATUS);
        exit(EXIT_USAGE);
    }
    if (options->devices < 1 || options->devices > MOST_DEVICES) {
        fprintf(stderr, "simulator/run: --devices takes a number from 1 to %d\n", MOST_DEVICES);
        exit(EXIT_USAGE);
    }
    if (!options->program[0] || !options->profile) {
        fprintf(stderr, "simulator/run: which program, on which device?\n");
        misused();
    }
}

static Options parse(int count, char **words)
{
    static const struct option known[] = {
        { "device", required_argument, NULL, 'd' },
        { "report", required_argument, NULL, 'r' },
        { "limit", required_argument, NULL, 'l' },
        { "profile", no_argument, NULL, 'p' },
        { "devices", required_argument, NULL, 'n' },
        { "json", no_argument, NULL, 'j' },
        { "bare", no_argument, NULL, 'b' },
        { "threads", required_argument, NULL, 't' },
        { "spread", required_argument, NULL, 's' },
        { "shuffle", required_argument, NULL, 'o' },
        { "timeline", required_argument, NULL, 'm' },
        { "html", required_argument, NULL, 'i' },
        { "late", no_argument, NULL, 'a' },
        { "owner", required_argument, NULL, 'w' },
        { "log-file", required_argument, NULL, 'f' },
        { "kernel", required_argument, NULL, 'k' },
        { "launches", required_argument, NULL, 'c' },
        { "error-exitcode", required_argument, NULL, 'e' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    words[0] = "simulator/run"; // what a person called
    Options options = { .report = -1, .devices = 1, .found = EXIT_FOUND };
    for (int c; (c = getopt_long(count, words, "+h", known, NULL)) >= 0;) {
        switch (c) {
        case 'd': options.profile = optarg; break;
        case 'r': options.report = (int)number(optarg, "--report"); break;
        case 'l': options.limit = number(optarg, "--limit"); break;
        case 'n': options.devices = number(optarg, "--devices"); break;
        case 'p': options.counters = true; break;
        case 'j': options.report = STDERR_FILENO; break;
        case 'b': options.bare = true; break;
        case 'm': options.timeline = optarg; break;
        case 'i': options.html = optarg; break;
        case 't': worker_threads((u32)number(optarg, "--threads")); break;
        case 'o': grid_shuffle(number(optarg, "--shuffle")); break;
        case 'a': device.late = true; break;
        case 'w': device.owner = (int)number(optarg, "--owner"); break;
        case 's': shard_set_threshold(number(optarg, "--spread")); break;
        case 'k': kernels(optarg); break;
        case 'c': launches(optarg); break;
        case 'f': options.log = optarg; break;
        case 'e': options.found = number(optarg, "--error-exitcode"); break;
        case 'h': usage(); exit(0);
        default: misused();
        }
    }
    options.program = words + optind;
    look_through(&options);
    return options;
}

static void fail(const char *what)
{
    fprintf(stderr, "simulator/run: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void find_library(void)
{
    ssize_t length = readlink("/proc/self/exe", library_path, sizeof library_path - sizeof "/lib");
    if (length < 0) fail("cannot find myself");
    library_path[length] = 0;
    strcpy(strrchr(library_path, '/'), "/lib");
}

// A placeholder. The program inherits its descriptor; when the program connects, it puts its own
// memfd under the same number.
static int reserve_memory_number(void)
{
    int fd = memfd_create("warpwise-reserved", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)WIRE_FILE_BYTES) < 0
        || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        fail("cannot make the shared memory");
    return fd;
}

// In the child process: sets up what the program needs to find the device, then executes the
// program.
static void become_program(char **program, int socket, const char *name, int failed, pid_t parent)
{
    int memory = reserve_memory_number();
    char value[128], path[2 * PATH_MAX];
    const char *before = getenv("LD_LIBRARY_PATH");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1); // the parent ended before prctl() took effect
    fcntl(socket, F_SETFD, 0);
    fcntl(memory, F_SETFD, 0);
    snprintf(value, sizeof value, "%d,%d,%s", socket, memory, name);
    setenv(WIRE_ENVIRONMENT, value, 1);
    snprintf(path, sizeof path, "%s%s%s", library_path, before && *before ? ":" : "",
             before ? before : "");
    setenv("LD_LIBRARY_PATH", path, 1);
    // A pointer of the host's is the same in each run, and so is what is told of it. Where a
    // container refuses that, addresses vary.
    personality(ADDR_NO_RANDOMIZE);
    execvp(program[0], program);
    int error = errno;
    if (write(failed, &error, sizeof error) < 0) _exit(1);
    _exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

static void cannot_run(const char *program, int error)
{
    int status = error == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
    waitpid(child, NULL, 0);
    fprintf(stderr, "simulator/run: cannot run %s: %s\n", program, strerror(error));
    report_exit(status, 0);
    exit(status);
}

// Returns our end of the socket that the program inherits.
static int start_program(char **program, const char *name)
{
    int pair[2], failed[2], error;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0
        || pipe2(failed, O_CLOEXEC) < 0)
        fail("cannot make a socket");
    int on = 1;
    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    pid_t parent = getpid();
    child = fork();
    if (child < 0) fail("cannot start a process");
    if (child == 0) become_program(program, pair[1], name, failed[1], parent);
    close(pair[1]);
    close(failed[1]);
    if (read(failed[0], &error, sizeof error) == sizeof error) cannot_run(program[0], error);
    close(failed[0]);
    return pair[0];
}

// Passes a signal that would end this process on to the program, whose end then ends this process.
static void on_signal(int signal) { kill(child, signal); }

static void set_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN); // a terminal sends ^C to the program as well
    signal(SIGTERM, on_signal);
    signal(SIGHUP, on_signal);
}

static int exit_status(const siginfo_t *info, const Options *options)
{
    if (info->si_code != CLD_EXITED) return 128 + info->si_status;
    return !info->si_status && report_found() ? (int)options->found : info->si_status;
}

static void say_end(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED) report_exit(info->si_status, 0);
    else report_exit(0, info->si_status);
}

// Has malloc() keep freed memory for the next launch. Memory that is returned to the operating
// system would be cleared when it is used again.
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 16 << 20);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

static void write_files(const Options *options)
{
    char *found = report_found_words();
    if (!timeline_close())
        fprintf(stderr, "simulator/run: cannot write %s: %s\n", options->timeline, strerror(errno));
    if (!html_close(profile.name, options->program, found))
        fprintf(stderr, "simulator/run: cannot write %s: %s\n", options->html, strerror(errno));
    free(found);
}

int main(int count, char **words)
{
    prctl(PR_SET_DUMPABLE, 0); // the program must not read or trace this process
    keep_memory();
    Options options = parse(count, words);
    if (options.report > STDERR_FILENO && fcntl(options.report, F_SETFD, FD_CLOEXEC) < 0)
        fail("--report");
    if (device.owner >= 0 && fcntl(device.owner, F_SETFD, FD_CLOEXEC) < 0) fail("--owner");
    const int log =
        options.log ? open(options.log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    if (options.log && log < 0) {
        fprintf(stderr, "simulator/run: cannot write %s: %s\n", options.log, strerror(errno));
        return EXIT_USAGE;
    }
    if (!profile_load(options.profile, &profile)) return 1;
    if (!memory_init(profile.memory_bytes)) {
        fputs("simulator/run: the address range of device memory is not free\n", stderr);
        return 1;
    }
    if (device.owner >= 0 && !writer_keep()) {
        fputs("simulator/run: no address space for who wrote what (--owner)\n", stderr);
        return 1;
    }
    if (device.owner >= 0) carried_keep();
    if (device.owner >= 0) images_of_command(options.program);
    if (device.owner >= 0 && !options.bare) trace_keep();
    memory_tell_shared(managed_allocated);
    observers_hand_in(options.bare);
    if (options.timeline && !timeline_open(options.timeline)) fail("--timeline");
    if (options.html && !html_open(options.html)) fail("--html");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    find_library();
    device.limit = options.limit;
    device.count = (u32)options.devices;
    report_open(options.report, options.counters);
    if (device.count > 1) report_several();
    machine_make();
    int control = start_program(options.program, machine_listen());
    if (log >= 0) dup2(log, STDERR_FILENO); // the program keeps its own
    set_signals();
    int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    if (pidfd < 0) fail("cannot watch the program");
    if (!machine_run(child, pidfd, control)) program_explain(options.program[0]);
    siginfo_t info = { 0 };
    waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
    write_files(&options);
    say_end(&info);
    _exit(exit_status(&info, &options));
}
