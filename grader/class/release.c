// Releasing: what students are told, as lines of the log. Each is the mark that stands at that
// moment; one that was released already as it is gets no second line, so a release that was ended
// goes on.
#define _GNU_SOURCE
#include "canary.h"
#include "command.h"
#include "text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Counts {
    size_t fresh, before, left, older;
} Counts;

static void say_left(const Submission *s, const char *why)
{
    char *name = command_name(s);
    printf("Not released: %s, %s\n", name, why);
    free(name);
}

// Why a mark cannot be released; NULL: it can.
static const char *why_not(const Mark *m)
{
    if (!*m->verdict) return "not graded yet. Type: make grade";
    if (strcmp(m->verdict, "UNTRUSTED") == 0) return "whose result is not trusted";
    bool known = !isnan(m->points) || strcmp(m->verdict, "EXCUSED") == 0;
    return known ? NULL : "whose grading failed. Type: make grade";
}

// False: the log cannot be written.
static bool release_one(const Words *w, const Mark *m, Counts *counts)
{
    const Submission of = standing_of(m), *s = &of;
    json_t *mark = standing_mark(m);
    const json_t *released = json_object_get(standing_released(s), "new");
    const char *version = json_string_value(json_object_get(mark, "version"));
    bool good = true;
    const char *left = why_not(m);
    if (left) {
        say_left(s, left);
        counts->left++;
    } else if (json_equal(mark, released)) {
        counts->before++;
    } else if (!standing_may_stand(w, s, mark)) {
        counts->left++;
    } else {
        counts->older += version && strcmp(version, class_version()) != 0;
        counts->fresh++;
        json_t *line = command_line(w, "release", s);
        json_object_set(line, "new", mark);
        good = log_add(line);
    }
    json_decref(mark);
    return good;
}

int release(Class *c, const Words *w)
{
    Counts counts = { 0 };
    Class some = *c; // the submissions whose marks are meant
    some.submission = calloc(c->count + 1, sizeof *some.submission);
    some.count = 0;
    for (size_t n = 0; n < c->count; n++)
        if (command_means(w, &c->submission[n])) some.submission[some.count++] = c->submission[n];
    if (!canaries_are_well(&some)) {
        fflush(stdout);
        fputs("Nothing was released. Compare the grader's version and the toolkit on this machine "
              "with those in the gradebook.\n",
              stderr);
        return 1;
    }
    for (size_t n = 0; n < c->marks; n++) {
        const Submission s = standing_of(&c->mark[n]);
        if (command_means(w, &s) && !release_one(w, &c->mark[n], &counts)) return 1;
    }
    printf("Released: %zu marks, and %zu were released before as they are; %zu not released\n",
           counts.fresh, counts.before, counts.left);
    if (counts.older)
        printf("%zu of them are of another version than %s, which graded the canaries\n",
               counts.older, class_version());
    free(some.submission);
    return counts.left > 0;
}
