// A fake device for the grader's own tests: device --report FD --owner FD --limit N --devices N --
// PROGRAM ARGS. Runs the program with the fake runtime library beside it (cudart.c) and
// FAKE_DEVICE=simulated, and answers the owner until it ends. When the owner first asks, in a call,
// it writes the lines of $FAKE_EVENTS to the first FD, and it ends the report as a device does. Its
// memory is a file that the program maps at the same
// place.
#define _GNU_SOURCE
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_memory.h"
#include "../../../simulator/wire/wire.h"

// Where the harness's code begins in the program, by its symbols.
static unsigned long harness_in(const char *program)
{
    char command[8192];
    unsigned long address = 0;
    snprintf(command, sizeof command, "nm '%s' | sed -n 's/ T harness_begin$//p'", program);
    FILE *symbols = popen(command, "r");
    if (symbols && fscanf(symbols, "%lx", &address) != 1) address = 0;
    if (symbols) pclose(symbols);
    return address;
}

// "@harness" stands for a call by the harness, "@submission" for one by the code right before it.
static const char *put_caller(const char *mark, const char *program, FILE *report)
{
    static const char harness[] = "\"@harness\"", submission[] = "\"@submission\"";
    bool by_harness = strncmp(mark, harness, sizeof harness - 1) == 0;
    fprintf(report, "{\"object\":\"%s\",\"address\":\"0x%lx\"}", program,
            harness_in(program) + (by_harness ? 5 : 0));
    return mark + (by_harness ? sizeof harness : sizeof submission) - 1;
}

static void copy_events(const char *path, const char *program, FILE *report)
{
    FILE *f = path && *path ? fopen(path, "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    while (f && getline(&line, &room, f) > 0) {
        const char *at = line;
        for (const char *mark; (mark = strstr(at, "\"@"));) {
            fwrite(at, 1, mark - at, report);
            at = put_caller(mark, program, report);
        }
        fputs(at, report);
    }
    free(line);
    if (f) fclose(f);
    fflush(report);
}

// ---- The owner

static bool receive(int owner, WireRequest *request, int *file)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = { request, sizeof *request };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    if (recvmsg(owner, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof *request) return false;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    *file = -1;
    if (c) memcpy(file, CMSG_DATA(c), sizeof *file);
    return true;
}

// Nothing is ever freed.
static void answer(int owner, const WireRequest *r, int file)
{
    static unsigned long used;
    WireReply reply = { .version = WIRE_VERSION };
    const WireBox *at = &r->copy.device;
    if (r->op == WIRE_ALLOC) {
        reply.memory.address = FAKE_MEMORY + used;
        used += (r->alloc.bytes + 4095) / 4096 * 4096;
        if (used > FAKE_BYTES) reply.error = WIRE_MEMORY_ALLOCATION;
    }
    if (r->op == WIRE_COPY_IN
        && pread(file, (void *)at->address, r->copy.width, (off_t)r->copy.from.address) < 0)
        reply.error = WIRE_INVALID_VALUE;
    if (r->op == WIRE_COPY_OUT
        && pwrite(file, (void *)at->address, r->copy.width, (off_t)r->copy.from.address) < 0)
        reply.error = WIRE_INVALID_VALUE;
    if (file >= 0) close(file);
    send(owner, &reply, sizeof reply, MSG_NOSIGNAL);
}

static void serve_until_end(int owner, pid_t program, const char *path, FILE *report)
{
    const char *events = getenv("FAKE_EVENTS");
    WireRequest request;
    int file;
    struct pollfd watched[] = { { .fd = pidfd_open(program, 0), .events = POLLIN },
                                { .fd = owner, .events = POLLIN } };
    while (!watched[0].revents && poll(watched, 2, -1) > 0) {
        while (receive(owner, &request, &file)) {
            copy_events(events, path, report);
            events = NULL;
            answer(owner, &request, file);
        }
        if (watched[1].revents & POLLHUP) watched[1].fd = -1;
    }
}

int main(int argc, char **argv)
{
    static const char *const options[] = { "--report", "--owner", "--limit", "--devices", "--" };
    for (int n = 0; n < 5; n++)
        if (argc < 11 || strcmp(argv[1 + 2 * n], options[n])) return 2;
    int owner = atoi(argv[4]);
    FILE *report = fdopen(atoi(argv[2]), "w");
    fcntl(atoi(argv[2]), F_SETFD, FD_CLOEXEC);
    fcntl(owner, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    argv += 2;
    char number[16];
    int memory = memfd_create("fake", 0);
    if (memory < 0 || ftruncate(memory, FAKE_BYTES) < 0 || !fake_map(memory)) return 2;
    snprintf(number, sizeof number, "%d", memory);
    setenv("FAKE_MEMORY", number, 1);

    char self[4096] = { 0 };
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return 2;
    setenv("LD_LIBRARY_PATH", dirname(self), 1);
    setenv("FAKE_DEVICE", "simulated", 1);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(argv[8], argv + 8);
        _exit(127);
    }

    // What the program has left in a file is seen as it ends: that may be in one check alone.
    int status;
    char late[32];
    serve_until_end(owner, pid, argv[8], report);
    waitpid(pid, &status, 0);
    snprintf(late, sizeof late, "late.%d", pid);
    copy_events(late, argv[8], report);
    const char *now = getenv("FAKE_CASE");
    if (now && strcmp(now, "device-lost") == 0) return 1; // a device that ends without a word
    if (WIFSIGNALED(status))
        fprintf(report, "{\"event\":\"exit\",\"signal\":%d}\n", WTERMSIG(status));
    else fprintf(report, "{\"event\":\"exit\",\"status\":%d}\n", WEXITSTATUS(status));
    return 0;
}
