// A submission's result as Gradescope's autograder takes it: grader/class/gradescope.schema.json.
#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "text.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 64 << 10 }; // of the words of a lesson

// Like the gradebook's numbers.
static json_t *number(double x) { return json_real(round(x * 100) / 100); }

static void add_line(FILE *to, const char *line)
{
    char *clean = text_clean(line);
    fprintf(to, "%s\n", clean);
    free(clean);
}

// The words that the student is told, cleaned line by line.
static void add_words(FILE *to, const char *path)
{
    FILE *f = fopen(path, "re");
    char *line = NULL;
    size_t room = 0, bytes = 0;
    while (f && getline(&line, &room, f) >= 0 && (bytes += strlen(line)) < MOST_BYTES) {
        line[strcspn(line, "\n")] = 0;
        add_line(to, line);
    }
    if (bytes >= MOST_BYTES) fprintf(to, "... and more\n");
    free(line);
    if (f) fclose(f);
}

static json_t *output_of(const Mark *m)
{
    char *words = NULL;
    size_t bytes;
    FILE *to = open_memstream(&words, &bytes);
    const Submission *s = m->submission;
    if (!to) return NULL;
    if (!s)
        fprintf(to,
                "There is no %s.cu among the files that were handed in.\n"
                "  Next: hand in your exercises/%s.cu, under this name\n",
                m->lesson, m->lesson);
    else if (s->refused)
        fprintf(to, "The %s is refused, since %s\n", *s->lesson ? "file" : "submission",
                s->refused);
    else add_words(to, s->words);
    if (isnan(m->points))
        fputs("The grader failed. This is no mark: your instructor can have it graded again.\n",
              to);
    fclose(to);
    json_t *output = json_string(words);
    free(words);
    return output;
}

static json_t *test_of(const Mark *m)
{
    char *name = text_format("%s: %s", m->lesson, *m->verdict ? m->verdict : "not graded");
    json_t *extra = standing_mark(m);
    json_object_set_new(extra, "trusted", json_string(m->trusted));
    json_t *test =
        json_pack("{ss so so ss so ss ss so}", "name", name, "score",
                  number(isnan(m->points) ? 0 : m->weight * m->points), "max_score",
                  number(m->weight * m->full), "status",
                  strcmp(m->verdict, "PASS") == 0 ? "passed" : "failed", "output", output_of(m),
                  "output_format", "text", "visibility", "visible", "extra_data", extra);
    free(name);
    return test;
}

bool class_write_gradescope(const Class *c)
{
    json_t *tests = json_array();
    double score = 0;
    size_t failed = 0;
    for (size_t n = 0; n < c->marks; n++) {
        const Mark *m = &c->mark[n];
        json_array_append_new(tests, test_of(m));
        if (isnan(m->points)) failed++;
        else score += m->weight * m->points;
    }
    char *output = text_format("The grader failed in %zu of %zu lessons, which have no mark yet.",
                               failed, c->marks);
    json_t *all = json_pack("{so ss* ss ss ss so}", "score", number(score), "output",
                            failed ? output : NULL, "output_format", "text", "visibility",
                            "visible", "stdout_visibility", "hidden", "tests", tests);
    char *path = text_format("%s/results/results.json", c->folder);
    bool good = all && json_write(path, all) && chmod(path, 0644) == 0; // another user reads it
    if (!good) file_amiss(path);
    json_decref(all);
    free(output);
    free(path);
    return good;
}
