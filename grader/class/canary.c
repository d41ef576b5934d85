#define _GNU_SOURCE
#include "canary.h"
#include "command.h"
#include "file.h"
#include "text.h"
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORD = 32 };

typedef struct Canary {
    char *file;              // "grader/wrong/05-transpose/wrong-pitch.edit"
    char verdict[MOST_WORD]; // "SLOW"
    int step;                // that it reaches; -1: none is stated
    Submission submission;
} Canary;

typedef struct Flock {
    Canary *canary;
    size_t count;
} Flock;

// ---- What is stated

// Reads "// expect: STEP 1". One that is stopped by the clock would keep a core for long, and one
// with a seed of its own gets its verdict with that seed alone: neither is a canary.
static bool read_stated(const char *file, Canary *y)
{
    char line[512], word[MOST_WORD];
    FILE *f = fopen(file, "re");
    bool good =
        f && fgets(line, sizeof line, f) && sscanf(line, "// expect: %31s %d", word, &y->step) >= 1;
    if (good && strcmp(word, "STEP") != 0) y->step = -1;
    if (good) snprintf(y->verdict, sizeof y->verdict, "%s", y->step >= 0 ? "SLOW" : word);
    while (good && fgets(line, sizeof line, f) && strncmp(line, "//", 2) == 0)
        good = strncmp(line, "// seed:", 8) != 0;
    if (f) fclose(f);
    return good && strcmp(y->verdict, "TIMEOUT") != 0;
}

static bool has(const Canary *all, size_t count, const char *file, const char *verdict)
{
    for (size_t n = 0; n < count; n++)
        if (strcmp(all[n].file, file) == 0 || (verdict && strcmp(all[n].verdict, verdict) == 0))
            return true;
    return false;
}

// The lesson's wrong submissions, by name: first of verdicts that differ, then any.
static size_t choose(const char *lesson, Canary chosen[CANARIES_WRONG])
{
    char *pattern = text_format("grader/wrong/%s/*", lesson);
    glob_t found = { 0 };
    size_t count = 0;
    glob(pattern, 0, NULL, &found);
    for (int round = 0; round < 2; round++)
        for (size_t n = 0; n < found.gl_pathc && count < CANARIES_WRONG; n++) {
            Canary y = { .step = -1 };
            if (!read_stated(found.gl_pathv[n], &y)
                || has(chosen, count, found.gl_pathv[n], round ? NULL : y.verdict))
                continue;
            y.file = strdup(found.gl_pathv[n]);
            chosen[count++] = y;
        }
    globfree(&found);
    free(pattern);
    return count;
}

// ---- As submissions

// The whole submission: grader/wrong.sh makes it of an edit, and grader/variant.sh our answer to a
// variant.
static char *read_whole(const char *file, const Submission *s, size_t *count)
{
    bool edit = strncmp(file, "grader/", 7) == 0, answer = edit && s->variant;
    char *command = answer ? text_format("sh grader/variant.sh answer %s %s", s->lesson, s->variant)
                           : text_format("%s '%s'", edit ? "sh grader/wrong.sh" : "cat", file);
    char *text = command_printed(command, count);
    free(command);
    if (!text) fprintf(stderr, "%s: it cannot be read as a submission\n", file);
    return text;
}

static bool hatch(const Class *of, const char *lesson, Canary y, Flock *all)
{
    char *slash = strrchr(y.file, '/') + 1;
    Submission *s = &y.submission;
    char *folder = text_format("%s/canaries/%s/%.*s%s", of->grades, lesson,
                               (int)strcspn(slash, "."), slash, s->variant ? "-variant" : "");
    size_t count;
    *s = (Submission){ .student = y.file, .lesson = (char *)lesson, .variant = s->variant };
    s->result = text_format("%s/%s.json", folder, lesson);
    s->words = text_format("%s/%s.txt", folder, lesson);
    unlink(s->result);
    char *text = read_whole(y.file, s, &count);
    bool good = text;
    if (good && !class_seal(s, folder, text, count)) good = file_amiss(s->sealed);
    free(folder);
    free(text);
    all->canary = reallocarray(all->canary, all->count + 1, sizeof *all->canary);
    all->canary[all->count++] = y;
    return good;
}

// Of a lesson that the class has a variant of: our answer is right, and the published one is not.
static bool hatch_variant(const Class *of, const char *lesson, Flock *all)
{
    const Submission s = { .variant = class_variant(&of->rules, lesson) };
    Canary answer = { .file = text_format("grader/variants/%s/answer.edit", lesson),
                      .verdict = "PASS",
                      .step = -1,
                      .submission = s },
           published = { .file = text_format("solutions/%s.cu", lesson),
                         .verdict = "WRONG",
                         .step = -1,
                         .submission = s };
    return !s.variant || (hatch(of, lesson, answer, all) && hatch(of, lesson, published, all));
}

static bool hatch_lesson(const Class *of, const char *lesson, Flock *all)
{
    Canary solution = { .file = text_format("solutions/%s.cu", lesson),
                        .verdict = "PASS",
                        .step = -1 },
           wrong[CANARIES_WRONG];
    size_t count = choose(lesson, wrong);
    bool good = hatch(of, lesson, solution, all) && hatch_variant(of, lesson, all);
    for (size_t n = 0; n < count; n++) good = hatch(of, lesson, wrong[n], all) && good;
    if (count == CANARIES_WRONG) return good;
    fprintf(stderr, "grader/wrong/%s: %zu of its files can be canaries, and %d are needed\n",
            lesson, count, CANARIES_WRONG);
    return false;
}

// A submission that was refused as a whole has no lesson.
static bool is_new_lesson(const Class *of, size_t n)
{
    if (!*of->submission[n].lesson) return false;
    for (size_t m = 0; m < n; m++)
        if (strcmp(of->submission[m].lesson, of->submission[n].lesson) == 0) return false;
    return true;
}

// ---- Their verdicts

static bool is_well(const Canary *y)
{
    json_t *mark = standing_read(&y->submission, y->submission.result);
    const json_t *step = json_object_get(mark, "step");
    const char *verdict = json_string_value(json_object_get(mark, "verdict"));
    bool well = verdict && strcmp(verdict, y->verdict) == 0
             && (y->step < 0 || (json_is_integer(step) && json_integer_value(step) == y->step));
    if (!well) {
        char *stated = y->step < 0 ? strdup(y->verdict) : text_format("STEP %d", y->step);
        char *is = json_is_integer(step) ? text_format("%s, step %d", verdict ? verdict : "nothing",
                                                       (int)json_integer_value(step))
                                         : strdup(verdict ? verdict : "nothing");
        printf("Canary failed: %s should be %s, and is %s. See %s\n", y->file, stated, is,
               y->submission.words);
        free(stated);
        free(is);
    }
    json_decref(mark);
    return well;
}

bool canaries_are_well(const Class *of)
{
    char root[PATH_MAX];
    Flock all = { 0 };
    bool good = getcwd(root, sizeof root) && trust_find();
    for (size_t n = 0; good && n < of->count; n++)
        if (is_new_lesson(of, n)) good = hatch_lesson(of, of->submission[n].lesson, &all);
    Class canaries = *of;
    canaries.submission = calloc(all.count + 1, sizeof *canaries.submission);
    canaries.count = all.count;
    canaries.graded = "canaries";
    for (size_t n = 0; n < all.count; n++) canaries.submission[n] = all.canary[n].submission;
    good = good && class_run(&canaries, root, (int)sysconf(_SC_NPROCESSORS_ONLN));
    size_t ill = 0;
    for (size_t n = 0; good && n < all.count; n++) ill += !is_well(&all.canary[n]);
    if (good) printf("Canaries: %zu graded, %zu failed\n", all.count, ill);
    free(canaries.submission);
    free(all.canary);
    return good && !ill;
}
