// Claims: the arithmetic of ratios and bounds, the words about a line, and profiles that are
// refused.
#include "claims.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ST "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
#define REQUESTS "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"
#define CONFLICTS "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"
#define PASSES "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"

static const Claim stored = {
    .name = "sectors stored", .check = "large", .per = "compulsory_write", .counter = {ST},
    .counters = 1, .at_least = 1, .at_most = 1.1, .why = "w", .suspect = "too few",
    .slow = "far apart"};

// 32,000 bytes in 250 full requests of a warp; so many sectors, all on one line.
static json_t *record(int sectors)
{
    return json_pack("{si si si si si s{si si si} s[{ss si s{si si}}]}", "kernels", 1, "calls", 1,
                     "compulsory_read", 64000, "compulsory_write", 32000, "compulsory_htod", 4000,
                     "counters", ST, sectors, REQUESTS, 250, "launch__count", 1, "lines", "file",
                     "/x/a.cu", "line", 14, "counters", ST, sectors, REQUESTS, 250);
}

Test(claims, hold_at_their_bounds)
{
    cr_expect_eq(claim_judge(&stored, record(1000)).verdict, VERDICT_PASS);
    cr_expect_eq(claim_judge(&stored, record(1100)).verdict, VERDICT_PASS);
    cr_expect_eq(claim_judge(&stored, record(1101)).verdict, VERDICT_SLOW);
    cr_expect_eq(claim_judge(&stored, record(999)).verdict, VERDICT_SUSPECT);
    cr_expect_float_eq(claim_judge(&stored, record(8000)).value, 8, 1e-12);
}

Test(claims, name_the_line_and_what_would_do)
{
    Finding f = claim_judge(&stored, record(8000));
    cr_assert_str_eq(f.words, "32 sectors a store in a.cu:14, 4 would do: far apart.");
    cr_assert_eq(f.line, 14);
}

Test(claims, derive_no_ideal_where_requests_repeat)
{
    json_t *r = record(8000);
    json_object_set_new(json_object_get(r, "counters"), REQUESTS, json_integer(2500));
    cr_assert_str_eq(claim_judge(&stored, r).words, "32 sectors a store in a.cu:14: far apart.");
}

Test(claims, say_one_sector)
{
    json_t *r = record(2000), *line = json_array_get(json_object_get(r, "lines"), 0);
    json_object_set_new(json_object_get(r, "counters"), REQUESTS, json_integer(2000));
    json_object_set_new(json_object_get(line, "counters"), REQUESTS, json_integer(2000));
    cr_assert_str_eq(claim_judge(&stored, r).words, "1 sector a store in a.cu:14: far apart.");
}

Test(claims, tell_conflicts_in_passes)
{
    Claim c = stored;
    c.counter[0] = CONFLICTS;
    c.per = REQUESTS;
    c.at_least = -INFINITY;
    json_t *r = json_pack("{si s{si si si} s[{ss si s{si si}}]}", "kernels", 1,
                          "counters", CONFLICTS, 31 * 250, PASSES, 32 * 250, REQUESTS, 250,
                          "lines", "file", "a.cu", "line", 20,
                          "counters", CONFLICTS, 31 * 250, PASSES, 32 * 250);
    Finding f = claim_judge(&c, r);
    cr_assert_float_eq(f.value, 31, 1e-12);
    cr_assert_str_eq(f.words, "Each shared-memory load in a.cu:20 takes 32 passes, 1 would do: "
                              "far apart.");
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
    c.per = "call";
    cr_expect_float_eq(claim_judge(&c, record(7)).value, 7, 1e-12);
    c.per = "launch__count";
    cr_expect_float_eq(claim_judge(&c, record(7)).value, 7, 1e-12);
    c.counter[1] = REQUESTS;
    c.counters = 2;
    cr_expect_float_eq(claim_judge(&c, record(7)).value, 257, 1e-12);
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
    cr_expect_eq(claims_speed((Finding[]){right, slow, barely}, 3), 5);
}

// ---- Profiles ----

static const char *read_text(const char *text, Profile *p)
{
    char path[] = "/tmp/warpwise-claims-XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    *p = (Profile){.instructions = 1, .seconds = 2};
    const char *problem = profile_read(path, p);
    unlink(path);
    return problem;
}

#define CLAIM(more) "claims = ({ name = \"n\"; check = \"c\"; counter = [\"a\", \"b\"]; " \
                    "per = \"call\"; why = \"w\"; " more " });"

Test(profile, is_read)
{
    Profile p;
    cr_assert_null(read_text("instructions = 5000000000L; seconds = 2.5;"
                             CLAIM("at_most = 3; slow = \"s\";"), &p));
    cr_assert_eq(p.instructions, 5000000000);
    cr_assert_float_eq(p.seconds, 2.5, 0);
    cr_assert_null(read_text("devices = 4;", &p));
    cr_assert_eq(p.devices, 4);
    cr_assert_null(read_text("instructions = 5000000000L; seconds = 2.5;"
                             CLAIM("at_most = 3; slow = \"s\";"), &p));
    cr_assert_eq(p.claims, 1);
    cr_assert_eq(p.claim[0].counters, 2);
    cr_assert_str_eq(p.claim[0].counter[1], "b");
    cr_assert(isinf(p.claim[0].at_least) && p.claim[0].at_most == 3);
    cr_assert_null(p.claim[0].next);
    cr_assert_null(read_text(CLAIM("at_most = 3; slow = \"s\"; next = \"do it\";"), &p));
    cr_assert_str_eq(p.claim[0].next, "do it");
}

static void refused(const char *text, const char *words)
{
    Profile p;
    const char *problem = read_text(text, &p);
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
    refused(CLAIM(""), "needs at_least or at_most");
    refused(CLAIM("at_most = 3;"), "needs words");
    refused(CLAIM("at_most = \"3\"; slow = \"s\";"), "no range");
    refused(CLAIM("at_least = 4; at_most = 3; slow = \"s\"; suspect = \"t\";"), "no range");
    refused(CLAIM("atmost = 3; slow = \"s\";"), "a claim has no 'atmost'");
    refused("claims = ({ name = \"n\"; });", "a claim needs");
}
