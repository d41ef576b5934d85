// What earlier runs leave: the step, how long it has stayed, and the prediction.
#include "climb.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const Ladder ladder = { .check = "large",
                               .step = { { "one", 1 }, { "two", 2 } },
                               .steps = 2 };

// The climb of a run that follows one with that result.
static Climb after(json_t *result, const char *submission)
{
    char path[] = "/tmp/warpwise-climb-XXXXXX";
    close(mkstemp(path));
    cr_assert_eq(json_dump_file(result, path, 0), 0);
    Climb c = climb_read(path, submission, &ladder);
    unlink(path);
    return c;
}

// A run's result, and what that run leaves.
static json_t *result(const Climb *c, int step)
{
    json_t *r =
        json_pack("{ss s[] s[{ss si sf}] so}", "submission", "a.cu", "claims", "checks", "check",
                  "large", "calls", 2, "time_ns", 8000.0, "climb", climb_json(c, step));
    if (step >= 0) json_array_append_new(json_object_get(r, "claims"), json_object());
    return r;
}

Test(climb, counts_the_runs_that_stay_at_a_step)
{
    Climb c = CLIMB_NONE;
    cr_expect_not(climb_is_stuck(&c, 0));
    c = after(result(&c, 1), "a.cu");
    cr_expect(c.reached == 1 && c.runs == 1);
    cr_expect_float_eq(c.before[1], 4000, 1e-9);
    cr_expect_not(climb_is_stuck(&c, 1));
    c = after(result(&c, -1), "a.cu");
    cr_expect(c.reached == 1 && c.runs == 1 && c.before[1] == 0,
              "a wrong answer is no run of the step");
    c = after(result(&c, 1), "a.cu");
    cr_expect(climb_is_stuck(&c, 1));
    cr_expect_not(climb_is_stuck(&c, 2));
    c = after(result(&c, 2), "a.cu");
    cr_expect(c.reached == 2 && c.runs == 1);
}

Test(climb, begins_anew_with_another_submission_or_no_result)
{
    Climb c = CLIMB_NONE;
    c = after(result(&c, 1), "b.cu");
    cr_expect(c.reached == -1 && c.runs == 0 && c.before[1] == 0);
    c = climb_read("/nowhere.json", "a.cu", &ladder);
    cr_expect(c.reached == -1 && c.asked == -1);
    c = CLIMB_NONE;
    cr_expect_eq(json_object_size(climb_json(&c, -1)), 0);
}

// What is asked, when that is typed.
static char *asks_of(const Ladder *l, Climb *c, const char *typed)
{
    char *said;
    size_t size;
    FILE *in = fmemopen((char *)typed, strlen(typed), "r"), *out = open_memstream(&said, &size);
    climb_ask(c, l, in, out);
    fclose(in);
    fclose(out);
    return said;
}

static char *asks(Climb *c, const char *typed) { return asks_of(&ladder, c, typed); }

Test(climb, asks_for_the_time_of_the_check_that_the_step_shortens)
{
    static const Ladder other = { .check = "large",
                                  .step = { { "one", 1, .shortens = "two_steps" } },
                                  .steps = 1 };
    Climb c = { .reached = 0, .asked = -1, .before = { 4000, 9000 } };
    cr_expect_str_eq(asks_of(&other, &c, "20\n"),
                     "How many µs will a call of two steps take once step 1 is reached? It\n"
                     "takes 9.0 µs now. (Enter skips)\n  > ");
}

Test(climb, asks_once_before_each_step)
{
    Climb c = CLIMB_NONE;
    cr_expect_str_eq(asks(&c, "20\n"),
                     "How many µs will a call take once the answer is right? (Enter skips)\n  > ");
    cr_expect_float_eq(c.said, 20, 1e-9);
    cr_expect(climb_was_predicted(&c, 0));
    c = after(result(&c, -1), "a.cu");
    cr_expect_str_eq(asks(&c, "30\n"), "", "that step is not reached yet");
    cr_expect(climb_was_predicted(&c, 0));
    c = after(result(&c, 0), "a.cu");
    cr_expect_not(climb_was_predicted(&c, 0), "it was told");
    cr_expect_str_eq(asks(&c, "\n"), "How many µs will a call take once step 1 is reached? It "
                                     "takes 4.0 µs\nnow. (Enter skips)\n  > ");
    cr_expect_not(climb_was_predicted(&c, 1));
    cr_expect_str_eq(asks(&c, "5\n"), "");
    c = after(result(&c, 1), "a.cu");
    asks(&c, "as fast as light\n");
    cr_expect_not(climb_was_predicted(&c, 2));
    c = after(result(&c, 2), "a.cu");
    cr_expect_str_eq(asks(&c, "1\n"), "", "there is no step beyond the last");
    c = after(result(&c, 0), "a.cu");
    cr_expect_str_eq(asks(&c, "1\n"), "", "steps below were asked about");
}
