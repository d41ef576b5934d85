#define _GNU_SOURCE
#include "integrity.h"
#include "text.h"
#include <glob.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_student(const void *a, const void *b)
{
    const Graded *g = a, *h = b;
    int order = strcmp(g->pseudonym, h->pseudonym);
    if (!order) order = strcmp(g->lesson, h->lesson);
    return order ? order : (g->when > h->when) - (g->when < h->when);
}

// A result that another has replaced, or may replace, has a word before its ".json" (class.h).
static bool stands(const char *path)
{
    const char *name = strrchr(path, '/');
    return strchr(name, '.') == strrchr(name, '.');
}

// What a result is of. False: the grader failed, or its sealed copy is not there.
static bool read_result(const char *grades, const char *path, Graded *g)
{
    json_t *result = json_load_file(path, 0, NULL);
    const char *lesson = json_string_value(json_object_get(result, "lesson")),
               *variant = json_string_value(json_object_get(result, "variant"));
    const char *hash = class_hash_of(result);
    struct stat at;
    bool good = lesson && hash && stat(path, &at) == 0;
    if (good) {
        char *folder = strdup(path);
        *g = (Graded){ .pseudonym = strdup(basename(dirname(folder))),
                       .lesson = strdup(lesson),
                       .hash = strdup(hash),
                       .variant = variant ? strdup(variant) : NULL,
                       .sealed = text_format("%s/sealed/%s/exercises/%s.cu", grades, hash, lesson),
                       .when = at.st_mtime };
        good = access(g->sealed, R_OK) == 0;
        free(folder);
    }
    json_decref(result);
    return good;
}

Graded *graded_find(const char *grades, size_t *count)
{
    glob_t results;
    Graded *all = NULL;
    char *pattern = text_format("%s/results/*/*.json", grades);
    *count = 0;
    if (glob(pattern, 0, NULL, &results) == 0) {
        all = calloc(results.gl_pathc, sizeof *all);
        for (size_t n = 0; all && n < results.gl_pathc; n++)
            *count += stands(results.gl_pathv[n])
                   && read_result(grades, results.gl_pathv[n], &all[*count]);
        if (all) qsort(all, *count, sizeof *all, by_student);
        globfree(&results);
    }
    free(pattern);
    return *count ? all : NULL;
}
