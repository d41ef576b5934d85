// A session: fork and exec of `$DEVICE --report FD --limit N -- WORKER SOCKET`.
//
//     grader --- socket: requests, answers, memory ---> worker
//       ^  '----- socket: memory that we own -------> device (its parent)
//       ^  ^----- pipe: events of the device --------'
//       '-------- pipe: what both print -----------------'
//
// On a GPU it is `$DEVICE WORKER SOCKET`, $DEVICE most often empty. Nobody reports
// there: the worker's own end is seen through a pidfd, and takes the pipe's place. Memory is owned
// over a socket to a process of our own (gpu_memory.h).
//
// Between the device and the worker there may be a sandbox's words (confine.h).
#define _GNU_SOURCE
#include "session.h"
#include "confine.h"
#include "gpu_memory.h"
#include "message.h"
#include "process.h"
#include "run.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OWNER_FD = 7, WORKER_FD = 8, REPORT_FD = 9, COMMAND_WORDS = 32, OUTPUT_KEPT = 1 << 16 };

// How long the device may take to end once its program has, in seconds.
static const double ENDING = 10;

static void close_end(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

// A pair of descriptors: [0] stays here, [1] goes to the child.
typedef struct Channels {
    int worker[2], owner[2], report[2], printed[2]; // owner: of a device that reports
} Channels;

static bool open_channels(Channels *c)
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c->worker) == 0
        && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c->owner) == 0
        && pipe2(c->report, O_CLOEXEC) == 0 && pipe2(c->printed, O_CLOEXEC) == 0;
}

bool session_device_reports(const char *device)
{
    static const char name[] = "simulator/run";
    size_t word = strcspn(device, " "), n = sizeof name - 1;
    return word >= n && strncmp(device + word - n, name, n) == 0;
}

// ---- Starting

// The words of a command; returns how many.
static size_t split(char *words, const char **argv)
{
    size_t n = 0;
    for (char *w = strtok(words, " "); w && n < COMMAND_WORDS; w = strtok(NULL, " ")) argv[n++] = w;
    return n;
}

static pid_t start_simulator(const char *device, const char *worker, const Terms *terms,
                             const Channels *c)
{
    char words[4096], limit[32], devices[32];
    const char *argv[COMMAND_WORDS + CONFINE_WORDS + 16];
    snprintf(words, sizeof words, "%s", device);
    snprintf(limit, sizeof limit, "%llu", (unsigned long long)terms->instructions);
    snprintf(devices, sizeof devices, "%d", run_profile()->devices);
    size_t n = split(words, argv);
    if (terms->timeline) {
        argv[n++] = "--timeline";
        argv[n++] = terms->timeline;
    }
    if (terms->shuffled) {
        argv[n++] = "--shuffle";
        argv[n++] = "1";
    }
    if (terms->late) argv[n++] = "--late";
    const char *ours[] = { "--report", "9",         "--owner", "7", "--limit",
                           limit,      "--devices", devices,   "--" };
    memcpy(argv + n, ours, sizeof ours);
    n += sizeof ours / sizeof *ours;
    n += confine_worker(argv + n, run_root(), worker);
    memcpy(argv + n, (const char *[]){ worker, "8", NULL }, 3 * sizeof *argv);

    // Nothing of ours tells the program where to look for the grader's files. Which GPUs of this
    // machine a user may have, as Slurm says it, is nothing to the simulated ones: they have their
    // own numbers.
    static const char *const environment[] = { "WARPWISE_RUN=", "WARPWISE_SEED=", "SEED=",
                                               "CUDA_VISIBLE_DEVICES", NULL };
    Spawn spawn = {
        .argv = argv,
        .environment = environment,
        .from = { c->owner[1], c->worker[1], c->report[1], c->printed[1], c->printed[1] },
        .to = { OWNER_FD, WORKER_FD, REPORT_FD, 1, 2 },
        .descriptors = 5,
        .trusted = confine_is_on(), // the sandbox takes everything from the program
    };
    return process_start(&spawn);
}

// Profilers close the descriptors that they do not know: behind one, the worker
// connects by itself, to this name.
static const char *listen_at(int *listener)
{
    static char name[64];
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    snprintf(name, sizeof name, "@warpwise-%d", getpid());
    memcpy(a.sun_path + 1, name + 1, strlen(name) - 1);
    *listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + strlen(name);
    bool good = *listener >= 0 && bind(*listener, (struct sockaddr *)&a, size) == 0
             && listen(*listener, 1) == 0;
    return good ? name : NULL;
}

// The worker's connection, once it comes; -1: it did not in time.
static int accept_worker(int listener, double seconds)
{
    struct pollfd p = { .fd = listener, .events = POLLIN };
    int fd =
        poll(&p, 1, (int)(seconds * 1000)) > 0 ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
    close(listener);
    return fd;
}

static pid_t start_gpu(const char *device, const char *worker, const char *at, const Channels *c)
{
    char words[4096];
    const char *argv[COMMAND_WORDS + CONFINE_WORDS + 8];
    snprintf(words, sizeof words, "%s", device);
    size_t n = split(words, argv);
    n += confine_worker(argv + n, run_root(), worker);
    const char *rest[] = { worker, at, NULL };
    memcpy(argv + n, rest, sizeof rest);

    // Launches that wait, which a user may have asked for to find a mistake elsewhere, would be
    // held against the student.
    const char *environment[] = { "WARPWISE_RUN=",        "WARPWISE_SEED=", "SEED=",
                                  "CUDA_LAUNCH_BLOCKING", run_libraries(),  NULL };
    Spawn spawn = {
        .argv = argv,
        .environment = environment,
        .from = { c->worker[1], c->printed[1], c->printed[1] },
        .to = { WORKER_FD, 1, 2 },
        .descriptors = 3,
        .trusted = n > 0, // the GPU's counters are root's, and the sandbox takes everything away
    };
    return process_start(&spawn);
}

static pid_t start_device(Session *s, const char *device, const char *worker, const Terms *terms,
                          const Channels *c)
{
    s->reports = session_device_reports(device);
    if (s->reports) return start_simulator(device, worker, terms, c);

    int listener = -1;
    const char *at = device[strspn(device, " ")] ? listen_at(&listener) : "8";
    pid_t pid = at ? start_gpu(device, worker, at, c) : -1;
    close_end(&s->report);
    close_end(&s->owner);
    if (pid > 0) s->report = pidfd_open(pid, 0);
    if (pid > 0 && run_owns_gpu_memory() && gpu_memory_start(&s->owner) < 0) return -1;
    if (listener >= 0) {
        close(s->worker);
        s->worker = accept_worker(listener, pid > 0 ? terms->seconds : 0);
    }
    return pid;
}

const char *session_start(Session *s, const char *device, const char *worker, const Terms *terms)
{
    static char problem[256];
    Channels c;
    *s = (Session){ .worker = -1,
                    .owner = -1,
                    .report = -1,
                    .printed = -1,
                    .output = s->output,
                    .output_bytes = s->output_bytes,
                    .output_cut = s->output_cut };
    s->harness = harness_of(worker);
    events_init(&s->events);
    s->events.trace.harness = s->harness;
    s->events.ranged = terms->timeline != NULL;
    if (!open_channels(&c)) {
        snprintf(problem, sizeof problem, "no pipe or socket: %s", strerror(errno));
        return problem;
    }

    s->worker = c.worker[0];
    s->owner = c.owner[0];
    s->report = c.report[0];
    s->printed = c.printed[0];
    s->clock = process_clock(terms->seconds);
    fcntl(s->report, F_SETFL, O_NONBLOCK);
    fcntl(s->printed, F_SETFL, O_NONBLOCK);

    process_adopt();
    pid_t pid = start_device(s, device, worker, terms, &c);
    int why = errno;
    close(c.worker[1]);
    close(c.owner[1]);
    close(c.report[1]);
    close(c.printed[1]);
    if (pid < 0) {
        snprintf(problem, sizeof problem, "%.150s: %s", *device ? device : worker, strerror(why));
        return problem;
    }
    s->device = pid;
    return NULL;
}

// The end of a device that does not report, in the words of one that does.
static void take_end(Session *s)
{
    int status;
    pid_t pid = waitpid(s->device, &status, WNOHANG);
    if (pid == 0) return;
    if (pid < 0) // swept away already
        status = SIGKILL;
    s->events.ended = true;
    s->events.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    s->events.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    confine_end(&s->events.status, &s->events.signal);
    close_end(&s->report);
}

static void keep_output(Session *s, const char *bytes, size_t count)
{
    size_t room = OUTPUT_KEPT - s->output_bytes;
    s->output_cut |= count > room;
    count = count < room ? count : room;
    s->output = realloc(s->output, s->output_bytes + count + 1);
    memcpy(s->output + s->output_bytes, bytes, count);
    s->output_bytes += count;
    s->output[s->output_bytes] = 0;
}

// Takes what is there to read, without waiting, at most 1 MiB so that a flood of
// output does not keep us from the clock; closes what has ended.
static void drain(Session *s, int *fd)
{
    static char buffer[1 << 16];
    if (fd == &s->report && !s->reports) {
        take_end(s);
        return;
    }
    for (int i = 0; i < 16 && *fd >= 0; i++) {
        ssize_t n = read(*fd, buffer, sizeof buffer);
        if (n > 0 && fd == &s->report) events_feed(&s->events, buffer, n);
        else if (n > 0) keep_output(s, buffer, n);
        else if (n < 0 && errno == EINTR) continue;
        else if (n < 0 && errno == EAGAIN) return;
        else close_end(fd);
    }
}

// All that was reported before now. The pipe holds it already: the device
// answers a synchronous call after its events are written.
static void drain_all(Session *s)
{
    struct pollfd report = { .fd = s->report, .events = POLLIN };
    while (s->report >= 0 && poll(&report, 1, 0) > 0) {
        drain(s, &s->report);
        report.fd = s->report;
    }
    drain(s, &s->printed);
}

// Waits until that socket, the report or the output has something, and takes the
// last two in. True: the socket is ready. False: it is not yet, or the
// deadline has passed.
static bool wait_a_little(Session *s, int socket)
{
    struct pollfd fds[] = {
        { .fd = socket, .events = POLLIN },
        { .fd = s->report, .events = POLLIN },
        { .fd = s->printed, .events = POLLIN },
        { .fd = s->reports ? -1 : s->owner }, // a GPU's owner may end by itself
    };
    double left = process_left(&s->clock);
    if (left <= 0 || poll(fds, sizeof fds / sizeof *fds, (int)(left * 1000) + 1) <= 0) return false;
    if (fds[1].revents) drain(s, &s->report);
    if (fds[2].revents) drain(s, &s->printed);
    s->lost = fds[3].revents != 0;
    return fds[0].revents != 0;
}

// The program has ended; the rest of the report says how.
static enum outcome wait_for_end(Session *s)
{
    close_end(&s->worker);
    close_end(&s->owner);
    s->clock = process_clock(ENDING);
    while (s->report >= 0 && process_left(&s->clock) > 0) wait_a_little(s, -1);
    drain_all(s);
    if (s->events.malformed || (s->report < 0 && !s->events.ended)) return OUTCOME_LOST;
    return s->events.ended ? OUTCOME_ENDED : OUTCOME_LATE;
}

// True when the socket has an answer; else the outcome says why it never will.
static bool wait_for_answer(Session *s, int socket, enum outcome *outcome)
{
    while (!wait_a_little(s, socket)) {
        s->late = process_left(&s->clock) <= 0;
        if (s->late || s->lost) {
            *outcome = s->late ? OUTCOME_LATE : OUTCOME_LOST;
            return false;
        }
        if (s->events.ended || s->report < 0) {
            *outcome = wait_for_end(s); // though a child of the program may hold the socket
            return false;
        }
    }
    return true;
}

// The worker's next answer.
static enum outcome take_answer(Session *s, Answer *answer)
{
    // One byte more than an answer has, to see a longer one.
    char message[sizeof *answer + 1];
    enum outcome outcome;
    if (!wait_for_answer(s, s->worker, &outcome)) return outcome;
    ssize_t n = message_receive(s->worker, message, sizeof message, MSG_DONTWAIT, NULL);
    if (n <= 0) return wait_for_end(s);
    memcpy(answer, message, sizeof *answer);
    answer->error[PROTOCOL_ERROR - 1] = 0;
    return n == sizeof *answer && answer->magic == PROTOCOL_MAGIC ? OUTCOME_ANSWER
                                                                  : OUTCOME_NONSENSE;
}

enum outcome session_call(Session *s, const Request *request, const int *fds, size_t fd_count,
                          Answer *answer)
{
    drain_all(s);
    if (!message_send(s->worker, request, sizeof *request, fds, fd_count)) return wait_for_end(s);

    enum outcome outcome = take_answer(s, answer);
    if (outcome == OUTCOME_ANSWER && answer->stage == STAGE_BEGUN) outcome = take_answer(s, answer);
    if (outcome != OUTCOME_ANSWER && outcome != OUTCOME_NONSENSE) return outcome;
    drain_all(s);
    return s->events.malformed ? OUTCOME_LOST : outcome;
}

// The device's process itself has ended, or on a GPU the owner's alone.
static enum outcome lose_owner(Session *s) { return s->reports ? wait_for_end(s) : OUTCOME_LOST; }

enum outcome session_ask(Session *s, const WireRequest *request, int file, WireReply *reply,
                         int *memory)
{
    enum outcome outcome;
    if (!message_send(s->owner, request, sizeof *request, &file, file >= 0)) return lose_owner(s);
    if (!wait_for_answer(s, s->owner, &outcome)) return outcome;
    if (message_receive(s->owner, reply, sizeof *reply, MSG_DONTWAIT, memory) != sizeof *reply)
        return lose_owner(s);
    drain_all(s);
    return s->events.malformed ? OUTCOME_LOST : OUTCOME_ANSWER;
}

static void close_all(Session *s)
{
    drain_all(s);
    close_end(&s->worker);
    close_end(&s->owner);
    close_end(&s->report);
    close_end(&s->printed);
    s->device = 0;
}

enum outcome session_end(Session *s)
{
    enum outcome outcome = s->late ? OUTCOME_LATE : wait_for_end(s);
    process_sweep();
    close_all(s);
    return outcome;
}

void session_hang_up(Session *s)
{
    wait_for_end(s);
    close_all(s);
}
