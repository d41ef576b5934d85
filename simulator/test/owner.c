// The owner's channel (wire.h): memory that a program works on and somebody else allocates, fills,
// reads and frees.
#define _GNU_SOURCE
#include "owner.h"

TestSuite(owner, .init = start);

static const char *caller_of(const json_t *place)
{
    return json_string_value(json_object_get(json_object_get(place, "caller"), "object"));
}

Test(owner, fills_what_a_kernel_changes_and_reads_it)
{
    int file = line(1, 0, 8), value;
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
    int file = line(1, 0, 0);
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
    int file = line(1, 0, 0);
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
    int file = line(1, 0, 0);
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
    int file = line(1, 0, 0);
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
    int file = line(1, 0, 0);
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

// ---- The trace of the program's calls

static json_t *calls_made; // all events "call", once the program has ended
static json_t *sites;      // and "site"

static void end_traced(void)
{
    json_t *event;
    calls_made = json_array();
    sites = json_array();
    end_program();
    while ((event = json_loadf(report, JSON_DISABLE_EOF_CHECK, NULL))) {
        const char *kind = json_string_value(json_object_get(event, "event"));
        if (strcmp(kind, "call") == 0) json_array_append(calls_made, event);
        if (strcmp(kind, "site") == 0) json_array_append(sites, event);
    }
}

static void synchronize(void)
{
    cr_assert_eq(ask((WireRequest){ .op = WIRE_DEVICE_SYNC }, -1).error, 0);
}

// The n-th call has these members, as JSON with apostrophes, and those of its place; or the place's
// are left out as well.
static void expect_call(size_t n, const char *members)
{
    char text[1024];
    json_t *is = json_deep_copy(json_array_get(calls_made, n)), *expected;
    snprintf(text, sizeof text, "{%s}", members);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    expected = json_loads(text, 0, NULL);
    cr_assert(expected, "%s", text);
    if (json_object_get(is, "site"))
        cr_expect_str_neq(caller_of(is), "owner", "the program has made it");
    json_object_del(is, "event");
    json_object_del(is, "caller");
    json_object_del(is, "site");
    cr_expect(json_equal(is, expected), "call %zu is %s, not %s", n,
              json_dumps(is, JSON_COMPACT | JSON_SORT_KEYS), text);
}

static char *format(const char *words, uint64_t address)
{
    char *text;
    cr_assert(asprintf(&text, words, (unsigned long)address, (unsigned long)address) > 0);
    return text;
}

Test(owner, is_told_of_the_programs_calls_and_not_of_its_own)
{
    int file = line(1, 0, 0);
    uint64_t address = allocate();
    cr_expect_eq(copy(WIRE_COPY_IN, address, BYTES, file, 0), 0);
    call_for("twice", address + 4, 300);
    call_for("copy", address, 100);
    call_for("move", address, 100);
    call_for("set", address, 100);
    call_for("get", 0, 10);
    synchronize();
    call("free", address);
    end_traced();
    expect_call(
        0,
        format("'name':'cudaLaunchKernel','does':'launch','stream':0,'ignored':true,'signature':"
               "'twice(int*, int)','grid':[2,1,1],'block':[256,1,1],'arguments':[[8,%lu],[4,300]]",
               address + 4));
    json_t *copied = json_array_get(calls_made, 1);
    cr_expect_str_neq(json_string_value(json_object_get(copied, "from")), "");
    json_object_del(copied, "from");
    expect_call(
        1, format("'name':'cudaMemcpy','does':'copy','stream':0,'waits':'stream','kind':'HtoD',"
                  "'to':'0x%lx','bytes':400",
                  address));
    json_t *moved = json_array_get(calls_made, 2);
    char *from = format("0x%lx", address + 400);
    cr_expect_str_eq(json_string_value(json_object_get(moved, "from")), from);
    json_object_del(moved, "from");
    expect_call(
        2,
        format(
            "'name':'cudaMemcpy','does':'copy','stream':0,'kind':'DtoD','to':'0x%lx','bytes':400",
            address)); // for which the host does not wait
    expect_call(
        3, format("'name':'cudaMemset','does':'fill','stream':0,'value':0,'to':'0x%lx','bytes':400",
                  address));
    char *own =
        strdup(json_string_value(json_object_get(json_array_get(calls_made, 4), "address")));
    uint64_t own_address = strtoull(own, NULL, 16);
    cr_expect(own_address >= WIRE_SHARED && own_address < WIRE_PINNED);
    expect_call(4, format("'name':'cudaMallocManaged','does':'alloc','memory':'managed','bytes':40,"
                          "'address':'0x%lx'",
                          own_address));
    expect_call(5, "'name':'cudaDeviceSynchronize','does':'wait','waits':'device'");
    expect_call(
        6, format("'name':'cudaFree','does':'free','waits':'all','address':'0x%lx'", own_address));
    expect_call(7,
                format("'name':'cudaFree','does':'free','waits':'all','address':'0x%lx'", address));
    cr_expect_eq(json_array_size(calls_made), 8);
    cr_expect_eq(json_array_size(sites), 0, "nobody has asked for lines");
}

Test(owner, is_told_which_call_fails_and_whether_its_error_is_read)
{
    uint64_t address = allocate();
    call_for("wrong", address, 1);
    end_traced();
    expect_call(
        0, format("'name':'cudaLaunchKernel','does':'launch','stream':0,'ignored':true,'signature':"
                  "'twice(int*, int)','grid':[1,1,1],'block':[2048,1,1],'status':1,"
                  "'arguments':[[8,%lu],[4,1]]",
                  address));
    expect_call(1, "'name':'cudaGetLastError','does':'check'");
    json_object_del(json_array_get(calls_made, 2), "from");
    expect_call(2, format("'name':'cudaMemcpy','does':'copy','stream':0,'waits':'stream','kind':'"
                          "HtoD','status':1,"
                          "'to':'0x%lx','bytes':4194304",
                          address));
    cr_expect_eq(json_array_size(calls_made), 3);
}

Test(owner, is_told_of_the_same_call_once)
{
    uint64_t address = allocate();
    call_for("like", address, 3000);
    call_for("like", address, 1);
    synchronize();
    call_for("like", address, 2);
    call_for("twice", address, 300);
    call_for("twice", address, 301); // differs in its arguments
    end_traced();
    char *fill = format(
        "'name':'cudaMemset','does':'fill','stream':0,'value':0,'to':'0x%lx','bytes':4", address);
    expect_call(0, fill);
    expect_call(1, "'again':3000");
    expect_call(2, fill); // the owner has asked something: a new call of its own begins, perhaps
    expect_call(3, "'again':1");
    cr_expect_eq(json_array_size(calls_made), 6);
    cr_expect(json_object_get(json_array_get(calls_made, 5), "does"));
}

Test(owner, is_told_how_many_calls_are_left_out)
{
    uint64_t address = allocate();
    call_for("vary", address, 300);
    call_for("like", address, 10);
    call_for("set", address, 1 << 20); // which fails
    call_for("twice", address, 1);
    call_for("wrong", address, 1);
    synchronize();
    call_for("vary", address, 2);
    end_traced();
    char *fill = "'name':'cudaMemset','does':'fill','stream':0,'value':%lu,'to':'0x%lx','bytes':4",
         *text;
    for (uint32_t n = 0; n < 256; n++) {
        cr_assert(asprintf(&text, fill, (unsigned long)n, (unsigned long)address) > 0);
        expect_call(n, text);
    }
    json_t *failed = json_array_get(calls_made, 256), *launched = json_array_get(calls_made, 257);
    cr_expect_eq(json_integer_value(json_object_get(failed, "status")), WIRE_INVALID_VALUE);
    cr_expect_str_eq(json_string_value(json_object_get(launched, "does")), "launch");
    expect_call(261, "'does':'fill','left_out':54"); // after the launches, the check and the copy
    cr_expect_eq(json_array_size(calls_made), 264);
}

// A copy takes a request for each MiB.
Test(owner, is_told_of_a_large_copy_once)
{
    enum { LARGE = 3 << 20 };
    WireReply reply = ask((WireRequest){ .op = WIRE_ALLOC, .alloc = { LARGE, 256, 0 } }, -1);
    uint64_t address = reply.memory.address;
    call_for("copy", address, LARGE / 4);
    call_for("home", address, LARGE / 4);
    end_traced();
    cr_expect_eq(json_array_size(calls_made), 2);
    json_object_del(json_array_get(calls_made, 0), "from");
    json_object_del(json_array_get(calls_made, 1), "to");
    expect_call(0, format("'name':'cudaMemcpy','does':'copy','stream':0,'waits':'stream','kind':"
                          "'HtoD','to':'0x%lx','bytes':3145728",
                          address));
    expect_call(1,
                format("'name':'cudaMemcpyAsync','does':'copy','stream':0,'waits':'stream','kind'"
                       ":'DtoH','from':'0x%lx','bytes':3145728",
                       address)); // to memory that is not pinned
}

Test(owner, is_told_the_lines_when_it_asks)
{
    uint64_t address = allocate();
    call_for("set", address, 8);
    call_for("set", address, 9);
    for (int times = 0; times < 2; times++) // the second time there are no new ones
        cr_expect_eq(ask((WireRequest){ .op = WIRE_SITES }, -1).error, 0);
    call_for("copy", address, 8);
    end_traced();
    cr_assert_eq(json_array_size(sites), 1, "of the two calls, and not of the copy");
    json_t *site = json_array_get(sites, 0), *set = json_array_get(calls_made, 0);
    cr_expect(json_equal(json_object_get(site, "site"), json_object_get(set, "site")));
    const char *file = json_string_value(json_object_get(site, "file"));
    cr_expect(file && strstr(file, "owner.cu"));
    cr_expect_eq(json_integer_value(json_object_get(site, "line")), 69);
}

Test(owner, is_told_the_lines_when_the_program_fails)
{
    uint64_t address = allocate();
    call_for("set", address, 8);
    fprintf(calls, "quit 0x0 0\n");
    end_traced();
    cr_expect_eq(json_array_size(sites), 1);
}

// Each time is of 8 bytes. Of the answers to a question the first and the last count, from the 17th
// on.
Test(owner, is_told_what_times_and_queries_say)
{
    uint64_t address = allocate();
    synchronize(); // what was said before has been told
    call_for("interval", address, 20);
    synchronize();
    end_program();
    json_int_t bytes = 0;
    json_t *event;
    while ((event = json_loadf(report, JSON_DISABLE_EOF_CHECK, NULL))) {
        const char *kind = json_string_value(json_object_get(event, "kind"));
        if (kind && strcmp(kind, "print") == 0)
            bytes += json_integer_value(json_object_get(event, "bytes"));
    }
    cr_expect_eq(bytes, 20 * (8 + 2) - 16);
}

// How often a run of a program that allocates, waits and frees reports a call. options: of the run,
// with "%d" for an owner's socket.
static int calls_reported(const char *options)
{
    char command[512], with[64];
    int count = -1, sockets[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
    fcntl(sockets[0], F_SETFD, FD_CLOEXEC);
    snprintf(with, sizeof with, options, sockets[1]);
    snprintf(command, sizeof command,
             "echo get 0x0 10 | simulator/run --json %s %s 2>&1 >/dev/null |"
             " grep -c '\"event\":\"call\"'",
             with, program);
    FILE *out = popen(command, "r");
    cr_assert(out && fscanf(out, "%d", &count) == 1);
    pclose(out);
    close(sockets[0]), close(sockets[1]);
    return count;
}

Test(owner, alone_is_told_of_calls)
{
    cr_expect_eq(calls_reported(""), 0);
    cr_expect_eq(calls_reported("--owner %d"), 3);
    cr_expect_eq(calls_reported("--bare --owner %d"), 0);
}
