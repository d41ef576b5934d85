// The owner's channel (wire.h): memory that a program works on and somebody else allocates, fills,
// reads and frees.
#define _GNU_SOURCE
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
static FILE *report;       // the device's
static pid_t device;

static const char program[] = "build/simulator/test/owner";

// Tests run side by side, and each compiles it.
static void compile(void)
{
    char command[512];
    snprintf(command, sizeof command,
             "mkdir -p build/simulator/test && ${NVCC:-nvcc} -cudart shared -arch=sm_90 -g -o "
             "%s.$$ simulator/test/owner.cu && mv %s.$$ %s",
             program, program, program);
    cr_assert_eq(system(command), 0);
}

static void expect_said(const char *word)
{
    char line[32] = "";
    cr_assert(fgets(line, sizeof line, said) && strncmp(line, word, strlen(word)) == 0, "%s", line);
}

static void start(void)
{
    int sockets[2], in[2], out[2], events[2];
    compile();
    cr_assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0
              && pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0
              && pipe2(events, O_CLOEXEC) == 0);
    device = fork();
    if (device == 0) {
        dup2(in[0], 0), dup2(out[1], 1), dup2(sockets[1], 57), dup2(events[1], 59);
        execl("simulator/run", "simulator/run", "--owner", "57", "--report", "59", program, NULL);
        _exit(126);
    }
    close(sockets[1]), close(in[0]), close(out[1]), close(events[1]);
    owner = sockets[0];
    calls = fdopen(in[1], "w"), said = fdopen(out[0], "r"), report = fdopen(events[0], "r");
    expect_said("ready");
}

TestSuite(owner, .init = start);

static WireReply ask(WireRequest request, int file)
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

static uint64_t allocate(void)
{
    WireReply reply = ask((WireRequest){ .op = WIRE_ALLOC, .alloc = { BYTES, 256, 0 } }, -1);
    cr_assert_eq(reply.error, 0);
    return reply.memory.address;
}

// A file of the numbers 0, 1, 2 ... behind `offset` bytes.
static int numbers(uint64_t offset)
{
    int file = memfd_create("numbers", 0), value[COUNT];
    for (int i = 0; i < COUNT; i++) value[i] = i;
    cr_assert_eq(pwrite(file, value, BYTES, (off_t)offset), BYTES);
    return file;
}

static int copy(enum wire_op op, uint64_t address, uint64_t bytes, int file, uint64_t offset)
{
    WireRequest r = { .op = op };
    r.copy.device.address = address;
    r.copy.from.address = offset;
    r.copy.width = bytes;
    r.copy.blocks = 1;
    return ask(r, file).error;
}

static void call_for(const char *what, uint64_t address, int count)
{
    fprintf(calls, "%s %p %d\n", what, (void *)address, count);
    fflush(calls);
    expect_said("returned");
}

static void call(const char *what, uint64_t address) { call_for(what, address, COUNT); }

// The program ends: the rest of the report. Its last event of that kind, or NULL.
static json_t *end(const char *kind)
{
    json_t *found = NULL, *event;
    fclose(calls);
    while ((event = json_loadf(report, JSON_DISABLE_EOF_CHECK, NULL)))
        if (strcmp(json_string_value(json_object_get(event, "event")), kind) == 0) found = event;
    waitpid(device, NULL, 0);
    return found;
}

static const char *caller_of(const json_t *place)
{
    return json_string_value(json_object_get(json_object_get(place, "caller"), "object"));
}

Test(owner, fills_what_a_kernel_changes_and_reads_it)
{
    int file = numbers(8), value;
    uint64_t address = allocate();
    cr_expect_eq(copy(WIRE_COPY_IN, address, BYTES, file, 8), 0);
    call("twice", address);
    call("twice", address);
    cr_expect_eq(ask((WireRequest){ .op = WIRE_DEVICE_SYNC }, -1).error, 0);
    cr_expect_eq(copy(WIRE_COPY_OUT, address, BYTES, file, 8), 0);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(pread(file, &value, sizeof value, 8 + 4 * i), 4);
        cr_assert_eq(value, 4 * i, "element %d is %d", i, value);
    }
    WireReply freed =
        ask((WireRequest){ .op = WIRE_FREE, .pointer = { address, WIRE_OF_DEVICE } }, -1);
    cr_expect_eq(freed.error, 0);
    cr_expect_null(end("copy"), "the program has copied nothing");
}

Test(owner, leaves_the_program_without_a_leak_of_its_own)
{
    allocate();
    const json_t *leak = end("error");
    cr_assert(leak);
    cr_expect_str_eq(json_string_value(json_object_get(leak, "kind")), "leak");
    cr_expect_str_eq(caller_of(leak), "owner");
}

Test(owner, is_told_that_the_program_has_freed_its_memory)
{
    int file = numbers(0);
    uint64_t address = allocate();
    cr_expect_eq(copy(WIRE_COPY_IN, address, BYTES, file, 0), 0);
    call("free", address);
    cr_expect_neq(copy(WIRE_COPY_OUT, address, BYTES, file, 0), 0);
    const json_t *error = end("error");
    cr_assert(error);
    cr_expect_str_eq(caller_of(error), "owner");
    cr_expect_str_neq(caller_of(json_object_get(json_object_get(error, "allocation"), "freed")),
                      "owner");
}

Test(owner, is_refused_what_is_not_for_it)
{
    int file = numbers(0);
    uint64_t address = allocate();
    cr_expect_neq(copy(WIRE_COPY_IN, address, BYTES + 4, file, 0), 0, "past the end of both");
    cr_expect_neq(copy(WIRE_COPY_IN, address, BYTES, file, 4), 0, "past the file's end");
    cr_expect_neq(copy(WIRE_COPY_IN, address, BYTES, -1, 0), 0, "without a file");
    cr_expect_neq(copy(WIRE_COPY_IN, address + 4, BYTES, file, 0), 0, "past the array's end");
    cr_expect_neq(copy(WIRE_FILL, address, BYTES, file, 0), 0, "another request");
    cr_expect_eq(copy(WIRE_COPY_IN, address, BYTES, file, 0), 0);
    end("exit");
}

// Who wrote the words of the array last: by nobody, kernels, fills, the host, and copies of what
// the owner filled.
typedef struct Words {
    uint64_t by[WRITERS];
} Words;

static void expect_written(uint64_t address, Words words)
{
    int file = memfd_create("back", 0);
    cr_assert_eq(ftruncate(file, BYTES), 0);
    WireRequest r = { .op = WIRE_COPY_OUT };
    r.copy.device.address = address;
    r.copy.width = BYTES;
    r.copy.blocks = 1;
    WireReply reply = ask(r, file);
    cr_assert_eq(reply.error, 0);
    for (int by = 0; by < WRITERS; by++)
        cr_expect_eq(reply.written.words[by], words.by[by], "%lu words by %d, not %lu",
                     (unsigned long)reply.written.words[by], by, (unsigned long)words.by[by]);
    close(file);
}

Test(owner, is_told_who_wrote_each_word_last)
{
    int file = numbers(0);
    uint64_t address = allocate();
    cr_expect_eq(copy(WIRE_COPY_IN, address, BYTES, file, 0), 0);
    expect_written(address, (Words){ { COUNT } });
    call_for("twice", address, 901); // of 256 threads a block, the last few beyond
    expect_written(address, (Words){ { COUNT - 901, 901 } });
    call_for("copy", address + 40, 100);
    expect_written(address, (Words){ { COUNT - 901, 801, 0, 100 } });
    call_for("twice", address, 60);
    expect_written(address, (Words){ { COUNT - 901, 851, 0, 50 } });
    call_for("move", address + 4 * 800,
             100); // what lies there and behind: a kernel's, and the owner's
    expect_written(address, (Words){ { COUNT - 901, 851 - 99, 0, 50, 99 } });
    call_for("set", address, 500);
    expect_written(address, (Words){ { COUNT - 901, 802 - 500, 500, 0, 99 } });
    call_for("set", address, 10); // so small a part of it
    expect_written(address, (Words){ { COUNT - 901, 802 - 500, 490, 10, 99 } });
    cr_expect_eq(copy(WIRE_COPY_IN, address, BYTES, file, 0), 0);
    expect_written(address, (Words){ { COUNT } });
    call_for("rows", address, 100); // all rows together are a good part of it
    expect_written(address, (Words){ { COUNT - 100, 0, 100 } });
    call_for("rows", address + 4 * 500, 60); // these are not
    expect_written(address, (Words){ { COUNT - 160, 0, 100, 60 } });
    end("exit");
}

Test(owner, is_told_of_a_word_of_which_a_part_was_written)
{
    int file = numbers(0);
    uint64_t address = allocate();
    cr_expect_eq(copy(WIRE_COPY_IN, address, BYTES, file, 0), 0);
    call_for("bytes", address + 1, 1);
    expect_written(address, (Words){ { COUNT - 1, 0, 0, 1 } });
    call_for("bytes", address + 10, 4); // the end of one word, and the beginning of the next one
    expect_written(address, (Words){ { COUNT - 3, 0, 0, 3 } });
    end("exit");
}

// Of atomics and of stores to words that are apart, all words of their sectors of 32 bytes count.
Test(owner, is_told_of_atomics_and_of_stores_that_are_apart)
{
    int file = numbers(0);
    uint64_t address = allocate();
    cr_expect_eq(copy(WIRE_COPY_IN, address, BYTES, file, 0), 0);
    call_for("add", address, 64);
    expect_written(address, (Words){ { COUNT - 64, 64 } });
    call_for("exchange", address + 4 * 128, 64);
    expect_written(address, (Words){ { COUNT - 128, 128 } });
    call_for("odd", address + 4 * 512, 64);
    expect_written(address, (Words){ { COUNT - 192, 192 } });
    end("exit");
}
