// What people say of marks: lines of the log.
#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The mark that is meant, which find() in command.c has seen, and its submission.
static const Mark *meant(const Class *c, const Words *w, Submission *s)
{
    for (size_t n = 0; n < c->marks; n++) {
        *s = standing_of(&c->mark[n]);
        if (command_means(w, s)) return &c->mark[n];
    }
    return NULL;
}

static int say_done(const Submission *s, const char *words)
{
    char *name = command_name(s);
    printf("%s: %s\n", name, words);
    free(name);
    return 0;
}

// Points have at most two decimals, as the gradebook's; a whole number stays one.
static json_t *read_points(const char *words)
{
    enum { MOST = 1000 };
    char *end;
    double points = strtod(words, &end);
    bool plain = strspn(words, "0123456789.") == strlen(words) && end != words && !*end;
    if (!plain || points > MOST || fabs(points * 100 - round(points * 100)) > 1e-6) {
        fprintf(stderr,
                "POINTS=%s: points are a number from 0 to %d with at most two decimals, or the "
                "word \"graded\"\n",
                words, MOST);
        return NULL;
    }
    return points == floor(points) ? json_integer((json_int_t)points) : json_real(points);
}

int override(Class *c, const Words *w)
{
    Submission of, *s = &of;
    const Mark *m = meant(c, w, s);
    bool back = strcmp(w->points, "graded") == 0;
    json_t *old = standing_mark(m), *points = back ? NULL : read_points(w->points);
    if (!back && !points) return 2;
    const char *why = !*m->verdict           ? "is not graded yet. Type: make grade"
                    : back && !m->overridden ? "has the points that it was graded with"
                    : !back && isnan(m->points) && strcmp(m->verdict, "EXCUSED") == 0
                        ? "is excused, and so has no points. Take the lesson "
                          "out of `excused` in class.cfg first"
                        : NULL;
    if (why) {
        fprintf(stderr, "%s %s\n", command_name(s), why);
        return 1;
    }
    // What stands once this is done: what was graded, or what it would be with these points.
    json_t *new = json_copy(old);
    json_object_set(new, "points", back ? json_object_get(old, "graded") : points);
    if (back) json_object_del(new, "overridden");
    else json_object_set_new(new, "overridden", json_true());
    if (!standing_may_stand(w, s, new)) return 1;
    json_t *line = command_line(w, "override", s);
    json_object_set(line, "old", old);
    json_object_set_new(line, "new", back ? json_null() : json_incref(new));
    if (!log_add(line)) return 1;
    char *was = standing_words(old), *is = standing_words(new),
         *words = text_format("%s -> %s", was, is);
    return command_write_book(c, say_done(s, words));
}

int comment(Class *c, const Words *w)
{
    Submission of, *s = &of;
    meant(c, w, s);
    return log_add(command_line(w, "comment", s)) ? say_done(s, "the comment is in the log") : 1;
}

int appeal(Class *c, const Words *w)
{
    Submission of, *s = &of;
    meant(c, w, s);
    return log_add(command_line(w, "appeal", s)) ? say_done(s, "the appeal is in the log") : 1;
}

// ---- The log, for people

static void show_line(const json_t *line)
{
    const json_t *old = json_object_get(line, "old"), *new = json_object_get(line, "new");
    char *was = old ? standing_words(old) : NULL,
         *is = json_is_object(new) ? standing_words(new) : NULL;
    char *all = text_format("%s %s by %s: %s %s%s%s%s%s. %s%s", text_of(line, "time"),
                            text_of(line, "what"), text_of(line, "who"), text_of(line, "student"),
                            text_of(line, "lesson"), was || is ? ", " : "", was ? was : "",
                            was ? " -> " : "",
                            is    ? is
                            : was ? "as graded"
                                  : "",
                            text_of(line, "why"), text_of(line, "words"));
    char *clean = text_clean(all);
    printf("Line %lld, %s\n", (long long)json_integer_value(json_object_get(line, "n")), clean);
    free(clean);
    free(all);
    free(was);
    free(is);
}

// A student is a pseudonym, or the name that makes it.
static bool is_about(const json_t *line, const Words *w)
{
    char pseudonym[PSEUDONYM_DIGITS + 1];
    const char *student = text_of(line, "student");
    secret_keyed("student", w->student, pseudonym, PSEUDONYM_DIGITS);
    return (!*w->student || strcmp(student, w->student) == 0 || strcmp(student, pseudonym) == 0)
        && (!*w->lesson || strcmp(text_of(line, "lesson"), w->lesson) == 0);
}

int show_log(Class *c, const Words *w)
{
    size_t n, shown = 0;
    const json_t *line;
    if (!secret_open(c->grades)) {
        file_amiss(c->grades);
        return 1;
    }
    if (!log_open(c->grades)) return 1;
    json_array_foreach(log_lines(), n, line)
    {
        if (!is_about(line, w)) continue;
        show_line(line);
        shown++;
    }
    printf("%s/log.jsonl: %zu of %zu lines shown; they are as they were written", c->grades, shown,
           json_array_size(log_lines()));
    if (log_cuts()) printf(", but for %zu that were cut short", log_cuts());
    putchar('\n');
    return 0;
}
