// What a program's host has brought to the device and taken from it (model/carried.h), as the owner
// is told of it.
#define _GNU_SOURCE
#include "owner.h"

TestSuite(carried, .init = start);

static void give(int file)
{
    WireRequest r = { .op = WIRE_GIVEN };
    r.copy.width = BYTES;
    r.copy.value = 1;
    cr_assert_eq(ask(r, file).error, 0);
}

// The words of the file that the host has made, if they are an answer. A word may begin a text.
enum { MOST = COUNT - 8 };
static uint64_t hosts_part(int file)
{
    WireRequest r = { .op = WIRE_COMPARED };
    r.copy.width = BYTES;
    WireReply reply = ask(r, file);
    cr_assert_eq(reply.error, 0);
    cr_assert_eq(reply.written.words[WRITER_KERNEL] + reply.written.words[WRITER_HOST], COUNT);
    return reply.written.words[WRITER_HOST];
}

static void finish(void)
{
    ask((WireRequest){ .op = WIRE_DEVICE_SYNC }, -1);
    end_program();
}

// The sum of a number over the events of which `key` is `value`.
static json_int_t told(const char *key, const char *value, const char *number)
{
    json_int_t sum = 0;
    json_t *event;
    rewind(report);
    while ((event = json_loadf(report, JSON_DISABLE_EOF_CHECK, NULL))) {
        const char *is = json_string_value(json_object_get(event, key));
        if (is && strcmp(is, value) == 0) sum += json_integer_value(json_object_get(event, number));
    }
    return sum;
}

// The program ends. The bytes that the host has worked out and brought that way.
static json_int_t worked_out(const char *way)
{
    finish();
    return told("kind", way, "bytes");
}

// What a copy says at most by where it goes, and how far; and the order of what it brings, at a
// change from one array to another, or to what is left as it was.
enum { PLACE = 4 * 10, CHANGES = 8 };

static void expect_worked_out(const char *way, json_int_t bytes)
{
    json_int_t more = worked_out(way) - bytes;
    cr_expect(more >= 0 && more <= CHANGES, "%d bytes more", (int)more);
}

Test(carried, sees_that_the_host_brings_what_it_was_given)
{
    uint64_t address = allocate();
    give(line(1, 0, 0));
    for (int n = 0; n < 20; n++) call_for("numbers", address + 40 * (uint64_t)n, 100);
    cr_expect_leq(worked_out("hosts"), 2 * PLACE + CHANGES);
}

Test(carried, sees_that_the_host_brings_what_it_has_worked_out)
{
    uint64_t address = allocate();
    give(line(1, 0, 0));
    call("products", address);
    json_int_t more = worked_out("hosts") - BYTES;
    cr_expect(more >= 0 && more <= PLACE);
}

Test(carried, sees_what_the_host_writes_into_managed_memory)
{
    give(line(1, 0, 0));
    call_for("kernel", 0, COUNT); // of zeros
    call_for("kept", 0, COUNT);
    call_for("y", 0, COUNT); // copies read it twice
    expect_worked_out("pages", 2 * BYTES);
}

Test(carried, sees_what_either_changes_in_managed_memory_though_nothing_was_given)
{
    call_for("kept", 0, COUNT);
    cr_expect_eq(worked_out("pages"), BYTES);
    cr_expect_eq(told("kind", "shown", "bytes"), BYTES);
}

Test(carried, leaves_to_the_device_what_the_host_leaves_as_it_is)
{
    give(line(5, 3, 0));
    call_for("kept", 0, COUNT);
    call_for("kernel", 0, COUNT);
    call_for("x", 0, COUNT);
    call_for("z", 0, COUNT); // a fill
    call_for("kernel", 0, COUNT);
    expect_worked_out("pages", 4);
}

// Of managed memory on both sides, which shows by its bytes.
Test(carried, sees_that_the_host_changes_a_page_that_is_on_both_sides)
{
    uint64_t address = allocate();
    call_for("kept", 0, COUNT);
    call("u", address);
    finish();
    cr_expect_eq(told("cause", "gpu-fault", "faults"), 3,
                 "the first kernel, and those after the second and third change");
}

Test(carried, keeps_what_the_host_changes_while_a_kernel_runs)
{
    call_for("kept", 0, COUNT);
    call_for("during", 0, COUNT);
}

Test(carried, knows_whether_an_answer_is_what_a_kernel_made)
{
    uint64_t address = allocate();
    give(line(1, 0, 0));
    call("numbers", address);
    cr_expect_gt(hosts_part(line(2, 7, 0)), MOST, "nothing has made it");
    call("twice", address);
    cr_expect_gt(hosts_part(line(2, 0, 0)), MOST, "no copy has brought it");
    call("home", address);
    cr_expect_eq(hosts_part(line(2, 0, 0)), 0);
    cr_expect_eq(hosts_part(line(1, 0, 0)), 0, "it was given");
    give(line(1, 0, 0));
    cr_expect_gt(hosts_part(line(2, 0, 0)), MOST, "another call begins");
    call_for("kept", 0, COUNT);
    cr_expect_eq(hosts_part(line(10, 6, 0)), 0, "managed memory needs no copy");
    cr_expect_gt(hosts_part(line(5, 3, 0)), MOST, "the host has put it there");
    cr_expect_eq(hosts_part(line(0, 0x05050505, 0)), 1, "of equal words the first");
    call_for("z", 0, COUNT);
    cr_expect_eq(hosts_part(line(0, 0x05050505, 0)), 0, "a fill has made it");
    end("exit");
}

// Whether a launch has the argument of the launch before, or of the one before that, says a bit. In
// a loop each takes its turn.
enum { FIRST = 4 * 9 + 1 }; // words of the first launch that are not 0, and its kernel
static json_int_t said_by_turns(uint32_t turns)
{
    uint64_t address = allocate();
    give(line(1, 0, 0));
    for (int n = 0; n < 64; n++) call_for("twice", address, turns >> n % 32 & 1 ? 8 : 4);
    return worked_out("hosts");
}

Test(carried, sees_what_the_host_says_by_turns)
{
    cr_expect_geq(said_by_turns(0x3a5c96e1), FIRST + 16);
}

Test(carried, takes_turns_for_a_loop)
{
    cr_expect_leq(said_by_turns(0x55555555), FIRST + 4 + 1); // and the second one, and the rule
}
