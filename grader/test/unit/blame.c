// What is said of the device's reports on the arrays of a call, made up here: which element, and
// what there is besides.
#define _GNU_SOURCE
#include "buffer.h"
#include "check.h"
#include "record.h"
#include <criterion/criterion.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t AT = 0x200000000000; // device memory: shared memory's addresses have 32 bits

// What is said of an event at so many bytes from the beginning of an output of 3 x 5 floats, "out".
static const json_t *told(json_t *event, int bytes, const char *launch)
{
    static Arg args[1];
    char address[32];
    Buffer *out = output_f32("out", 15);
    as_matrix(out, 3, 5);
    args[0] = device(out);
    check = (struct check){
        .facts = json_array(), .notes = json_array(), .function = "f", .argc = 1, .argv = args
    };
    check.session.harness = (Harness){ .program = "/x/worker", .begin = 0x1000, .end = 0x2000 };
    check.address[0][0] = AT;
    events_init(&check.session.events);
    events_new_call(&check.session.events);
    if (launch) events_feed(&check.session.events, launch, strlen(launch));
    snprintf(address, sizeof address, "0x%" PRIx64, AT + (uint64_t)bytes);
    json_object_set_new(event, "address", json_string(address));
    json_array_append_new(check.session.events.errors, event);
    blame_events();
    return json_array_get(check.facts, 0);
}

static void says(const json_t *fact, const char *key, const char *words)
{
    const char *is = json_string_value(json_object_get(fact, key));
    cr_assert(is && strcmp(is, words) == 0, "%s: %s", key, is ? is : "nothing");
}

// A copy by the harness, or by a submission which says that its lines are the harness's.
static json_t *copied(bool by_harness, int bytes)
{
    return json_pack("{ss ss ss ss s{ssss} ss ss si}", "kind", "uninitialized", "message",
                     "cudaMemcpy copies something", "why", "It is not.", "file", "/x/worker.c",
                     "caller", "object", "/x/worker", "address", by_harness ? "0x2000" : "0x1000",
                     "that", "nothing wrote", "undefined", "unwritten", "undefined_bytes", bytes);
}

static bool is_blamed(const char *object, bool over)
{
    json_t *event = json_pack("{ss ss s{ssss}}", "kind", "leak", "message", "lost", "caller",
                              "object", object, "address", "0x1800");
    check = (struct check){ .facts = json_array(), .notes = json_array(), .over = over };
    check.session.harness = (Harness){ .program = "/x/worker", .begin = 0x1000, .end = 0x2000 };
    events_init(&check.session.events);
    json_array_append_new(check.session.events.errors, event);
    blame_events();
    return json_array_size(check.facts) > 0;
}

// A return address can be made up: what the harness allocates it frees when its call is over.
Test(blame, forgives_a_leak_in_the_harness_only_within_a_call)
{
    cr_expect(!is_blamed("/x/worker", false));
    cr_expect(is_blamed("/x/worker", true));
    cr_expect(!is_blamed("owner", true));
    cr_expect(is_blamed("/x/other", false));
}

Test(blame, names_the_first_element_that_nothing_wrote)
{
    const json_t *fact = told(copied(true, 12), 28, NULL);
    says(fact, "says", "out[1][2] is the first of 3 elements of out that nothing wrote");
    says(fact, "why", "It is not.");
    says(told(copied(true, 4), 56, NULL), "says", "out[2][4] is an element that nothing wrote");
}

// The student's own copy is known by where its code lies; and of what lies in no array of the call
// nobody knows the element.
Test(blame, leaves_a_copy_of_the_students_own)
{
    says(told(copied(false, 12), 28, NULL), "says", "cudaMemcpy copies something");
    says(told(copied(true, 12), 60, NULL), "says", "cudaMemcpy copies something");
}

#define KERNEL(name)                                                                               \
    "{\"event\":\"kernel\",\"name\":\"" name                                                       \
    "\",\"grid\":[2,3,1],\"block\":[32,8,1],\"counters\":{},\"lines\":[]}\n"

Test(blame, names_the_kernel_that_left_it_unwritten)
{
    says(told(copied(true, 12), 28, KERNEL("turn")), "why",
         "It is not. The call's one kernel is turn, of 2 x 3 x 1 blocks of 32 x 8 x 1 threads.");
    says(told(copied(true, 12), 28, KERNEL("turn") KERNEL("back")), "why",
         "It is not. The last of the call's 2 kernels is back, of 2 x 3 x 1 blocks of 32 x 8 x 1 "
         "threads.");
}

// What was computed was stored by somebody: the kernels' sizes are not in question.
Test(blame, names_no_kernel_where_all_was_written)
{
    json_t *event = copied(true, 12);
    json_object_set_new(event, "undefined", json_string("computed"));
    says(told(event, 28, KERNEL("turn")), "why", "It is not.");
}

Test(blame, tells_how_a_matrix_lies)
{
    json_t *event = json_pack("{ss ss ss}", "kind", "bounds", "message", "write just past the end",
                              "why", "A row is too large.");
    says(told(event, 60, NULL), "why", "A row is too large. out has 3 rows of 5 elements.");
}

// The words of a message that name an allocation are found by where they are.
static json_t *missed(bool by_harness, json_t *freed)
{
    const char *address = by_harness ? "0x2000" : "0x1000";
    json_t *event = json_pack("{ss ss s{ss s[ii] s{ssss}}}", "kind", "use-after-free", "message",
                              "x of the AAA, YYY z", "allocation", "kind", "device", "says", 9, 12,
                              "caller", "object", "/x/worker", "address", address);
    if (freed) json_object_set_new(json_object_get(event, "allocation"), "freed", freed);
    return event;
}

static json_t *freed_from(const char *address)
{
    return json_pack("{s[ii] s{ssss}}", "says", 12, 17, "caller", "object", "/x/worker", "address",
                     address);
}

Test(blame, gives_the_harness_s_allocation_the_name_of_the_array)
{
    says(told(missed(true, NULL), 60, NULL), "says", "X of the out, YYY z");
    says(told(missed(false, NULL), 60, NULL), "says", "X of the AAA, YYY z");
    says(told(missed(true, freed_from("0x2000")), 60, NULL), "says",
         "X of the out of an earlier call z");
    says(told(missed(true, freed_from("0x1000")), 60, NULL), "says", "X of the out, YYY z");
}

Test(blame, a_stretch_that_is_not_in_the_message_names_nothing)
{
    static const int stretches[][2] = { { 9, 99 }, { -1, 3 }, { 12, 9 } };
    for (size_t i = 0; i < sizeof stretches / sizeof *stretches; i++) {
        json_t *event = missed(true, NULL);
        json_object_set_new(json_object_get(event, "allocation"), "says",
                            json_pack("[ii]", stretches[i][0], stretches[i][1]));
        says(told(event, 60, NULL), "says", "X of the AAA, YYY z");
    }
}

// ---- Nothing is decided by English ----

// The lines of what devices report, less the kernels, with a caller in place of the fake device's
// mark.
static json_t *errors_of(const char *path)
{
    json_t *errors = json_array(), *event;
    char *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "r");
    cr_assert_not_null(f, "%s", path);
    while (getline(&line, &room, f) > 0) {
        while (strstr(line, "\"@harness\"")) {
            char *mark = strstr(line, "\"@harness\""), *before = strndup(line, mark - line), *with;
            cr_assert_gt(asprintf(&with, "%s{\"object\":\"/x/worker\",\"address\":\"0x2000\"}%s",
                                  before, mark + strlen("\"@harness\"")),
                         0);
            free(before);
            free(line);
            line = with;
            room = strlen(with) + 1;
        }
        event = json_loads(line, 0, NULL);
        const char *type = json_string_value(json_object_get(event, "event"));
        if (type && strcmp(type, "error") == 0) json_array_append(errors, event);
        json_decref(event);
    }
    fclose(f);
    free(line);
    return errors;
}

static const char *const english[] = { "message", "why", "next", "that", "stands" };

static json_t *without_english(const json_t *errors)
{
    json_t *same = json_deep_copy(errors), *event;
    size_t i;
    json_array_foreach(same, i, event) for (size_t k = 0; k < sizeof english / sizeof *english;
                                            k++) if (json_object_get(event, english[k]))
        json_object_set_new(event, english[k], json_string("x"));
    return same;
}

// All that is found, but for the words.
static json_t *found(const json_t *errors)
{
    static Arg args[1];
    static const char *const words[] = { "says", "why", "next" };
    json_t *found, *fact;
    size_t i;
    args[0] = device(output_f32("out", 33));
    check = (struct check){
        .facts = json_array(), .notes = json_array(), .function = "f", .argc = 1, .argv = args
    };
    check.session.harness = (Harness){ .program = "/x/worker", .begin = 0x1000, .end = 0x2000 };
    check.address[0][0] = AT;
    events_init(&check.session.events);
    events_new_call(&check.session.events);
    json_array_foreach(errors, i, fact)
    {
        char *line = json_dumps(fact, JSON_COMPACT);
        events_feed(&check.session.events, line, strlen(line));
        events_feed(&check.session.events, "\n", 1);
        free(line);
    }
    blame_events();
    found = json_pack("{soso}", "facts", check.facts, "notes", check.notes);
    const char *list;
    json_t *facts;
    json_object_foreach(found, list, facts)
        json_array_foreach(facts, i, fact) for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            json_object_del(fact, words[k]);
    return found;
}

Test(blame, decides_by_facts_alone)
{
    glob_t files;
    size_t events = 0;
    cr_assert_eq(glob("grader/test/verdicts/*.events", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        json_t *errors = errors_of(files.gl_pathv[i]);
        events += json_array_size(errors);
        json_t *with = found(errors), *without = found(without_english(errors));
        cr_expect(json_equal(with, without), "%s: %s is not %s", files.gl_pathv[i],
                  json_dumps(with, 0), json_dumps(without, 0));
    }
    cr_assert_gt(events, 15);
}

// ---- Who wrote the answer

static Arg out_arg;

// An output of 4 floats, 1 to 4.
static Buffer *answer(Arg (*as)(Buffer *))
{
    Buffer *out = output_f32("out", 4);
    for (int i = 0; i < 4; i++) out->f32[i] = (float)(i + 1);
    check = (struct check){ .facts = json_array(), .notes = json_array(), .function = "f" };
    check.session.reports = true;
    events_init(&check.session.events);
    events_new_call(&check.session.events);
    out_arg = as(out);
    return out;
}

Test(blame, a_copy_may_bring_an_input_as_it_is_and_no_other)
{
    Buffer *in = input_f32("in", 4), *out = answer(device);
    Arg args[] = { out_arg, device(in) };
    out->store->written[WRITER_MOVED] = 4;
    memcpy(out->data, in->data, 16);
    blame_writers(&args[0], 2, args);
    cr_expect_null(check.suspicion);
    out->f32[3] = 0;
    blame_writers(&args[0], 2, args);
    says(check.suspicion, "says", "Out was last written by a copy of an input, all of it");
}

Test(blame, a_word_from_the_host_is_too_many)
{
    Buffer *out = answer(device);
    out->store->written[WRITER_KERNEL] = 3;
    out->store->written[WRITER_HOST] = 1;
    blame_writers(&out_arg, 1, &out_arg);
    says(check.suspicion, "says",
         "Out was last written by a copy from the host, 1 of its 4 words of 4 bytes");
}

Test(blame, the_host_may_write_its_own_arrays_and_inputs)
{
    Buffer *out = answer(host);
    out->store->written[WRITER_HOST] = 4;
    blame_writers(&out_arg, 1, &out_arg);
    Buffer *in = input_f32("in", 4);
    Arg arg = device(in);
    in->store->written[WRITER_HOST] = 4;
    blame_writers(&arg, 1, &arg);
    cr_expect_null(check.suspicion);
}

Test(blame, a_part_of_an_input_is_no_input_as_it_is)
{
    Buffer *in = input_f32("in", 8), *out = answer(device);
    Arg args[] = { out_arg, device(in) };
    out->store->written[WRITER_MOVED] = 4;
    memcpy(out->data, in->data, 16);
    blame_writers(&args[0], 2, args);
    cr_expect_not_null(check.suspicion);
}

// ---- What went to the host and came back

// What is said of a call with these arrays and these counters; NULL: nothing.
static const json_t *carried(size_t argc, const Arg *argv, const char *counters)
{
    char line[1024];
    check = (struct check){ .facts = json_array(), .notes = json_array(), .function = "f" };
    check.session.reports = true;
    events_init(&check.session.events);
    events_new_call(&check.session.events);
    snprintf(line, sizeof line,
             "{\"event\":\"kernel\",\"name\":\"k\",\"grid\":[1,1,1],\"block\":[1,1,1],"
             "\"counters\":{%s},\"lines\":[]}\n",
             counters);
    events_feed(&check.session.events, line, strlen(line));
    cr_assert_null(check.session.events.malformed);
    blame_journey(argc, argv);
    return check.suspicion;
}

#define DOWN(bytes) "\"memcpy__bytes_dtoh.sum\":" #bytes
#define UP(bytes) "\"memcpy__bytes_htod.sum\":" #bytes

Test(blame, half_of_the_inputs_down_and_half_of_the_outputs_up_are_a_journey)
{
    Arg args[] = { device(input_f32("in", 1024)), device(output_f32("out", 2048)) };
    says(carried(2, args, DOWN(2048) "," UP(4096)), "says",
         "2048 bytes went to the host in the call, or to memory that it sees, and 4096 came from "
         "there");
    cr_expect_null(carried(2, args, DOWN(2047) "," UP(4096)));
    cr_expect_null(carried(2, args, DOWN(2048) "," UP(4095)));
    check.suspicion = NULL;
    check.session.reports = false;
    blame_journey(2, args);
    cr_expect_null(check.suspicion, "nobody has counted");
}

// Of a long input that becomes a short answer, as much goes to the host as the answer has.
Test(blame, a_part_of_the_inputs_may_be_all_that_the_answer_needs)
{
    Arg args[] = { device(input_f32("in", 65536)), device(output_f32("out", 1024)) };
    cr_expect_not_null(carried(2, args, DOWN(2048) "," UP(2048)));
    cr_expect_null(carried(2, args, DOWN(2047) "," UP(2048)));
}

Test(blame, few_bytes_may_go_either_way)
{
    Arg args[] = { device(input_f32("in", 255)), device(output_f32("out", 256)) };
    cr_expect_null(carried(2, args, DOWN(1020) "," UP(1024)));
    args[0] = device(input_f32("in", 1024)); // and the answer comes as a parameter, say
    cr_expect_not_null(carried(2, args, DOWN(1025)));
    cr_expect_null(carried(2, args, DOWN(1024)));
    args[0] = device(input_f32("in", 65536)); // a sixteenth of which is too much
    cr_expect_not_null(carried(2, args, DOWN(16384)));
    cr_expect_null(carried(2, args, DOWN(16383)));
    args[0] = device(input_f32("in", 1023));
    cr_expect_null(carried(2, args, DOWN(4092)));
    args[0] = device(input_f32("in", 255));
    args[1] = device(output_f32("out", 1024));
    cr_expect_not_null(carried(2, args, UP(2048)));
    cr_expect_null(carried(2, args, UP(2047)));
    cr_expect_null(carried(1, args, DOWN(1020)), "there is no answer");
}

Test(blame, kernels_reach_the_hosts_memory_by_themselves)
{
    const char *both =
        "\"pinned_memory__bytes_write.sum\":2048,\"pinned_memory__bytes_read.sum\":2048";
    Arg args[] = { device(input_f32("in", 1024)), device(output_f32("out", 1024)) };
    cr_expect_not_null(carried(2, args, both));
    args[0] = spread(input_f32("in", 1024), 2);
    cr_expect_null(carried(2, args, both), "devices wait for one another there");
    cr_expect_not_null(carried(2, args, DOWN(2048) "," UP(2048)));
    args[0] = spread(input_f32("in", 2048), 2);
    cr_expect_not_null(carried(2, args, both), "there is more of it than words to wait by");
}

Test(blame, prints_modules_and_fills_cross_too)
{
    Arg args[] = { device(input_f32("in", 1024)), device(output_f32("out", 1024)) };
    cr_expect_not_null(
        carried(2, args, "\"crossing__bytes_dtoh.sum\":2048,\"crossing__bytes_htod.sum\":2048"));
}

// Of each launch 128 bytes are for pointers and sizes.
Test(blame, parameters_of_launches_come_from_the_host)
{
    Arg args[] = { device(input_f32("in", 1024)), device(output_f32("out", 1024)) };
    const char *launches = DOWN(2048) ",\"launch__count\":2,\"launch__parameter_bytes.sum\":";
    char counters[256];
    snprintf(counters, sizeof counters, "%s%d", launches, 2048 + 2 * 128);
    cr_expect_not_null(carried(2, args, counters));
    snprintf(counters, sizeof counters, "%s%d", launches, 2047 + 2 * 128);
    cr_expect_null(carried(2, args, counters));
}

// Where inputs and outputs are the host's, all of them go to and fro: only what the host has worked
// out tells anything.
Test(blame, what_the_host_has_worked_out_may_be_a_part_of_the_answer)
{
    Arg args[] = { host(input_f32("in", 1024)), host(output_f32("out", 8192)) };
    says(carried(2, args, "\"crossing__bytes_hosts.sum\":2048"), "says",
         "2048 bytes that went to the device are neither what f was given nor what a kernel made");
    cr_expect_null(carried(2, args, "\"crossing__bytes_hosts.sum\":2047"));
    cr_expect_not_null(
        carried(2, args, "\"crossing__bytes_hosts.sum\":1024,\"crossing__bytes_htod.sum\":1024"));
    cr_expect_null(carried(2, args, DOWN(32768) "," UP(32768)));
    args[1] = pinned(output_f32("out", 257));
    cr_expect_not_null(carried(2, args, "\"crossing__bytes_hosts.sum\":1025"));
    cr_expect_null(carried(2, args, "\"crossing__bytes_hosts.sum\":1024"), "few bytes");
    args[1] = pinned(output_f32("out", 256));
    cr_expect_null(carried(2, args, "\"crossing__bytes_hosts.sum\":4096"), "a small answer");
}

Test(blame, what_the_host_has_worked_out_in_managed_memory_counts_as_far_as_it_was_read)
{
    static const char pages[] = "\"crossing__bytes_pages.sum\":4096";
    Arg args[] = { host(input_f32("in", 1024)), host(output_f32("out", 1024)) };
    char counters[512];
    cr_expect_null(carried(2, args, pages));
    snprintf(counters, sizeof counters, "%s,\"managed_memory__bytes_read.sum\":1025", pages);
    cr_expect_not_null(carried(2, args, counters));
    snprintf(counters, sizeof counters, "%s,\"memcpy__bytes_dtod.sum\":1024", pages);
    cr_expect_null(carried(2, args, counters));
}

Test(blame, what_kernels_read_in_pinned_memory_is_nobodys)
{
    Arg args[] = { host(input_f32("in", 1024)), host(output_f32("out", 1024)) };
    says(carried(2, args, "\"crossing__bytes_pinned.sum\":1025"), "says",
         "Kernels read 1025 bytes of pinned memory where it is, over the bus");
    cr_expect_null(carried(2, args, "\"crossing__bytes_pinned.sum\":1024"));
    cr_expect_not_null(
        carried(2, args, "\"crossing__bytes_pinned.sum\":1024,\"crossing__bytes_hosts.sum\":1"));
}

#define SHOWN(bytes) "\"crossing__bytes_shown.sum\":" #bytes
#define CHANGED(bytes) "\"crossing__bytes_pages.sum\":" #bytes
#define READ(bytes) "\"managed_memory__bytes_read.sum\":" #bytes

// As far as kernels, or copies on the device, read it.
Test(blame, what_the_host_has_changed_in_managed_memory_comes_from_there)
{
    Arg args[] = { device(input_f32("in", 1024)), device(output_f32("out", 1024)) };
    cr_expect_not_null(carried(2, args, DOWN(2048) "," CHANGED(2048) "," READ(2048)));
    cr_expect_null(carried(2, args, DOWN(2048) "," CHANGED(2047) "," READ(2048)));
    cr_expect_null(carried(2, args, DOWN(2048) "," CHANGED(2048) "," READ(2047)));
    cr_expect_not_null(
        carried(2, args, DOWN(2048) "," CHANGED(2048) ",\"memcpy__bytes_dtod.sum\":2048"));
}

// Whatever carries the answer: no page needs to move.
Test(blame, what_the_device_has_changed_in_managed_memory_goes_to_the_host)
{
    Arg args[] = { device(input_f32("in", 1024)), device(output_f32("out", 1024)) };
    cr_expect_not_null(carried(2, args, SHOWN(2048) "," UP(2048)));
    cr_expect_null(carried(2, args, SHOWN(2047) "," UP(2048)));
    cr_expect_null(carried(2, args, SHOWN(4096) "," UP(2047)));
    cr_expect_not_null(carried(2, args, SHOWN(2048) "," CHANGED(2048) "," READ(2048)));
    cr_expect_null(carried(2, args, SHOWN(2047) "," CHANGED(2048) "," READ(2048)));
    args[1] = device(output_f32("out", 1));
    cr_expect_not_null(carried(2, args, SHOWN(1025)));
    cr_expect_null(carried(2, args, SHOWN(1024)));
}

// Devices that cannot reach one another.
Test(blame, copies_between_devices_go_by_the_host)
{
    Arg args[] = { device(input_f32("in", 1024)), device(output_f32("out", 1024)) };
    cr_expect_null(carried(2, args, DOWN(4096) "," UP(4096) ",\"link__bytes_by_host.sum\":4096"));
    cr_expect_not_null(
        carried(2, args, DOWN(4096) "," UP(4096) ",\"link__bytes_by_host.sum\":2048"));
}

Test(blame, scratch_memory_is_no_input_and_the_hosts_arrays_come_from_there)
{
    Arg args[] = { device(input_f32("in", 1024)), device(output_f32("out", 1024)),
                   scratch(output_f32("scratch", 65536)) };
    cr_expect_not_null(carried(3, args, DOWN(2048) "," UP(2048)));
    args[2] = host(input_f32("other", 1024));
    cr_expect_null(carried(3, args, DOWN(2048) "," UP(6143)));
    cr_expect_not_null(carried(3, args, DOWN(2048) "," UP(6144)));
    args[2] = host(output_f32("other", 1024));
    cr_expect_null(carried(3, args, DOWN(4096) "," UP(8192)), "the host is to have an answer");
}

// A measurement has more time than a check.
Test(lateness, is_told_by_the_limit_that_was_kept)
{
    check = (struct check){ .facts = json_array(), .notes = json_array(), .function = "f" };
    events_init(&check.session.events);
    check.session.clock = process_clock(120);
    blame_outcome(OUTCOME_LATE);
    says(json_array_get(check.facts, 0), "says", "There was no answer within 120 seconds");
}
