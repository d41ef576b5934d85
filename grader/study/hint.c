// The next of a lesson's three hints, one at a time, and only when asked.
#define _GNU_SOURCE
#include "study.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { HINTS = 3 };

static char *state_path(const Lesson *lesson)
{
    mkdir("build", 0777);
    mkdir("build/hints", 0777);
    return text_format("build/hints/%s", lesson->name);
}

// The hints that were shown so far.
static int read_state(const Lesson *lesson)
{
    char *path = state_path(lesson);
    FILE *f = fopen(path, "re");
    int shown = 0;
    if (f) {
        if (fscanf(f, "%d", &shown) != 1 || shown < 0 || shown > HINTS) shown = 0;
        fclose(f);
    }
    free(path);
    return shown;
}

static void write_state(const Lesson *lesson, int shown)
{
    char *path = state_path(lesson);
    FILE *f = fopen(path, "we");
    if (f) {
        fprintf(f, "%d\n", shown);
        fclose(f);
    }
    free(path);
}

// HINT=2 asks for that one; else it is the next.
static int wanted(const Lesson *lesson)
{
    const char *said = getenv("HINT");
    return said && *said ? atoi(said) : read_state(lesson) + 1;
}

static void print_footer(const Lesson *lesson, int shown)
{
    int number = lesson->number;
    fputc('\n', stdout);
    if (shown < HINTS) say(2, "Another: make hint-%d. Again: make lesson-%d", number, number);
    else say(2, "That was the last one. From the first: make hint-%d HINT=1", number);
}

static int refuse(const Lesson *lesson)
{
    say_state(TELLS, "HINT", "lesson %d: you have seen all %d", lesson->number, HINTS);
    say(2, "From the first: make hint-%d HINT=1", lesson->number);
    say(2, "The solution, explained step by step: make read-%d ALL=1", lesson->number);
    return 0;
}

int hint(const Lesson *lesson)
{
    int number = wanted(lesson);
    if (number < 1 || number > HINTS) return refuse(lesson);

    char *title = NULL, *heading = text_format("### Hint %d", number);
    char *section = lesson_section(lesson, heading, &title);
    free(heading);
    if (!section) {
        printf("lessons/%s.md has no hint %d. Type: make check\n", lesson->name, number);
        return 1;
    }
    char *plain = page_plain(title);
    say_state(TELLS, "HINT", "lesson %d: %d of %d%s%s", lesson->number, number, HINTS,
              *plain ? ", " : "", plain);
    fputc('\n', stdout);
    page_print(stdout, 2, "", section);
    print_footer(lesson, number);
    write_state(lesson, number);
    free(plain);
    free(title);
    free(section);
    return 0;
}
