// The ladder: which step an answer has reached, what it is worth, and versions that do not climb.
#include "claims.h"
#include "device.h"
#include "profile.h"
#include "record.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Ladder ladder = {
    .check = "large", .step = { { "one", 1 }, { "two", 2 }, { "three", 3 } }, .steps = 3, .gold = 4
};

Test(ladder, ends_below_the_first_step_that_misses_a_bound)
{
    Claim first = { .step = 1 }, second = { .step = 2 }, third = { .step = 3 };
    Finding f[] = { { .claim = &third, .verdict = VERDICT_SLOW },
                    { .claim = &first, .verdict = VERDICT_PASS },
                    { .claim = &second, .verdict = VERDICT_PASS } };
    cr_expect_eq(ladder_step(&ladder, claims_missed(f, 3)), 2);
    f[2].verdict = VERDICT_SLOW;
    cr_expect_eq(ladder_step(&ladder, claims_missed(f, 3)), 1);
    f[1].verdict = VERDICT_SLOW;
    cr_expect_eq(ladder_step(&ladder, claims_missed(f, 3)), 0);
    f[0].verdict = f[1].verdict = f[2].verdict = VERDICT_PASS;
    cr_expect_eq(ladder_step(&ladder, claims_missed(f, 3)), 3);

    Target target = { .step = 3 };
    Timing t = { .target = &target, .verdict = VERDICT_SLOW };
    cr_expect_eq(ladder_step(&ladder, targets_missed(&t, 1)), 2);
    t.verdict = VERDICT_PASS;
    cr_expect_eq(ladder_step(&ladder, targets_missed(&t, 1)), 3);
}

Test(ladder, gives_five_points_for_a_right_answer_and_ten_for_the_last_step)
{
    static const int due[] = { 5, 6, 8, 10 };
    for (int step = 0; step <= 3; step++) cr_expect_eq(ladder_points(&ladder, step), due[step]);
}

// What one launch takes that has to read and to write so much: by L2 where it fits, else by memory.
// On several devices it is not known, and the time is the elapsed time.
Test(ladder, has_a_least_time)
{
    static const struct {
        double read, written, least;
    } cases[] = { { 2e6, 4e6, 1000 + 4000 },
                  { 8e6, 2e6, 1000 + 4000 },
                  { 8e6, 4e6, 1000 + 12000 } };
    char root[] = "/tmp/warpwise-device-XXXXXX", path[64];
    cr_assert(mkdtemp(root));
    snprintf(path, sizeof path, "%s/profiles/devices", root);
    char make[128];
    snprintf(make, sizeof make, "mkdir -p %s", path);
    cr_assert_eq(system(make), 0);
    snprintf(path, sizeof path, "%s/profiles/devices/d.cfg", root);
    FILE *f = fopen(path, "w");
    fprintf(f, "copy_bytes_per_second = 2.0e9; copy_back_bytes_per_second = 1.0e9;"
               "clock_hz = 1.0e9; l2_bytes = 10000000; l2_read_bytes_per_clock = 2.0e3;"
               "l2_write_bytes_per_clock = 1.0e3; dram_bytes_per_second = 1.0e12;"
               "kernel_seconds = 1.0e-6;");
    fclose(f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *r = json_pack("[{ss si sf sf}]", "check", "large", "calls", 2, "compulsory_read",
                              2 * cases[i].read, "compulsory_write", 2 * cases[i].written);
        cr_expect_float_eq(ladder_least_time(&ladder, 1, r, root, "d"), cases[i].least, 1e-6);
    }
    json_t *whole = json_pack("[{ss si si si si s{si}}]", "check", "large", "calls", 2,
                              "compulsory_read", 4, "compulsory_htod", 8000, "compulsory_dtoh",
                              2000, "counters", "devices__elapsed_ns.sum", 1);
    cr_expect_float_eq(ladder_least_time(&ladder, 1, whole, root, "d"), 2000, 1e-6);
    cr_expect(ladder_is_whole(&ladder, 1, whole) && !ladder_is_whole(&ladder, 1, json_array()));
    json_t *linked = json_pack("[{ss si sf sf sf s{sf}}]", "check", "large", "calls", 2, "time_ns",
                               9e9, "compulsory_htod", 8e3, "compulsory_link", 4e6, "counters",
                               "devices__elapsed_ns.sum", 5e4);
    cr_expect_eq(ladder_least_time(&ladder, 1, linked, root, "d"), 0);
    cr_expect_float_eq(ladder_time(&ladder, 1, linked), 25000, 1e-6);
    cr_expect_eq(ladder_least_time(&ladder, 1, json_array(), root, "d"), 0);
    cr_expect_eq(device_least_time(root, "another", 1, 1), 0);
    snprintf(make, sizeof make, "rm -r %s", root);
    cr_expect_eq(system(make), 0);
}

static const Ladder mistakes = {
    .check = "large",
    .step = { { "one", 1, { "a", "b" }, 2 }, { "two", 1, { "c" }, 1 }, { "three", 1, { "d" }, 1 } },
    .steps = 3
};

// Of the checks a to d, those that are named fail.
static unsigned failing(const char *names)
{
    json_t *records = json_array();
    for (char name[2] = "a"; *name <= 'd'; ++*name)
        json_array_append_new(
            records,
            json_pack("{ss s[o*]}", "check", name, "facts",
                      strchr(names, *name) ? fact_new(VERDICT_WRONG, "w", NULL, NULL) : NULL));
    unsigned missed = checks_missed(&mistakes, records);
    json_decref(records);
    return missed;
}

Test(ladder, of_mistakes_counts_those_whose_checks_pass_in_any_order)
{
    cr_expect_eq(failing(""), 0);
    cr_expect_eq(failing("b"), 1);
    cr_expect_eq(failing("ad"), 5);
    cr_expect_eq(checks_missed(&ladder, NULL), 0);
    cr_expect(ladder_mends(&mistakes) && !ladder_mends(&ladder) && !ladder_mends(&(Ladder){ 0 }));
    static const int due[] = { 0, 3, 6, 10 };
    for (int step = 0; step <= 3; step++) cr_expect_eq(ladder_points(&mistakes, step), due[step]);
    cr_expect_eq(ladder_step(&mistakes, 1), 2, "the first is no condition of the others");
    cr_expect_eq(ladder_step(&mistakes, 5), 1);
    cr_expect_eq(ladder_step(&mistakes, 7), 0);
}

// Versions that have reached these steps and take so long; what ladder_hold() prints of them.
static char *held(const int *steps, const double *times, size_t count, size_t *wrong)
{
    json_t *results[8] = { 0 };
    char *text;
    size_t bytes, looked_at = 0;
    FILE *f = open_memstream(&text, &bytes);
    for (size_t i = 0; i < count; i++)
        results[i] = json_pack("{s{si} s[{ss si sf}{ss si sf}]}", "score", "step", steps[i],
                               "checks", "check", "small", "calls", 1, "time_ns", 7.0, "check",
                               "large", "calls", 2, "time_ns", 2 * times[i]);
    *wrong = ladder_hold(&ladder, results, count, f, &looked_at);
    fclose(f);
    cr_expect(looked_at > 0);
    return text;
}

Test(ladder, is_what_the_versions_climb)
{
    size_t wrong;
    char *text = held((int[]){ 1, 2, 3, 3 }, (double[]){ 80, 40, 20, 10 }, 4, &wrong);
    cr_expect_eq(wrong, 0, "%s", text);
    text = held((int[]){ 1, 1, 3, 3 }, (double[]){ 80, 40, 20, 10 }, 4, &wrong);
    cr_expect(wrong == 1 && strstr(text, "version 2 reaches step 1"), "%s", text);
    text = held((int[]){ 1, 3, 3, 3 }, (double[]){ 80, 40, 20, 10 }, 4, &wrong);
    cr_expect(wrong == 1 && strstr(text, "step 3: version 3 is the first"), "%s", text);
    text = held((int[]){ 1, 2, 3, 3 }, (double[]){ 80, 40, 36, 10 }, 4, &wrong);
    cr_expect(wrong == 1 && strstr(text, "version 3 is predicted 1.11 times"), "%s", text);
    text = held((int[]){ 1, 2, 3, 3 }, (double[]){ 80, 40, 20, 18 }, 4, &wrong);
    cr_expect(wrong == 1 && strstr(text, "version 4 is predicted 1.11 times"), "%s", text);
    text = held((int[]){ 1, 2, 3 }, (double[]){ 80, 40, 20 }, 3, &wrong);
    cr_expect(wrong == 1 && strstr(text, "no version 4"), "%s", text);
}

static const Ladder two_subjects = {
    .check = "large",
    .step = { { "one", 1 }, { "two", 2 }, { "three", 3, .shortens = "small" } },
    .steps = 3
};

// Where a step has its own check, that one's time is told and held, from the first piece of work to
// the last where that is known.
Test(ladder, may_shorten_another_check_with_a_later_step)
{
    cr_expect_str_eq(ladder_check(&two_subjects, 0), "large");
    cr_expect_str_eq(ladder_check(&two_subjects, 2), "large");
    cr_expect_str_eq(ladder_check(&two_subjects, 3), "small");
    json_t *results[3];
    static const double large[] = { 80, 40, 20 }, small[] = { 90, 90, 90 };
    static const int elapsed[] = { 70, 70, 10 };
    for (int i = 0; i < 3; i++)
        results[i] = json_pack("{s{si} s[{ss si sf s{si}}{ss si sf}]}", "score", "step", i + 1,
                               "checks", "check", "small", "calls", 2, "time_ns", small[i],
                               "counters", "devices__elapsed_ns.sum", elapsed[i], "check", "large",
                               "calls", 1, "time_ns", large[i]);
    cr_expect_float_eq(ladder_time(&two_subjects, 1, json_object_get(results[1], "checks")), 40,
                       1e-9);
    cr_expect_float_eq(ladder_time(&two_subjects, 3, json_object_get(results[1], "checks")), 35,
                       1e-9);
    char *text;
    size_t bytes, held = 0;
    FILE *f = open_memstream(&text, &bytes);
    cr_expect_eq(ladder_hold(&two_subjects, results, 3, f, &held), 0);
    json_object_set_new(
        json_object_get(json_array_get(json_object_get(results[2], "checks"), 0), "counters"),
        "devices__elapsed_ns.sum", json_integer(69));
    cr_expect_eq(ladder_hold(&two_subjects, results, 3, f, &held), 1);
    fclose(f);
    cr_expect(strstr(text, "version 3 is predicted 1.01 times as fast as version 2"), "%s", text);
}

// Where a step makes something else less than time, the value of its claim is held.
Test(ladder, may_lessen_what_a_claim_holds)
{
    static const Ladder coarse = { .check = "large",
                                   .step = { { "one", 2, .lessens = "error" },
                                             { "two", 3, .lessens = "bits" } },
                                   .steps = 2 };
    static const double error[] = { 0.9, 0.1, 0.1 }, bits[] = { 8, 8, 7 };
    json_t *results[3];
    for (int i = 0; i < 3; i++)
        results[i] = json_pack("{s{si} s[{ss sf}{ss sf}]}", "score", "step", i, "claims", "name",
                               "error", "value", error[i], "name", "bits", "value", bits[i]);
    char *text;
    size_t bytes, held = 0;
    FILE *f = open_memstream(&text, &bytes);
    cr_expect_eq(ladder_hold(&coarse, results, 3, f, &held), 1);
    fclose(f);
    cr_expect_eq(held, 6);
    cr_expect_str_eq(text,
                     "version 3 has 7 of 'bits', and version 2 8: a step is 1.15 times less\n");
    json_object_set_new(results[2], "claims", json_array());
    cr_expect_eq(ladder_hold(&coarse, results, 3, stderr, &held), 1, "no such claim");
}

#define LADDER                                                                                     \
    "ladder = { check = \"c\"; steps = ({ name = \"a\"; version = 2; }, { name = \"b\"; version "  \
    "= 3; }); gold = 4; };"
#define CLAIM(more)                                                                                \
    "claims = ({ name = \"n\"; check = \"c\"; counter = \"a\"; per = \"call\"; why = \"w\"; "      \
    "at_most = 1.0; slow = \"s\"; " more " });"
#define TARGET(more)                                                                               \
    "gpu = ({ name = \"t\"; measure = \"m\"; at_least = 0.5; why = \"w\"; slow = \"s\"; " more     \
    " });"

#define MISTAKES(first, second)                                                                    \
    "ladder = { check = \"c\"; steps = ({ name = \"a\"; version = 1; " first                       \
    " }, { name = \"b\"; version = 1; " second " }); };"

Test(ladder, is_read_from_the_profile)
{
    Profile p;
    cr_expect_null(read_profile(MISTAKES("checks = [ \"x\", \"y\" ];", "checks = [ \"z\" ];"), &p));
    cr_expect(p.ladder.step[0].checks == 2 && p.ladder.step[1].checks == 1);
    cr_expect_str_eq(p.ladder.step[0].check[1], "y");
    cr_expect_null(read_profile(LADDER CLAIM("step = 2;") TARGET(""), &p));
    cr_expect_eq(p.ladder.steps, 2);
    cr_expect_str_eq(p.ladder.step[1].name, "b");
    cr_expect_eq(p.ladder.step[1].version, 3);
    cr_expect_eq(p.ladder.gold, 4);
    cr_expect_eq(p.claim[0].step, 2);
    cr_expect_eq(p.target[0].step, 2, "what says no step is wanted by the last one");
    cr_expect_null(p.ladder.step[0].shortens);
    cr_expect_null(read_profile("ladder = { check = \"c\"; steps = ({ name = \"a\"; version = 1; },"
                                "{ name = \"b\"; version = 2; check = \"d\"; }); };",
                                &p));
    cr_expect_str_eq(p.ladder.step[1].shortens, "d");
    cr_expect_null(read_profile("ladder = { check = \"c\"; steps = ({ name = \"a\"; version = 1; "
                                "lessens = \"n\"; }); };" CLAIM(""),
                                &p));
    cr_expect_str_eq(p.ladder.step[0].lessens, "n");
    cr_expect_null(read_profile(LADDER CLAIM("") TARGET("step = 1;"), &p));
    cr_expect_eq(p.claim[0].step, 1, "what says no step is wanted from the first on");
    cr_expect_eq(p.target[0].step, 1);
}

Test(ladder, that_cannot_be_meant_is_refused)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        { LADDER CLAIM("step = 3;"), "'n' has a step that is none of the ladder's 2" },
        { LADDER TARGET("step = 3;"), "'t' has a step that is none of the ladder's 2" },
        { CLAIM("step = 1;"), "'n' has a step that is none of the ladder's 0" },
        { LADDER CLAIM("step = 1.5;"), "none of the ladder's 2" },
        { "ladder = { steps = ({ name = \"a\"; version = 1; }); };", "needs check and steps" },
        { "ladder = { check = \"c\"; };", "needs check and steps" },
        { "ladder = { check = \"c\"; steps = ({ name = \"a\"; }); };", "a step needs a name" },
        { "ladder = { check = \"c\"; rungs = 2; };", "the ladder has no 'rungs'" },
        { "ladder = { check = \"c\"; steps = ({ name = \"a\"; version = 1; lessens = \"z\"; }); };",
          "the step 'a' lessens no claim" },
        { MISTAKES("checks = [ \"a\", \"b\" ];", ""), "all have checks or none" },
        { MISTAKES("checks = [ 1 ];", "checks = [ \"b\" ];"), "names of four at most" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Profile p;
        const char *problem = read_profile(cases[i].text, &p);
        cr_expect(problem && strstr(problem, cases[i].words), "case %zu: %s", i, problem);
    }
}
