// The words of a report are made of its facts: each form that causes.def may use.
#include "memory/memory.h"
#include "report/message.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void says(Report report, const char *message)
{
    message_make(&report);
    cr_expect_str_eq(report.message, message);
    message_free(&report);
}

static Allocation array(const char *name)
{
    return (Allocation){
        .base = 1000, .size = 400, .name = name, .made_in = { .file = "/src/a.cu", .line = 7 }
    };
}

// No row has a name in it that nothing stands for: then the name itself would be told. (Numbers
// are given by name, wherever a cause is reported.)
Test(message, every_cause_has_words)
{
    for (enum report_cause c = CAUSE_NONE + 1; c < REPORT_CAUSES; c++) {
        Allocation a = array(NULL);
        Report r = {
            .cause = c, .call = "cudaFree", .kernel = "k", .detail = "d", .allocation = &a
        };
        message_make(&r);
        cr_expect(message_cause(c) && *message_cause(c));
        cr_expect(r.message || c == CAUSE_misuse, "%s", message_cause(c));
        cr_expect(r.next || c == CAUSE_misuse, "%s", message_cause(c));
        message_free(&r);
    }
}

Test(message, says_where_beside_an_allocation)
{
    static const struct {
        uint64_t address;
        const char *where;
    } places[] = {
        { 988, "12 bytes before the 400-byte allocation made at a.cu:7, element -3 of 100" },
        { 990, "10 bytes before the 400-byte allocation made at a.cu:7" },
        { 1012, "at byte 12 of the 400-byte allocation made at a.cu:7" },
        { 1400, "just past the end of the 400-byte allocation made at a.cu:7, element 100 of 100" },
        { 1401, "1 bytes past the end of the 400-byte allocation made at a.cu:7" },
    };
    Allocation a = array(NULL);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char message[200];
        snprintf(message, sizeof message, "write of 4 bytes %s", places[i].where);
        says((Report){ .cause = CAUSE_thread_too_many,
                       .access = ACCESS_WRITE,
                       .bytes = 4,
                       .address = places[i].address,
                       .allocation = &a },
             message);
    }
    a = array("table");
    says(
        (Report){ .cause = CAUSE_thread_too_many,
                  .bytes = 8,
                  .address = 1400,
                  .allocation = &a,
                  .threads = 3 },
        "read of 8 bytes just past the end of the 400-byte variable table, element 50 of 50 (and 2 "
        "more threads of its warp)");
}

// The stretches of the message that a grader puts other words into.
Test(message, knows_where_it_names_the_allocation)
{
    Allocation a = array(NULL);
    a.freed = true;
    a.unmade_in = (Place){ .file = "b.cu", .line = 9 };
    Report r = { .cause = CAUSE_kernel_uses_freed, .bytes = 4, .address = 1000, .allocation = &a };
    message_make(&r);
    cr_expect_str_eq(r.message + r.allocation_says.from,
                     "allocation made at a.cu:7, freed at b.cu:9");
    cr_expect_str_eq(r.message + r.allocation_says.to, ", freed at b.cu:9");
    cr_expect_eq(r.freed_says.from, r.allocation_says.to);
    cr_expect_eq(r.freed_says.to, strlen(r.message));
    message_free(&r);

    a = array("table");
    r = (Report){ .cause = CAUSE_thread_too_many, .bytes = 4, .address = 1400, .allocation = &a };
    message_make(&r);
    cr_expect_eq(r.allocation_says.to, 0, "a variable has its own name");
    message_free(&r);
}

Test(message, numbers_are_one_or_many_there_or_not)
{
    says((Report){ .cause = CAUSE_mbarrier_arrivals_too_many,
                   .number = { { "arrivals", 1 }, { "pending", 0 }, { "count", 4 } } },
         "1 arrival at an mbarrier whose phase waits for 0 more, of 4");
    says((Report){ .cause = CAUSE_mbarrier_phase_misses,
                   .number = { { "pending", 0 }, { "count", 4 }, { NULL, 1 } } },
         "no warp can go on: the mbarrier that it waits at misses 0 of 4 arrivals");
    says((Report){ .cause = CAUSE_mbarrier_phase_misses,
                   .number = { { "pending", 2 },
                               { "count", 4 },
                               { "both", 1 },
                               { "missing_bytes", 64 } } },
         "no warp can go on: the mbarrier that it waits at misses 2 of 4 arrivals and 64 bytes");
    Report r = { .cause = CAUSE_image_unsupported, .number = { { "arch", 90 } } };
    message_make(&r);
    cr_expect_str_eq(r.next,
                     "Compile with nvcc 13 and -gencode arch=compute_90,code=[compute_90,sm_90].");
    message_free(&r);
}

Test(message, a_fact_that_is_missing_is_seen)
{
    says((Report){ .cause = CAUSE_lane_not_in_mask, .number = { { "mask", 0xff } } },
         "lane {lane} is not in the mask 0x000000ff that it passes");
}

Test(message, words_that_are_given_stay)
{
    says((Report){ .cause = CAUSE_misuse, .message = "a {b} [c]" }, "a {b} [c]");
}
