// Claims: the arithmetic of ratios and bounds, the words about a line, and profiles that are
// refused.
#include "claims.h"
#include "profile.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ST "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
#define REQUESTS "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
#define CONFLICTS "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
#define LEAST "l1tex__t_sectors_least_pipe_lsu_mem_global_op_st.sum"
#define SHARED "l1tex__requests_pipe_lsu_mem_shared_op_ld.sum"
#define PASSES "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"

static const Claim stored = { .name = "sectors stored",
                              .check = "large",
                              .per = "compulsory_write",
                              .counter = { ST },
                              .counters = 1,
                              .at_least = 1,
                              .at_most = 1.1,
                              .why = "w",
                              .suspect = "too few",
                              .slow = "far apart" };

// 32,000 bytes in 250 full requests of a warp, 4 bytes a lane; so many sectors, all on one line.
static json_t *record(int sectors)
{
    return json_pack("{si si si si si si s{si si si} s[{ss si s{si si si}}]}", "kernels", 1,
                     "calls", 1, "compulsory_read", 64000, "compulsory_write", 32000,
                     "compulsory_htod", 4000, "compulsory_operations", 6400, "counters", ST,
                     sectors, REQUESTS, 250, "launch__count", 1, "lines", "file", "/x/a.cu", "line",
                     14, "counters", ST, sectors, REQUESTS, 250, LEAST, 1000);
}

Test(claims, hold_at_their_bounds)
{
    cr_expect_eq(claim_judge(&stored, record(1000)).verdict, VERDICT_PASS);
    cr_expect_eq(claim_judge(&stored, record(1100)).verdict, VERDICT_PASS);
    cr_expect_eq(claim_judge(&stored, record(1101)).verdict, VERDICT_SLOW);
    cr_expect_eq(claim_judge(&stored, record(999)).verdict, VERDICT_SUSPECT);
    cr_expect_float_eq(claim_judge(&stored, record(8000)).value, 8, 1e-12);
}

// What a right answer lacks for gold, with the line that has most of it.
Test(claims, say_what_gold_lacks)
{
    Claim c = stored;
    c.gold = 1.02;
    cr_expect_null(claim_judge(&c, record(1020)).lacks);
    cr_expect_str_eq(claim_judge(&c, record(1050)).lacks,
                     "For gold: sectors stored, 1.02 x compulsory where it is 1.05 now, most of it "
                     "in a.cu:14 (1050 of 1050).");
    cr_expect_null(claim_judge(&c, record(8000)).lacks, "it is not right for the step, first");
}

// A floor under a step's mechanism is no suspicion: the step is not reached.
Test(claims, have_floors)
{
    Claim c = stored;
    c.at_most = INFINITY;
    c.suspect = NULL;
    c.slow = "the tile is not read";
    c.next = "read it";
    cr_expect(claim_is_floor(&c));
    cr_expect_eq(claim_judge(&c, record(1000)).verdict, VERDICT_PASS);
    Finding f = claim_judge(&c, record(999));
    cr_expect_eq(f.verdict, VERDICT_SLOW);
    cr_expect_str_eq(f.words, "sectors stored: the tile is not read.");
    cr_expect_str_eq(f.next, "read it");
    cr_expect_eq(claims_speed(&f, 1), 1);
    c.suspect = "s";
    cr_expect_not(claim_is_floor(&c));
}

// The predicted time is no counter of the device's, and belongs to no line.
Test(claims, judge_the_predicted_time)
{
    Claim c = { .name = "predicted time",
                .check = "large",
                .per = "call",
                .counter = { "gpu__time_duration.sum" },
                .counters = 1,
                .at_least = -INFINITY,
                .at_most = 5000,
                .why = "w",
                .slow = "too little is under way" };
    json_t *r = record(1000);
    json_object_set_new(r, "time_ns", json_real(10000));
    json_object_set_new(r, "calls", json_integer(2));
    Finding f = claim_judge(&c, r);
    cr_expect_eq(f.verdict, VERDICT_PASS);
    cr_expect_float_eq(f.value, 5000, 1e-9);
    cr_expect(f.estimate);
    json_object_set_new(r, "time_ns", json_real(10002));
    f = claim_judge(&c, r);
    cr_expect_eq(f.verdict, VERDICT_SLOW);
    cr_assert_str_eq(f.words, "predicted time: too little is under way.");
    c.at_most = INFINITY;
    c.gold = 4000;
    cr_assert_str_eq(claim_judge(&c, r).lacks,
                     "For gold: predicted time, 4000 a call where it is 5001 now.");
}

// Where no line is to blame, the first cause that is one gives the words.
Test(claims, name_the_cause)
{
    Claim c = { .name = "time",
                .check = "large",
                .per = "call",
                .counter = { "devices__elapsed_ns.sum" },
                .counters = 1,
                .at_least = -INFINITY,
                .at_most = 10,
                .why = "w",
                .slow = "they wait",
                .next = "look",
                .cause = { { .counter = "waits",
                             .more_than = 4,
                             .less_than = -INFINITY,
                             .slow = "% waits",
                             .next = "wait once" },
                           { .counter = "streams",
                             .more_than = INFINITY,
                             .less_than = 3,
                             .slow = "few: %",
                             .next = "take three" } },
                .causes = 2 };
    json_t *r = record(1000), *counters = json_object_get(r, "counters");
    json_object_set_new(counters, "devices__elapsed_ns.sum", json_integer(11));
    json_object_set_new(counters, "waits", json_integer(5));
    json_object_set_new(counters, "streams", json_integer(2));
    Finding f = claim_judge(&c, r);
    cr_assert_eq(f.verdict, VERDICT_SLOW);
    cr_expect_str_eq(f.words, "time: 5 waits.");
    cr_expect_str_eq(f.next, "wait once");
    json_object_set_new(counters, "waits", json_integer(4));
    f = claim_judge(&c, r);
    cr_expect_str_eq(f.words, "time: few: 2.");
    json_object_set_new(counters, "streams", json_integer(3));
    f = claim_judge(&c, r);
    cr_expect_str_eq(f.words, "time: they wait.");
    cr_expect_str_eq(f.next, "look");
    json_object_del(counters, "streams"); // not counted here, so no cause
    cr_expect_str_eq(claim_judge(&c, r).words, "time: they wait.");
    json_object_set_new(counters, "devices__elapsed_ns.sum", json_integer(10));
    cr_expect_eq(claim_judge(&c, r).verdict, VERDICT_PASS);
}

Test(claims, name_the_line_and_what_would_do)
{
    Finding f = claim_judge(&stored, record(8000));
    cr_assert_str_eq(f.words, "32 sectors a store in a.cu:14, 4 would do: far apart.");
    cr_assert_eq(f.line, 14);
}

// Five sectors where four would do are not why a vector is stored thirty times.
Test(claims, blame_no_torn_access_for_what_is_done_again)
{
    json_t *r = record(30000);
    json_t *here = json_object_get(json_array_get(json_object_get(r, "lines"), 0), "counters");
    json_object_set_new(here, REQUESTS, json_integer(6000));
    json_object_set_new(here, LEAST, json_integer(24000));
    cr_assert_str_eq(claim_judge(&stored, r).words, "Most of it in a.cu:14: far apart.");
}

static json_t *line_counters(json_t *record, size_t line)
{
    return json_object_get(json_array_get(json_object_get(record, "lines"), line), "counters");
}

// 16 bytes a lane need 16 sectors; four stores of 4 bytes, as many bytes apart, touch them four
// times.
Test(claims, go_by_the_width_of_each_access)
{
    json_t *r = record(4000);
    json_object_set_new(line_counters(r, 0), LEAST, json_integer(4000));
    cr_assert_str_eq(claim_judge(&stored, r).words, "Most of it in a.cu:14: far apart.");
    json_object_set_new(line_counters(r, 0), LEAST, json_integer(1000));
    cr_assert_str_eq(claim_judge(&stored, r).words,
                     "16 sectors a store in a.cu:14, 4 would do: far apart.");
}

// Four whole stores of everything: 4 sectors each, and nothing is far apart.
Test(claims, tell_passes_too_many_from_torn_accesses)
{
    Claim c = stored;
    c.again = "stored more than once";
    json_t *r = record(4000);
    json_object_set_new(line_counters(r, 0), REQUESTS, json_integer(1000));
    json_object_set_new(line_counters(r, 0), LEAST, json_integer(4000));
    Finding f = claim_judge(&c, r);
    cr_assert_str_eq(f.words, "4 sectors a store in a.cu:14: stored more than once.");
    cr_assert_not_null(strstr(f.next, "another launch, or a loop"));
    c.next = "store it once";
    cr_assert_str_eq(claim_judge(&c, r).next, "store it once");
    cr_assert_str_eq(claim_judge(&stored, r).words, "Most of it in a.cu:14: far apart.");
    cr_assert_null(claim_judge(&stored, r).next);
}

// The line that wastes most is to blame, and not the one that moves most.
Test(claims, blame_the_line_that_wastes_most)
{
    json_t *r = record(3000), *lines = json_object_get(r, "lines");
    json_object_set_new(line_counters(r, 0), LEAST, json_integer(3000));
    json_array_append_new(lines, json_pack("{ss si s{si si si}}", "file", "a.cu", "line", 20,
                                           "counters", ST, 320, REQUESTS, 10, LEAST, 40));
    cr_assert_str_eq(claim_judge(&stored, r).words,
                     "32 sectors a store in a.cu:20, 4 would do: far apart.");
    json_object_set_new(line_counters(r, 1), LEAST, json_integer(320));
    cr_assert_str_eq(claim_judge(&stored, r).words, "Most of it in a.cu:14: far apart.");
}

// 250 requests to shared memory, in so many passes, of which so many are conflicts.
static char *conflicting(int passes, int conflicts)
{
    Claim c = stored;
    c.counter[0] = CONFLICTS;
    c.per = REQUESTS;
    c.at_least = -INFINITY;
    json_t *r = json_pack("{si s{si si} s[{ss si s{si si si}}]}", "kernels", 1, "counters",
                          CONFLICTS, conflicts, REQUESTS, 250, "lines", "file", "a.cu", "line", 20,
                          "counters", CONFLICTS, conflicts, PASSES, passes, SHARED, 250);
    return claim_judge(&c, r).words;
}

Test(claims, tell_conflicts_in_passes)
{
    cr_assert_str_eq(conflicting(32 * 250, 31 * 250),
                     "Each shared-memory load in a.cu:20 takes 32 passes, 1 would do: far apart.");
}

// 16 bytes a lane go by eight lanes at a time: 4 passes are none too many.
Test(claims, count_the_passes_of_wide_accesses)
{
    cr_assert_str_eq(conflicting(32 * 250, 28 * 250),
                     "Each shared-memory load in a.cu:20 takes 32 passes, 4 would do, one for "
                     "each 8 lanes: far apart.");
    cr_assert_str_eq(conflicting(4 * 250, 2 * 250),
                     "Each shared-memory load in a.cu:20 takes 4 passes, 2 would do, one for "
                     "each 16 lanes: far apart.");
}

Test(claims, are_never_passed_for_want_of_a_counter)
{
    json_t *r = record(1000);
    json_object_del(json_object_get(r, "counters"), ST);
    cr_expect_eq(claim_judge(&stored, r).verdict, VERDICT_GRADER_ERROR);
    r = record(1000);
    json_object_set_new(r, "compulsory_write", json_integer(0));
    cr_expect_eq(claim_judge(&stored, r).verdict, VERDICT_GRADER_ERROR);
}

Test(claims, without_a_launch_all_counts_are_nought)
{
    json_t *r = json_pack("{si si s{}}", "kernels", 0, "compulsory_write", 32000, "counters");
    cr_assert_eq(claim_judge(&stored, r).verdict, VERDICT_SUSPECT);
}

Test(claims, divide_by_what_they_say)
{
    Claim c = stored;
    c.per = "compulsory_read";
    cr_expect_float_eq(claim_judge(&c, record(1000)).value, 0.5, 1e-12);
    c.per = "compulsory";
    cr_expect_float_eq(claim_judge(&c, record(3000)).value, 1, 1e-12);
    c.per = "compulsory_htod";
    cr_expect_float_eq(claim_judge(&c, record(8000)).value, 2, 1e-12);
    c.per = "compulsory_operations";
    cr_expect_float_eq(claim_judge(&c, record(500)).value, 2.5, 1e-12);
    cr_expect_str_eq(claim_unit(&c), "an operation");
    c.per = "call";
    cr_expect_float_eq(claim_judge(&c, record(7)).value, 7, 1e-12);
    c.per = "launch__count";
    cr_expect_float_eq(claim_judge(&c, record(7)).value, 7, 1e-12);
    c.counter[1] = REQUESTS;
    c.counters = 2;
    cr_expect_float_eq(claim_judge(&c, record(7)).value, 257, 1e-12);
}

// An answer that leaves the divisor's counter at 0 does not escape the bound.
Test(claims, over_a_counter_of_nought_are_over_one)
{
    Claim c = stored;
    json_t *r = record(2);
    c.per = REQUESTS, c.at_least = 1;
    json_object_set_new(json_object_get(r, "counters"), REQUESTS, json_integer(0));
    cr_expect_eq(claim_judge(&c, r).verdict, VERDICT_SLOW);
    cr_expect_float_eq(claim_judge(&c, r).value, 2, 1e-12);
    json_object_set_new(json_object_get(r, "counters"), ST, json_integer(0));
    cr_expect_eq(claim_judge(&c, r).verdict, VERDICT_SUSPECT);
    c.at_least = -INFINITY;
    cr_expect_eq(claim_judge(&c, r).verdict, VERDICT_PASS);
}

// What the check itself said needs no counter, no unit and no line; what it did not say is missed.
Test(claims, hold_what_a_check_said)
{
    Claim c = stored;
    json_t *r = record(1000);
    c.per = "figure", c.counter[0] = "error", c.at_least = 0.01, c.at_most = 0.2;
    cr_expect(claim_is_figure(&c) && !claim_is_figure(&stored));
    cr_expect_str_eq(claim_unit(&c), "");
    cr_expect_eq(claim_judge(&c, r).verdict, VERDICT_GRADER_ERROR);
    json_object_set_new(r, "figures", json_pack("{sf sf}", "error", 0.2, "bytes", 7.0));
    cr_expect_eq(claim_judge(&c, r).verdict, VERDICT_PASS);
    cr_expect_float_eq(claim_judge(&c, r).value, 0.2, 1e-12);
    json_object_set_new(r, "figures", json_pack("{sf}", "error", 0.201));
    cr_expect_eq(claim_judge(&c, r).verdict, VERDICT_SLOW);
    cr_expect_str_eq(claim_judge(&c, r).words, "sectors stored: far apart.");
    json_object_set_new(r, "figures", json_pack("{sf}", "error", 0.009));
    cr_expect_eq(claim_judge(&c, r).verdict, VERDICT_SUSPECT);
}

static Finding finding(const Claim *claim, int sectors)
{
    return claim_judge(claim, record(sectors));
}

Test(claims, are_gold_where_every_gold_bound_is_kept)
{
    Claim c = stored, other = stored;
    Finding plain = finding(&stored, 1000);
    c.gold = other.gold = INFINITY;
    plain.claim = &other;
    cr_expect_eq(claims_gold(&plain, 1), GOLD_NONE);
    cr_expect_eq(claims_gold(NULL, 0), GOLD_NONE);

    c.gold = 1.05;
    Finding kept = finding(&c, 1050), missed = finding(&c, 1051);
    cr_expect_eq(missed.verdict, VERDICT_PASS, "gold costs nobody a point");
    cr_expect_eq(claims_speed(&missed, 1), 10);
    cr_expect(finding_is_gold(&kept) && !finding_is_gold(&missed) && !finding_is_gold(&plain));
    cr_expect_eq(claims_gold((Finding[]){ plain, kept }, 2), GOLD_KEPT);
    cr_expect_eq(claims_gold((Finding[]){ kept, plain }, 2), GOLD_KEPT);
    cr_expect_eq(claims_gold((Finding[]){ missed, kept }, 2), GOLD_MISSED);
    cr_expect_eq(claims_gold((Finding[]){ kept, missed }, 2), GOLD_MISSED);
}

Test(claims, are_no_gold_for_want_of_a_counter)
{
    Claim c = stored;
    json_t *r = record(1000);
    c.gold = 1.1;
    json_object_del(json_object_get(r, "counters"), ST);
    Finding unknown = claim_judge(&c, r);
    cr_expect_eq(claims_gold(&unknown, 1), GOLD_MISSED);
}

Test(targets, are_gold_where_the_ratio_can_be_judged)
{
    Target t = { .name = "n", .at_least = 0.5, .gold = 0.9 },
           plain = { .name = "p", .gold = -INFINITY };
    Timing kept = { .target = &t, .gold = BOUND_KEPT },
           missed = { .target = &t, .gold = BOUND_MISSED };
    Timing unsure = { .target = &t, .gold = BOUND_UNSURE },
           other = { .target = &plain, .gold = BOUND_KEPT };
    Timing missing = { .target = &t, .gold = BOUND_KEPT, .missing = "libcub" };
    cr_expect_eq(targets_gold(&other, 1), GOLD_NONE);
    cr_expect_eq(targets_gold((Timing[]){ other, kept }, 2), GOLD_KEPT);
    cr_expect_eq(targets_gold((Timing[]){ kept, missed }, 2), GOLD_MISSED);
    cr_expect_eq(targets_gold((Timing[]){ unsure }, 1), GOLD_MISSED);
    cr_expect_eq(targets_gold((Timing[]){ missing }, 1), GOLD_MISSED);
}

// ---- Versions, and what the profile says of them

// What claims_hold prints of versions that came to these values; a value below 0: not known.
static char *held_to(Profile *p, bool on_gpu, const double *values, size_t count, size_t *wrong,
                     size_t *held)
{
    json_t *results[8] = { 0 };
    char *text;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    for (size_t i = 0; i < count; i++)
        if (values[i] >= 0)
            results[i] = on_gpu ? json_pack("{s{s[{ss sf}]}}", "gpu", "timings", "name", "t",
                                            "ratio", values[i])
                                : json_pack("{s[{ss sf}{ss sf}]}", "claims", "name", "other",
                                            "value", 77.0, "name", "n", "value", values[i]);
    *held = 0;
    *wrong = claims_hold(p, on_gpu, results, count, f, held);
    fclose(f);
    return text;
}

#define HELD(on_gpu, ...)                                                                          \
    held_to(&p, on_gpu, (double[]){ __VA_ARGS__ },                                                 \
            sizeof((double[]){ __VA_ARGS__ }) / sizeof(double), &wrong, &held)

Test(versions, are_held_to_their_claims)
{
    Profile p = {
        .claims = 1,
        .claim = { { .name = "n", .at_most = 1, .version = 2, .gold = 0.5, .gold_version = 3 } }
    };
    size_t wrong, held;
    cr_expect_str_eq(HELD(false, 2, 1, 0.5), "");
    cr_expect(wrong == 0 && held == 4, "%zu wrong of %zu", wrong, held);
    cr_expect_str_eq(HELD(false, 1, 1, 0.5),
                     "'n': version 2 is the first that keeps at_most = 1, says "
                     "the profile; but version 1 comes to 1\n");
    cr_expect_str_eq(HELD(false, 2, 1.5, 0.5),
                     "'n': version 2 is the first that keeps at_most = 1, "
                     "says the profile; but version 2 comes to 1.5\n");
    cr_expect_str_eq(HELD(false, 2, 0.5, 0.5),
                     "'n': version 3 is the first that keeps gold = 0.5, says "
                     "the profile; but version 2 comes to 0.5\n");
    cr_expect_str_eq(HELD(false, 2, 1, 0.6),
                     "'n': version 3 is the first that keeps gold = 0.5, says "
                     "the profile; but version 3 comes to 0.6\n");
    cr_expect_str_eq(HELD(false, 2, 1), "'n': there is no version 3 that could keep gold = 0.5\n");
    cr_expect_eq(wrong, 1);
}

Test(versions, are_held_to_their_floors)
{
    Profile p = {
        .claims = 1,
        .claim = { { .name = "n", .at_least = 4, .at_most = INFINITY, .slow = "s", .version = 2 } }
    };
    size_t wrong, held;
    cr_expect_str_eq(HELD(false, 3, 4), "");
    cr_expect(wrong == 0 && held == 2, "%zu wrong of %zu", wrong, held);
    cr_expect_str_eq(HELD(false, 4, 4), "'n': version 2 is the first that keeps at_least = 4, says "
                                        "the profile; but version 1 comes to 4\n");
}

Test(versions, of_which_nothing_is_known_are_not_held)
{
    Profile p = { .claims = 1, .claim = { { .name = "n", .at_most = 1, .version = 2 } } };
    size_t wrong, held;
    cr_expect_str_eq(HELD(false, -1, 1), "");
    cr_expect(wrong == 0 && held == 1);
    p.claim[0].name = "m"; // a result without the claim is not the same as no result
    HELD(false, 2, 1);
    cr_expect_eq(wrong, 2);
}

Test(versions, are_held_to_their_targets)
{
    Profile p = {
        .targets = 1,
        .target = { { .name = "t", .at_least = 0.4, .version = 2, .gold = 0.8, .gold_version = 3 } }
    };
    size_t wrong, held;
    cr_expect_str_eq(HELD(true, 0.2, 0.4, 0.9), "");
    cr_expect(wrong == 0 && held == 4);
    HELD(true, 0.4, 0.4, 0.9);
    cr_expect_eq(wrong, 1);
    HELD(true, 0.2, 0.3, 0.7);
    cr_expect_eq(wrong, 2);
    HELD(true, 0.2, 0.8, 0.9);
    cr_expect_eq(wrong, 1);
}

// A newer result says between which ratios the true one lies: a bound among them cannot be told, if
// they are far apart.
Test(versions, are_held_to_what_can_be_told)
{
    Profile p = { .targets = 1, .target = { { .name = "t", .at_least = 0.4, .version = 1 } } };
    struct {
        double ratio, spread, from, to;
        size_t wrong;
    } runs[] = { { 0.45, 0.2, 0.39, 0.5, 1 },
                 { 0.45, 0.2, 0.4, 0.5, 0 },
                 { 0.41, 0.05, 0.39, 0.43, 0 },
                 { 0.39, 0.05, 0.38, 0.43, 1 } };
    for (size_t i = 0; i < 4; i++) {
        char *text;
        size_t bytes, held = 0;
        FILE *f = open_memstream(&text, &bytes);
        json_t *result = json_pack("{s{s[{ss sf sf sf sf}]}}", "gpu", "timings", "name", "t",
                                   "ratio", runs[i].ratio, "spread", runs[i].spread, "from",
                                   runs[i].from, "to", runs[i].to);
        cr_expect_eq(claims_hold(&p, true, &result, 1, f, &held), runs[i].wrong, "run %zu", i);
        fclose(f);
        cr_expect_eq(strstr(text, "too far apart to tell") != NULL, i == 0, "run %zu: %s", i, text);
        free(text);
    }
}

Test(claims, speed_is_ten_only_where_all_hold)
{
    Finding right = claim_judge(&stored, record(1000)), slow = claim_judge(&stored, record(2200));
    Finding barely = claim_judge(&stored, record(1101));
    Finding awful = claim_judge(&stored, record(100000));
    cr_expect_eq(claims_speed(&right, 1), 10);
    cr_expect_eq(claims_speed(&slow, 1), 5);
    cr_expect_eq(claims_speed(&barely, 1), 9);
    cr_expect_eq(claims_speed(&awful, 1), 1);
    cr_expect_eq(claims_speed((Finding[]){ right, slow, barely }, 3), 5);
}

// ---- Profiles ----

#define CLAIM(more)                                                                                \
    "claims = ({ name = \"n\"; check = \"c\"; counter = [\"a\", \"b\"]; "                          \
    "per = \"call\"; why = \"w\"; " more " });"

#define TARGET(more)                                                                               \
    "gpu = ({ name = \"t\"; measure = \"m\"; at_least = 0.5; why = \"w\"; "                        \
    "slow = \"s\"; " more " });"

Test(profile, has_gold_and_the_versions_that_reach_it)
{
    Profile p;
    cr_assert_null(read_profile(CLAIM("at_most = 3; slow = \"s\"; version = 2; gold = 1.5; "
                                      "gold_version = 4;")
                                    TARGET("version = 3; gold = 0.75; gold_version = 5;"),
                                &p));
    cr_expect(p.claim[0].version == 2 && p.claim[0].gold == 1.5 && p.claim[0].gold_version == 4);
    cr_expect(p.target[0].version == 3 && p.target[0].gold == 0.75
              && p.target[0].gold_version == 5);
    cr_assert_null(read_profile(CLAIM("at_most = 3; slow = \"s\";") TARGET(""), &p));
    cr_expect(isinf(p.claim[0].gold) && !p.claim[0].version && !p.claim[0].gold_version);
    cr_expect(isinf(p.target[0].gold) && !p.target[0].version);
    cr_assert_null(read_profile(CLAIM("gold = 1; gold_version = 2;"), &p), "gold may stand alone");
}

Test(profile, is_read)
{
    Profile p;
    cr_assert_null(read_profile(
        "instructions = 5000000000L; seconds = 2.5;" CLAIM("at_most = 3; slow = \"s\";"), &p));
    cr_assert_eq(p.instructions, 5000000000);
    cr_assert_float_eq(p.seconds, 2.5, 0);
    cr_assert_null(read_profile("devices = 4;", &p));
    cr_assert_eq(p.devices, 4);
    cr_assert_null(read_profile(
        "instructions = 5000000000L; seconds = 2.5;" CLAIM("at_most = 3; slow = \"s\";"), &p));
    cr_assert_eq(p.claims, 1);
    cr_assert_eq(p.claim[0].counters, 2);
    cr_assert_str_eq(p.claim[0].counter[1], "b");
    cr_assert(isinf(p.claim[0].at_least) && p.claim[0].at_most == 3);
    cr_assert_null(p.claim[0].next);
    cr_assert_null(read_profile(CLAIM("at_most = 3; slow = \"s\"; next = \"do it\";"), &p));
    cr_assert_str_eq(p.claim[0].next, "do it");
    cr_assert_str_eq(claim_unit(&p.claim[0]), "a call");
    cr_assert_null(read_profile(CLAIM("at_most = 3; slow = \"s\"; unit = \"a round\";"), &p));
    cr_assert_str_eq(claim_unit(&p.claim[0]), "a round");
    cr_assert_null(read_profile(CLAIM("at_least = 3; slow = \"s\"; version = 2;"), &p));
    cr_assert(claim_is_floor(&p.claim[0]));
}

static void refused(const char *text, const char *words)
{
    Profile p;
    const char *problem = read_profile(text, &p);
    cr_expect(problem && strstr(problem, words), "'%s' should be refused with '%s', not '%s'", text,
              words, problem);
}

Test(profile, is_refused_with_its_reason)
{
    refused("seconds = ;", "syntax error");
    refused("second = 3;", "there is no setting 'second'");
    refused("seconds = -1;", "seconds must be");
    refused("devices = 9;", "devices must be");
    refused("devices = 1.5;", "devices must be");
    refused(CLAIM(""), "needs at_least, at_most or gold");
    refused(CLAIM("at_most = 3;"), "needs words");
    refused(CLAIM("at_most = 3; slow = \"s\"; unit = \"a great many\x20things\";"), "unit longer");
    refused(CLAIM("at_least = 3;"), "needs words");
    refused(CLAIM("at_least = 3; at_most = 4; slow = \"s\";"), "needs words");
    refused(CLAIM("at_least = 3; suspect = \"t\"; version = 2;"), "no bound");
    refused(CLAIM("at_most = \"3\"; slow = \"s\";"), "no range");
    refused(CLAIM("at_least = 4; at_most = 3; slow = \"s\"; suspect = \"t\";"), "no range");
    refused(CLAIM("atmost = 3; slow = \"s\";"), "a claim has no 'atmost'");
    refused("claims = ({ name = \"n\"; });", "a claim needs");
    refused(CLAIM("at_most = 3; slow = \"s\"; gold = 4; gold_version = 2;"), "gold outside");
    refused(CLAIM("at_least = 3; suspect = \"s\"; gold = 2; gold_version = 2;"), "gold outside");
    refused(CLAIM("at_most = 3; slow = \"s\"; gold = \"1\"; gold_version = 2;"), "gold outside");
    refused(CLAIM("at_most = 3; slow = \"s\"; gold = 2;"), "gold and gold_version");
    refused(CLAIM("at_most = 3; slow = \"s\"; gold_version = 2;"), "gold and gold_version");
    refused(CLAIM("at_most = 3; slow = \"s\"; version = 0;"), "no whole number");
    refused(CLAIM("at_most = 3; slow = \"s\"; version = 1.5;"), "no whole number");
    refused(CLAIM("at_least = 3; suspect = \"s\"; version = 1;"), "no bound that");
    refused(CLAIM("at_most = 3; slow = \"s\"; version = 3; gold = 2; gold_version = 2;"),
            "a version that does not pass");
    refused(TARGET("gold = 0.4; gold_version = 2;"), "gold below at_least");
    refused(TARGET("gold = 0.9;"), "gold and gold_version");
    refused(TARGET("golden = 0.9;"), "has no 'golden'");
}
