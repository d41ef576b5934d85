// What the graders' results say of the student's files.
#define _GNU_SOURCE
#include "process.h"
#include "study.h"
#include "text.h"
#include "verdict.h"
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool newer(const char *file, const char *than)
{
    struct stat a, b;
    if (stat(file, &a) != 0 || stat(than, &b) != 0) return false;
    return a.st_mtim.tv_sec != b.st_mtim.tv_sec ? a.st_mtim.tv_sec > b.st_mtim.tv_sec
                                                : a.st_mtim.tv_nsec > b.st_mtim.tv_nsec;
}

Outcome outcome_read(const Lesson *lesson)
{
    char *path = text_format("build/results/%s.json", lesson->name);
    Outcome o = { .result = json_load_file(path, 0, NULL), .speed = -1 };
    const json_t *score = json_object_get(o.result, "score");
    const json_t *speed = json_object_get(score, "speed");
    const char *submission = json_string_value(json_object_get(o.result, "submission"));

    // A result of another file, graded by hand, says nothing of the student's.
    size_t n = submission ? strlen(submission) : 0, m = strlen(lesson->exercise);
    if (n < m || strcmp(submission + n - m, lesson->exercise) != 0) {
        json_decref(o.result);
        o.result = NULL;
    } else {
        o.verdict = json_string_value(json_object_get(o.result, "verdict"));
        o.passed = (int)json_integer_value(json_object_get(score, "passed"));
        o.checks = (int)json_integer_value(json_object_get(score, "checks"));
        o.speed = json_is_integer(speed) ? (int)json_integer_value(speed) : -1;
        o.step = (int)json_integer_value(json_object_get(score, "step"));
        o.steps = (int)json_integer_value(json_object_get(score, "steps"));
        o.gold = json_is_true(json_object_get(score, "gold"));
        o.edited = newer(lesson->exercise, path);
    }
    free(path);
    return o;
}

json_t *outcome_grade(const Lesson *lesson, const char *file, const char *said)
{
    char *program = text_format("build/grader/%s", lesson->name);
    char *result = text_format("build/profile/%s.json", lesson->name);
    const char *argv[] = { program, "--result", result, file, NULL };
    int fd = open(said, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666), status;
    Spawn spawn = { .argv = argv, .from = { fd, fd }, .to = { 1, 2 }, .descriptors = 2 };
    unlink(result);
    pid_t pid = fd < 0 ? -1 : process_start(&spawn);
    if (pid > 0) process_wait(pid, INFINITY, &status);
    if (fd >= 0) close(fd);
    json_t *json = json_load_file(result, 0, NULL);
    free(program);
    free(result);
    return json;
}

static bool says(const json_t *result, const char *key, const char *variable, const char *usual)
{
    const char *said = getenv(variable), *is = json_string_value(json_object_get(result, key));
    return is && strcmp(is, said && *said ? said : usual) == 0;
}

bool outcome_is_current(const Outcome *o, const Lesson *lesson)
{
    static const char *const parts[] = {
        "grader/lessons/%s.h",   "profiles/lessons/%s.cfg", "build/grader/%s",
        "build/grader/worker.o", "build/simulator/device",  "build/simulator/lib/libcudart.so.13"
    };
    const char *arch = getenv("ARCH");
    if (!o->result || o->edited || (arch && *arch) || !says(o->result, "device", "PROFILE", "h200")
        || !says(o->result, "seed", "SEED", "warpwise"))
        return false;
    char *path = text_format("build/results/%s.json", lesson->name);
    bool changed = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !changed; i++) {
        const char *hole = strstr(parts[i], "%s");
        char *part =
            hole ? text_format("%.*s%s%s", (int)(hole - parts[i]), parts[i], lesson->name, hole + 2)
                 : strdup(parts[i]);
        changed = newer(part, path);
        free(part);
    }
    free(path);
    return !changed;
}

void outcome_free(Outcome *o)
{
    json_decref(o->result);
    *o = (Outcome){ 0 };
}

const Lesson *outcome_next(void)
{
    const Lesson *list;
    size_t count = lessons(&list);
    for (size_t i = 0; i < count; i++) {
        Outcome o = outcome_read(&list[i]);
        bool passes = o.verdict && verdict_from_word(o.verdict) == VERDICT_PASS;
        outcome_free(&o);
        if (!passes) return &list[i];
    }
    return NULL;
}

const char *outcome_colour(const char *verdict)
{
    return verdict ? verdict_colour(verdict_from_word(verdict)) : "";
}
