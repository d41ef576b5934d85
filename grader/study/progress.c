// A line a lesson, from the results of the last gradings, and what is next.
#define _GNU_SOURCE
#include "study.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

// "6 of 6, speed 9/10", "6 of 6, step 1 of 2, 7/10", or "6 of 6, gold", as far as it got.
static char *score_words(const Outcome *o)
{
    if (!o->verdict) return strdup("not begun");
    if (!o->checks) return strdup("");
    if (o->gold) return text_format("%d of %d, gold", o->passed, o->checks);
    if (o->steps)
        return text_format("%d of %d, step %d of %d, %d/10", o->passed, o->checks, o->step,
                           o->steps, o->speed);
    return o->speed < 0 ? text_format("%d of %d", o->passed, o->checks)
                        : text_format("%d of %d, speed %d/10", o->passed, o->checks, o->speed);
}

static void print_lesson(const Lesson *lesson, const Outcome *o)
{
    char *score = score_words(o), *title = lesson_title(lesson);
    char *words =
        text_format("%3d  %-21s %s%s", lesson->number, score, o->edited ? "(edited) " : "", title);
    const char *state = o->verdict ? o->verdict : "-";
    bool coloured = text_colours(stdout);

    // Spaces are layout here, so the row is cut at the width instead of broken.
    int room = text_width() - 8;
    char *end = words;
    for (int columns = 0; *end && (columns < room || (*end & 0xC0) == 0x80); end++)
        columns += (*end & 0xC0) != 0x80;
    if (*end) strcpy(end - 3 > words ? end - 3 : words, "...");
    printf("%s%s%s%-7s%s %s\n", coloured ? "\033[" : "", coloured ? outcome_colour(o->verdict) : "",
           coloured ? "m" : "", state, coloured ? "\033[0m" : "", words);
    free(score);
    free(title);
    free(words);
}

int progress(void)
{
    const Lesson *list, *next = outcome_next();
    size_t count = lessons(&list);
    for (size_t i = 0; i < count; i++) {
        Outcome o = outcome_read(&list[i]);
        print_lesson(&list[i], &o);
        outcome_free(&o);
    }
    fputc('\n', stdout);
    if (next) say(0, "Next: make lesson-%d", next->number);
    else say(0, "All lessons pass. Each text ends with exercises beyond.");
    return 0;
}
