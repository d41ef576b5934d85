// What is said of the device's reports on the arrays of a call, made up here: which element, and
// what there is besides.
#include "buffer.h"
#include "check.h"
#include "record.h"
#include <criterion/criterion.h>
#include <inttypes.h>
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
    check.answer.address[0][0] = AT;
    events_init(&check.session.events);
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
    return json_pack("{ss ss ss ss s{ssss} ss si}", "kind", "uninitialized", "message",
                     "cudaMemcpy copies something", "why", "It is not.", "file", "/x/worker.c",
                     "caller", "object", "/x/worker", "address", by_harness ? "0x2000" : "0x1000",
                     "that", "nothing wrote", "bytes", bytes);
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
    json_object_set_new(event, "that",
                        json_string("a kernel computed from memory that nothing wrote"));
    says(told(event, 28, KERNEL("turn")), "why", "It is not.");
}

Test(blame, tells_how_a_matrix_lies)
{
    json_t *event = json_pack("{ss ss ss}", "kind", "bounds", "message", "write just past the end",
                              "why", "A row is too large.");
    says(told(event, 60, NULL), "why", "A row is too large. out has 3 rows of 5 elements.");
}
