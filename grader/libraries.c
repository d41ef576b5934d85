// What the compiler has really read decides, not what the source seems to say: an #include may be
// in a branch, made by a macro, or spelt in many ways.
#define _GNU_SOURCE
#include "libraries.h"
#include "record.h"
#include "run.h"
#include "text.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The next path of a Makefile's list: blanks part them, but for those after a backslash; a
// backslash at a line's end is a blank. NULL: the end.
static char *next_path(FILE *f)
{
    char *path = NULL;
    size_t room = 0, count = 0;
    FILE *to = open_memstream(&path, &room);
    for (int c; to && (c = getc(f)) != EOF;) {
        bool escaped = c == '\\';
        if (escaped && (c = getc(f)) == '\n') escaped = false;
        if (c == EOF || (!escaped && isspace(c) && count)) break;
        if (!escaped && isspace(c)) continue;
        if (escaped && c != ' ' && c != '#') fputc('\\', to);
        fputc(c, to);
        count++;
    }
    if (to) fclose(to);
    if (count) return path;
    free(path);
    return NULL;
}

// Of a path, what comes below a folder; the path, if it lies elsewhere.
static const char *below(const char *path, const char *folder)
{
    char *real = folder && *folder ? realpath(folder, NULL) : NULL;
    size_t n = real ? strlen(real) : 0;
    bool within = n && strncmp(path, real, n) == 0 && path[n] == '/';
    free(real);
    return within ? path + n : path;
}

// "cub/cub.cuh" of a path with a folder of that name; NULL: it has none.
static const char *part_of(const char *path, const char *library)
{
    char *folder = text_format("/%s/", library);
    path = below(below(path, run_root()), getenv("CUDA_HOME"));
    const char *at = strstr(path, folder);
    free(folder);
    return at ? at + 1 : NULL;
}

static void add_place(json_t *fact, const char *submission, const char *library)
{
    FILE *f = fopen(submission, "re");
    char *line = NULL, *folder = text_format("%s/", library);
    size_t room = 0;
    for (int number = 1; f && getline(&line, &room, f) >= 0; number++)
        if (line[strspn(line, " \t")] == '#' && strstr(line, folder)) {
            json_object_set_new(fact, "file", json_string(submission));
            json_object_set_new(fact, "line", json_integer(number));
            break;
        }
    free(line);
    free(folder);
    if (f) fclose(f);
}

static json_t *refuse(const char *file, const char *library, const char *submission)
{
    char *says = text_format("The file includes %s. In lesson %d you do without the library %s.",
                             file, atoi(run_lesson()), library);
    json_t *fact = fact_new(VERDICT_BUILD, says, "Write what the library does yourself.",
                            "remove that #include and what needs it");
    json_object_set_new(fact, "library", json_string(library));
    add_place(fact, submission, library);
    free(says);
    return fact;
}

json_t *libraries_refusal(const char *list, const Profile *profile, const char *submission)
{
    json_t *fact = NULL;
    if (!profile->libraries) return NULL;
    FILE *f = fopen(list, "re");
    size_t count = 0;
    for (char *path; f && !fact && (path = next_path(f)); free(path), count++) {
        char *real = realpath(path, NULL);
        for (size_t i = 0; i < profile->libraries && !fact; i++) {
            const char *part = part_of(real ? real : path, profile->library[i]);
            if (part) fact = refuse(part, profile->library[i], submission);
        }
        free(real);
    }
    if (f) fclose(f);
    if (count || fact) return fact;
    return fact_new(VERDICT_GRADER_ERROR, "The compiler did not say which files it has read.", NULL,
                    "report this, with your file");
}
