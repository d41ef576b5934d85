#define _GNU_SOURCE
#include "step.h"
#include "run.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

// Where the ladder has more checks than one, and where its steps are mistakes, it is said which one
// is meant.
static bool is_named(const Ladder *l)
{
    bool several = ladder_mends(l);
    for (int s = 1; s <= l->steps; s++) several |= strcmp(ladder_check(l, s), l->check) != 0;
    return several;
}

// The time of the check that the step shortens; what was predicted for the step reached is beside
// the time of that step's check.
static void tell_time(const Result *r, int step, FILE *f)
{
    const Ladder *l = r->ladder;
    const Climb *c = &r->climb;
    double now = ladder_time(l, step, r->records), before = c->before[step],
           least = ladder_least_time(l, step, r->records, run_root(), r->device);
    const char *name = ladder_check(l, step);
    char *check = is_named(l) ? text_spaced(name) : NULL;
    fprintf(f, "Predicted%s%s: %.1f µs a call", check ? " for " : "", check ? check : "",
            now / 1e3);
    if (climb_was_predicted(c, r->step) && strcmp(ladder_check(l, r->step), name) == 0)
        fprintf(f, "; by you: %g µs", c->said);
    if (before > 0 && before != now) fprintf(f, "; in the run before: %.1f µs", before / 1e3);
    if (least > 0)
        fprintf(f, "; the least for %s: %.1f µs",
                ladder_is_whole(l, step, r->records) ? "its bytes on the bus"
                                                     : "a launch and its bytes",
                least / 1e3);
    fprintf(f, ".");
    free(check);
}

char *step_words(const Result *r)
{
    const Ladder *l = r->ladder;
    char *words = NULL;
    size_t size;
    FILE *f = open_memstream(&words, &size);
    if (r->step && !ladder_mends(l))
        fprintf(f, "Step %d: %s. ", r->step, l->step[r->step - 1].name);
    for (int step = 0; step <= l->steps; step++) {
        bool told = false;
        for (int s = 0; s < step; s++)
            told |= strcmp(ladder_check(l, s), ladder_check(l, step)) == 0;
        if (told) continue;
        if (step) fputc(' ', f);
        tell_time(r, step, f);
    }
    fclose(f);
    return words;
}

char *step_next(const Result *r, const Finding *first, const char *file)
{
    if (r->behind != VERDICT_SLOW) return strdup(verdict_next(r->behind));
    int number = atoi(r->lesson);
    bool told =
        !first || !r->ladder || ladder_mends(r->ladder) || climb_is_stuck(&r->climb, r->step);
    if (told && first && first->next) return strdup(first->next);
    char *change =
        file && !first->next ? text_format("change %s:%d", file, first->line)
        : told ? text_format("look at the lines that cost most: make profile-%d shows them", number)
               : NULL;
    if (told) return change;
    char *words = text_format("read step %d (make read-%d)%s%s", r->step + 1, number,
                              change ? ", then " : "", change ? change : "");
    free(change);
    return words;
}

char *step_mended(const Result *r)
{
    char *words = NULL;
    size_t bytes;
    const char *before = " (mended: ";
    FILE *f = open_memstream(&words, &bytes);
    fprintf(f, "%d of %d mistakes mended, %d/10", r->step, r->ladder->steps, r->speed);
    for (int s = 0; s < r->ladder->steps && r->missed; s++) {
        if (r->missed >> s & 1) continue;
        fprintf(f, "%s%s", before, r->ladder->step[s].name);
        before = ", ";
    }
    if (r->step && r->missed) fputc(')', f);
    fclose(f);
    return words;
}
