// Ratios and targets: what a GPU's clock is held against, from times that are made up.
#include "claims.h"
#include "ratio.h"
#include "session.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

Test(ratio, one_disturbed_turn_moves_nothing)
{
    double values[] = { 0.84, 0.85, 9.0, 0.85, 0.86 };
    Ratio r = ratio_of(values, 5);
    cr_expect_float_eq(r.median, 0.85, 1e-12);
    cr_expect_float_eq(r.low, 0.85, 1e-12);
    cr_expect(r.spread < 0.02 && ratio_is_steady(r));
}

Test(ratio, half_of_them_elsewhere_is_not_steady)
{
    double values[] = { 0.5, 0.9, 0.5, 0.9, 0.5, 0.9 };
    cr_expect_not(ratio_is_steady(ratio_of(values, 6)));
}

// Of 15 the fourth and the fourth from the end; of few, all.
Test(ratio, of_15_lies_between_the_fourth_and_the_twelfth)
{
    double values[] = { 15, 1, 14, 2, 13, 3, 12, 4, 11, 5, 10, 6, 9, 7, 8 };
    Ratio r = ratio_of(values, GROUPS);
    cr_expect(r.from == 4 && r.to == 12 && r.median == 8, "%g to %g", r.from, r.to);
    double few[] = { 3, 1, 2 };
    r = ratio_of(few, 3);
    cr_expect(r.from == 1 && r.to == 3);
    double six[] = { 6, 3, 1, 2, 5, 4 }, nine[] = { 9, 8, 7, 6, 5, 4, 3, 2, 1 };
    cr_expect_eq(ratio_of(six, 6).from, 1);
    cr_expect_eq(ratio_of(nine, 9).from, 2);
}

Test(ratio, turns_that_take_long_are_fewer)
{
    cr_expect_eq(ratio_turns(0.05), GROUPS);
    cr_expect_eq(ratio_turns(1.2), 8);
    cr_expect_eq(ratio_turns(20), FEWEST_GROUPS);
    double six[] = { 6, 3, 1, 2, 5, 4 };
    Ratio r = ratio_of(six, FEWEST_GROUPS);
    cr_expect(r.from == 1 && r.to == 6);
}

// Lesson 29 on four H200s, 4 KiB: nobody doubts that these keep 0.42, or that they miss 2.4.
Test(ratio, tells_what_lies_outside_of_the_ratios)
{
    double values[] = { 1.33, 1.34, 1.38, 1.46, 1.48, 1.62, 1.71, 1.74,
                        1.75, 1.81, 1.84, 1.90, 2.05, 2.05, 2.19 };
    Ratio r = ratio_of(values, GROUPS);
    cr_expect_not(ratio_is_steady(r));
    cr_expect_eq(ratio_bound(r, 0.42), BOUND_KEPT);
    cr_expect_eq(ratio_bound(r, 1.46), BOUND_KEPT);
    cr_expect_eq(ratio_bound(r, 1.47), BOUND_UNSURE);
    cr_expect_eq(ratio_bound(r, 1.90), BOUND_UNSURE);
    cr_expect_eq(ratio_bound(r, 1.91), BOUND_MISSED);
}

Test(ratio, is_told_by_the_median_where_it_is_steady)
{
    Ratio r = { .median = 0.80, .spread = 0.05, .from = 0.77, .to = 0.83 };
    cr_expect_eq(ratio_bound(r, 0.80), BOUND_KEPT);
    cr_expect_eq(ratio_bound(r, 0.81), BOUND_MISSED);
    r.from = 0.79, r.to = 0.81;
    cr_expect(ratio_is_close(r, 0.80) && ratio_is_close(r, 0.81));
    cr_expect_not(ratio_is_close(r, 0.79) || ratio_is_close(r, 0.82)
                  || ratio_is_close(r, INFINITY));
    r.spread = 0.051;
    cr_expect_eq(ratio_bound(r, 0.80), BOUND_UNSURE);
}

static const Gpu gpu = { .bytes_per_second = 4.8e12 };
static const Target target = { .name = "of the copy rate",
                               .measure = "large",
                               .peer = "copy",
                               .why = "w",
                               .slow = "far apart",
                               .at_least = 0.8 };

// A call that moves 480 MB, which the memory can in 100 µs. The ratios that count lie as far on
// either side as they spread.
static json_t *measured(double ratio, double spread, double seconds)
{
    return json_pack("{sf sf sf sf s{sf sf sf} s{sf sf}}", "ratio", ratio, "spread", spread, "from",
                     ratio * (1 - spread), "to", ratio * (1 + spread), "student", "bytes", 480e6,
                     "seconds", seconds, "quick", seconds, "peer", "bytes", 480e6, "seconds",
                     110e-6);
}

static Timing judge(double ratio, double spread, double seconds)
{
    json_t *record = json_pack("{s{so}}", "measured", "copy", measured(ratio, spread, seconds));
    return target_judge(&target, record, &gpu);
}

Test(target, holds_at_its_bound)
{
    cr_expect_eq(judge(0.80, 0.01, 137e-6).verdict, VERDICT_PASS);
    Timing t = judge(0.79, 0.01, 139e-6);
    cr_expect_eq(t.verdict, VERDICT_SLOW);
    cr_expect_str_eq(t.words, "3453 GB/s, where a copy reaches 4364: far apart.");
    cr_expect_eq(targets_speed(&t, 1), 9);
}

Test(target, charges_nobody_for_an_unsteady_clock)
{
    Timing t = judge(0.7, 0.2, 155e-6);
    cr_expect_eq(t.verdict, VERDICT_PASS);
    cr_expect_eq(t.least, BOUND_UNSURE);
    cr_expect_str_eq(t.words, "Twice, most ratios lay from 0.56 to 0.84: too far apart to tell, "
                              "and not held against you. "
                              "Run it again while nothing else uses the GPU.");
    cr_expect_eq(targets_speed(&t, 1), 10);
}

// However unsteady it is: all of it is too slow.
Test(target, is_missed_where_the_ratios_lie_below_it)
{
    Timing t = judge(0.3, 0.2, 360e-6);
    cr_expect_eq(t.verdict, VERDICT_SLOW);
    cr_expect_eq(targets_speed(&t, 1), 3);
    cr_expect_eq(judge(1.02, 0.2, 115e-6).verdict, VERDICT_PASS);
    cr_expect_null(judge(1.02, 0.2, 115e-6).words);
}

Test(target, may_be_kept_and_its_gold_unknown)
{
    Target other = target;
    other.gold = 1.0;
    json_t *record = json_pack("{s{so}}", "measured", "copy", measured(1.02, 0.2, 115e-6));
    Timing t = target_judge(&other, record, &gpu);
    cr_expect(t.verdict == VERDICT_PASS && t.least == BOUND_KEPT && t.gold == BOUND_UNSURE);
    cr_expect_not(timing_is_gold(&t));
    cr_expect_str_eq(
        t.words,
        "Twice, most ratios lay from 0.82 to 1.22: too far apart to tell whether that is gold. "
        "Run it again while nothing else uses the GPU.");
    other.gold = 0.81;
    t = target_judge(&other, record, &gpu);
    cr_expect(timing_is_gold(&t) && !t.words);
}

Test(target, suspects_what_the_memory_cannot_do)
{
    cr_expect_eq(judge(1.2, 0.01, 91e-6).verdict, VERDICT_PASS);
    cr_expect_eq(judge(1.3, 0.01, 89e-6).verdict, VERDICT_SUSPECT);
    cr_expect_eq(judge(9.0, 0.40, 12e-6).verdict, VERDICT_SUSPECT);
}

Test(target, is_judged_beside_its_own_peer)
{
    Target other = target;
    other.peer = "sgemm_cublas";
    json_t *record = json_pack("{s{so so}}", "measured", "copy", measured(0.9, 0.01, 120e-6),
                               "sgemm_cublas", measured(0.5, 0.01, 220e-6));
    cr_expect_eq(target_judge(&target, record, &gpu).verdict, VERDICT_PASS);
    Timing t = target_judge(&other, record, &gpu);
    cr_expect_eq(t.verdict, VERDICT_SLOW);
    cr_expect_str_eq(t.words, "220 µs a call, where sgemm_cublas takes 110: far apart.");
    other.peer = "another";
    cr_expect_eq(target_judge(&other, record, &gpu).verdict, VERDICT_GRADER_ERROR);
}

Test(target, whose_peer_wants_a_library_is_not_judged)
{
    Target other = target;
    other.peer = "sgemm_cublas";
    other.gold = 0.9;
    json_t *record = json_pack("{s{s{ss}}}", "measured", "sgemm_cublas", "missing", "libcublas");
    Timing t = target_judge(&other, record, &gpu);
    cr_expect_eq(t.verdict, VERDICT_PASS);
    cr_expect_str_eq(t.words,
                     "sgemm_cublas needs libcublas, which is not on this machine: not judged.");
    cr_expect_not(timing_is_gold(&t));
    cr_expect_eq(targets_speed(&t, 1), 10);
}

Test(target, that_was_not_measured_is_the_graders_error)
{
    cr_expect_eq(target_judge(&target, json_object(), &gpu).verdict, VERDICT_GRADER_ERROR);
    cr_expect_eq(target_judge(&target, NULL, &gpu).verdict, VERDICT_GRADER_ERROR);
}

static const char *read_text(const char *text)
{
    static Profile profile;
    char path[] = "/tmp/warpwise-target-XXXXXX";
    int fd = mkstemp(path);
    dprintf(fd, "%s", text);
    close(fd);
    profile = (Profile){ 0 };
    const char *problem = profile_read(path, &profile);
    unlink(path);
    return problem;
}

Test(target, is_refused_when_half_said)
{
    cr_expect_null(read_text(
        "gpu = ({ name = \"n\"; measure = \"m\"; at_least = 0.5; why = \"w\"; slow = \"s\"; });"));
    cr_expect_not_null(
        read_text("gpu = ({ name = \"n\"; measure = \"m\"; why = \"w\"; slow = \"s\"; });"));
    cr_expect_not_null(read_text("gpu = ({ name = \"n\"; measure = \"m\"; at_least = 0.5; why = "
                                 "\"w\"; slow = \"s\"; peer = 1; });"));
}

Test(device, reports_when_it_is_a_simulator)
{
    cr_expect(session_device_reports("simulator/run"));
    cr_expect(session_device_reports("/a/simulator/run --profile"));
    cr_expect_not(session_device_reports(""));
    cr_expect_not(session_device_reports("ncu --log-file simulator/run"));
}
