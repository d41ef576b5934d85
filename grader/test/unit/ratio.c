// Ratios and targets: what a GPU's clock is held against, from times that are made up.
#include "claims.h"
#include "ratio.h"
#include "session.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

Test(ratio, one_disturbed_turn_moves_nothing)
{
    double values[] = {0.84, 0.85, 9.0, 0.85, 0.86};
    Ratio r = ratio_of(values, 5);
    cr_expect_float_eq(r.median, 0.85, 1e-12);
    cr_expect_float_eq(r.low, 0.85, 1e-12);
    cr_expect(r.spread < 0.02 && ratio_is_steady(r));
}

Test(ratio, half_of_them_elsewhere_is_not_steady)
{
    double values[] = {0.5, 0.9, 0.5, 0.9, 0.5, 0.9};
    cr_expect_not(ratio_is_steady(ratio_of(values, 6)));
}

static const Gpu gpu = {.bytes_per_second = 4.8e12};
static const Target target = {.name = "of the copy rate", .measure = "large", .peer = "copy", .why = "w",
                              .slow = "far apart", .at_least = 0.8};

// A call that moves 480 MB, which the memory can in 100 us.
static json_t *measured(double ratio, double spread, double seconds)
{
    return json_pack("{sf sf s{sf sf sf} s{sf sf}}", "ratio", ratio, "spread", spread, "student",
                     "bytes", 480e6, "seconds", seconds, "quick", seconds, "peer", "bytes", 480e6,
                     "seconds", 110e-6);
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
    Timing t = judge(0.3, 0.2, 360e-6);
    cr_expect_eq(t.verdict, VERDICT_PASS);
    cr_expect(t.unsteady && t.words);
    cr_expect_eq(targets_speed(&t, 1), 10);
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
    cr_expect_str_eq(t.words, "220 us a call, where sgemm_cublas takes 110: far apart.");
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
    cr_expect_str_eq(t.words, "sgemm_cublas needs libcublas, which is not on this machine: not judged.");
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
    profile = (Profile){0};
    const char *problem = profile_read(path, &profile);
    unlink(path);
    return problem;
}

Test(target, is_refused_when_half_said)
{
    cr_expect_null(read_text("gpu = ({ name = \"n\"; measure = \"m\"; at_least = 0.5; why = \"w\"; slow = \"s\"; });"));
    cr_expect_not_null(read_text("gpu = ({ name = \"n\"; measure = \"m\"; why = \"w\"; slow = \"s\"; });"));
    cr_expect_not_null(read_text("gpu = ({ name = \"n\"; measure = \"m\"; at_least = 0.5; why = \"w\"; slow = \"s\"; peer = 1; });"));
}

Test(device, reports_when_it_is_a_simulator)
{
    cr_expect(session_device_reports("simulator/run"));
    cr_expect(session_device_reports("/a/simulator/run --profile"));
    cr_expect_not(session_device_reports(""));
    cr_expect_not(session_device_reports("ncu --log-file simulator/run"));
}
