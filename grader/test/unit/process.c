// How long processes waited for a core: those that compete for one did, one that sleeps did not.
#define _GNU_SOURCE
#include "process.h"
#include <criterion/criterion.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void stay_on_one_core(void)
{
    cpu_set_t all, one;
    cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE && !CPU_COUNT(&one); c++)
        if (CPU_ISSET(c, &all)) CPU_SET(c, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

Test(process, delay_is_of_those_who_compete_for_a_core, .timeout = 60)
{
    process_adopt();
    if (fork() == 0) {
        stay_on_one_core();
        fork(); // a child of ours, and one of its own
        for (;;)
            ;
    }
    while (process_delay() < 0.2) usleep(10000);
    process_sweep();
    cr_assert_eq(process_delay(), 0, "nobody is left");
}

static bool is_asleep(pid_t pid)
{
    char path[64], line[256] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    cr_assert(f && fgets(line, sizeof line, f));
    fclose(f);
    return strstr(line, ") S ") != NULL;
}

Test(process, delay_is_not_of_those_who_sleep)
{
    process_adopt();
    pid_t pid = fork();
    if (pid == 0)
        for (;;) pause();
    while (!is_asleep(pid)) usleep(1000);
    double before = process_delay();
    usleep(100000);
    cr_assert_eq(process_delay(), before);
    process_sweep();
}

// One that works for a second, beside another on its core, takes two.
Test(process, a_clock_runs_on_while_others_have_the_core, .timeout = 60)
{
    process_adopt();
    stay_on_one_core();
    pid_t other = fork();
    if (other == 0)
        for (;;)
            ;
    pid_t pid = fork();
    if (pid == 0) {
        while (clock() < CLOCKS_PER_SEC)
            ;
        _exit(7);
    }
    int status = 0;
    bool ended = process_wait(pid, 1.5, &status);
    process_sweep();
    cr_assert(ended);
    cr_assert_eq(WEXITSTATUS(status), 7);
}

Test(process, a_clock_ends_for_who_sleeps)
{
    process_adopt();
    pid_t pid = fork();
    if (pid == 0)
        for (;;) pause();
    int status;
    bool ended = process_wait(pid, 0.2, &status);
    process_sweep();
    cr_assert(!ended);
}

// What is left of a limit of a second, so many seconds after the start and after it last looked, if
// that much was waited for by then, and since (-INFINITY: those have ended who had waited).
static double left_after(double seconds, double looked, double waited, double since)
{
    double now = seconds_now();
    ProcessClock c = { now - seconds, 1, now - looked, .delay = -since, waited };
    return process_left(&c);
}

Test(process, a_clock_runs_on_for_what_was_waited_up_to_ten_times_its_limit)
{
    cr_expect_gt(left_after(0, 0, 0, 0), 0);
    cr_expect_eq(left_after(1, 1, 0, -INFINITY), 0);
    cr_expect_gt(left_after(2, 1, 3, -INFINITY), 1);
    cr_expect_eq(left_after(4, 1, 3, -INFINITY), 0);
    cr_expect_gt(left_after(2, 1, 0, 3), 1);
    cr_expect_gt(left_after(0, 1, 0, 3), 2,
                 "it looks before its end, as some may have ended by then");
    cr_expect_gt(left_after(2, 0, 0, 3), 1, "it looks once more before it ends");
    cr_expect_gt(left_after(5, 1, 100, 0), 4);
    cr_expect_eq(left_after(10, 1, 100, 0), 0);
}

Test(process, stolen_is_what_the_kernel_counts)
{
    double ticks = -1, stolen = process_stolen();
    FILE *f = popen("awk '$1 == \"cpu\" { steal = $9 } /^cpu[0-9]/ { cores++ } END { print steal / "
                    "cores }' /proc/stat",
                    "r");
    cr_assert_eq(fscanf(f, "%lf", &ticks), 1);
    pclose(f);
    cr_assert_float_eq(stolen, ticks / (double)sysconf(_SC_CLK_TCK), 1);
}
