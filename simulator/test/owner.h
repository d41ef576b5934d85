// A program whose memory somebody else owns (owner.cu), and the owner's channel to its device.
#pragma once
#include "wire/wire.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1000, BYTES = 4 * COUNT };

static int owner = -1;     // the socket
static FILE *calls, *said; // the program's standard input and output
static FILE *report; // the device's: a file, as no pipe takes all that is told before it is read
static pid_t device;

static const char program[] = "build/simulator/test/owner";

static inline void expect_said(const char *word)
{
    char line[32] = "";
    cr_assert(fgets(line, sizeof line, said) && strncmp(line, word, strlen(word)) == 0, "%s", line);
}

static inline void start(void)
{
    int sockets[2], in[2], out[2], events = memfd_create("report", MFD_CLOEXEC);
    cr_assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0
              && pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && events >= 0);
    device = fork();
    if (device == 0) {
        dup2(in[0], 0), dup2(out[1], 1), dup2(sockets[1], 57), dup2(events, 59);
        execl("simulator/run", "simulator/run", "--owner", "57", "--report", "59", program, NULL);
        _exit(126);
    }
    close(sockets[1]), close(in[0]), close(out[1]);
    owner = sockets[0];
    calls = fdopen(in[1], "w"), said = fdopen(out[0], "r"), report = fdopen(events, "r");
    expect_said("ready");
}

static inline WireReply ask(WireRequest request, int file)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof file)];
    } control = { 0 };
    WireReply reply = { .error = -1 };
    request.version = WIRE_VERSION;
    struct iovec part = { &request, sizeof request };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (file >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        control.header = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof file),
                                           .cmsg_level = SOL_SOCKET,
                                           .cmsg_type = SCM_RIGHTS };
        memcpy(CMSG_DATA(&control.header), &file, sizeof file);
    }
    cr_assert_eq(sendmsg(owner, &message, 0), (ssize_t)sizeof request);
    cr_assert_eq(recv(owner, &reply, sizeof reply, 0), (ssize_t)sizeof reply);
    return reply;
}

static inline uint64_t allocate(void)
{
    WireReply reply = ask((WireRequest){ .op = WIRE_ALLOC, .alloc = { BYTES, 256, 0 } }, -1);
    cr_assert_eq(reply.error, 0);
    return reply.memory.address;
}

// A file of the numbers a * i + b behind `offset` bytes.
static inline int line(int a, int b, off_t offset)
{
    int file = memfd_create("numbers", 0), value[COUNT];
    for (int i = 0; i < COUNT; i++) value[i] = a * i + b;
    cr_assert_eq(pwrite(file, value, BYTES, offset), BYTES);
    return file;
}

static inline int copy(enum wire_op op, uint64_t address, uint64_t bytes, int file, uint64_t offset)
{
    WireRequest r = { .op = op };
    r.copy.device.address = address;
    r.copy.from.address = offset;
    r.copy.width = bytes;
    r.copy.blocks = 1;
    return ask(r, file).error;
}

static inline void call_for(const char *what, uint64_t address, int count)
{
    fprintf(calls, "%s %p %d\n", what, (void *)address, count);
    fflush(calls);
    expect_said("returned");
}

static inline void call(const char *what, uint64_t address) { call_for(what, address, COUNT); }

// The program ends, and its report can be read.
static inline void end_program(void)
{
    fclose(calls);
    waitpid(device, NULL, 0);
    rewind(report);
}

// The program ends. The last event of that kind in its report, or NULL.
static inline json_t *end(const char *kind)
{
    json_t *found = NULL, *event;
    end_program();
    while ((event = json_loadf(report, JSON_DISABLE_EOF_CHECK, NULL)))
        if (strcmp(json_string_value(json_object_get(event, "event")), kind) == 0) found = event;
    return found;
}
