// The student's answer beside ours, after a PASS: what both were counted and predicted, and then
// the two files, line by line.
#define _GNU_SOURCE
#include "device.h"
#include "study.h"
#include "text.h"
#include "verdict.h"
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

// Columns for two files, where no terminal says how many there are.
enum { WIDE = 160 };

// The member of a list whose `key` is as that of `like`, or NULL.
static const json_t *same(const json_t *list, const char *key, const json_t *like)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i,
                       one) if (strcmp(text_of(one, key), text_of(like, key)) == 0) return one;
    return NULL;
}

static void print_row(const char *name, const char *yours, const char *ours, const char *unit)
{
    printf("  %s%*s %10s %10s%s%s\n", name, 28 - (int)text_columns(name), "", yours, ours,
           *unit ? "  " : "", unit);
}

static void print_numbers(const char *name, double yours, double ours, int digits, const char *unit)
{
    char *mine = text_format("%.*f", digits, yours), *theirs = text_format("%.*f", digits, ours);
    print_row(name, mine, theirs, unit);
    free(mine);
    free(theirs);
}

// What is claimed, and the predicted times of the checks that claims are about.
static void print_counts(const json_t *yours, const json_t *ours)
{
    const json_t *mine = json_object_get(yours, "claims"),
                 *theirs = json_object_get(ours, "claims"), *other;
    size_t i;
    json_t *one;
    print_row("", "yours", "ours", "");
    json_array_foreach(mine, i, one) if ((other = same(theirs, "name", one)))
        print_numbers(text_of(one, "name"), number_of(one, "value"), number_of(other, "value"), 2,
                      text_of(one, "unit"));
    json_array_foreach(json_object_get(yours, "checks"), i, one)
    {
        other = same(json_object_get(ours, "checks"), "check", one);
        if (!other || !same(mine, "check", one) || !(device_time(one) > 0)) continue;
        char *check = text_spaced(text_of(one, "check")),
             *name = text_format("predicted, %s", check);
        print_numbers(name, device_time(one) / 1e3, device_time(other) / 1e3, 1, "µs");
        free(check);
        free(name);
    }
}

static int columns(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDE;
}

// Ours without the marks of its regions, through a pager on a terminal.
static void print_files(const Lesson *lesson)
{
    char *diff = text_format("sed -E '\\,^ *//[<>|],d' solutions/%s.cu | "
                             "diff --side-by-side --expand-tabs --width=%d %s -%s",
                             lesson->name, columns(), lesson->exercise,
                             isatty(STDOUT_FILENO) ? " | ${PAGER:-less}" : "");
    fflush(stdout);
    if (system(diff) < 0) perror("diff");
    free(diff);
}

int compare(const Lesson *lesson)
{
    Outcome o = outcome_read(lesson);
    bool passes = o.verdict && verdict_from_word(o.verdict) == VERDICT_PASS && !o.edited;
    if (!passes) {
        say_state(ASKS, "COMPARE", "lesson %d: our answer is shown beside one that passes",
                  lesson->number);
        say(2, "Next: make lesson-%d", lesson->number);
        outcome_free(&o);
        return 1;
    }
    mkdir("build/profile", 0777);
    char *solution = text_format("solutions/%s.cu", lesson->name),
         *said = text_format("build/profile/%s.ours.txt", lesson->name);
    json_t *ours = outcome_grade(lesson, solution, said);
    if (!ours) {
        printf("%s cannot be graded; %s says why.\n", solution, said);
    } else {
        say_state(TELLS, "COMPARE", "lesson %d: your answer, and ours with all its versions",
                  lesson->number);
        print_counts(o.result, ours);
        say(2, "Below, your file stands on the left and ours on the right.");
        print_files(lesson);
    }
    int status = !ours;
    json_decref(ours);
    outcome_free(&o);
    free(solution);
    free(said);
    return status;
}
