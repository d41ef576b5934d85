#define _GNU_SOURCE
#include "class.h"
#include "file.h"
#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Bytes {
    char *all;
    size_t count;
} Bytes;

static bool write_bytes(FILE *f, void *what)
{
    const Bytes *bytes = what;
    return fwrite(bytes->all, 1, bytes->count, f) == bytes->count;
}

static bool say(const char *path)
{
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return false;
}

static bool make_folder(const char *path) { return mkdir(path, 0755) == 0 || errno == EEXIST; }

// Reads a student's file. Returns why it is not taken, or NULL. A link could lead anywhere, and a
// pipe has no end.
static char *take(int folder, const char *name, Bytes *bytes)
{
    struct stat at;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char *why = NULL;
    if (file < 0) return strdup(errno == ELOOP ? "it is a link" : strerror(errno));
    if (fstat(file, &at) < 0) why = strdup(strerror(errno));
    else if (!S_ISREG(at.st_mode)) why = strdup("it is no regular file");
    else if (at.st_size > SUBMISSION_BYTES)
        why = text_format("it has %lld bytes, and may have %d", (long long)at.st_size,
                          SUBMISSION_BYTES);
    else if (!(bytes->all = malloc((size_t)at.st_size + 1))) why = strdup(strerror(errno));
    while (!why && bytes->count < (size_t)at.st_size) {
        ssize_t got = read(file, bytes->all + bytes->count, (size_t)at.st_size - bytes->count);
        if (got <= 0) why = strdup(got ? strerror(errno) : "it became shorter while it was read");
        else bytes->count += (size_t)got;
    }
    close(file);
    return why;
}

static bool seal(const Class *c, Submission *s, Bytes *bytes)
{
    secret_hash(bytes->all, bytes->count, s->hash);
    char *folder = text_format("%s/sealed/%s", c->grades, s->hash);
    char *within = text_format("%s/exercises", folder);
    s->sealed = text_format("%s/%s.cu", within, s->lesson);
    bool good = make_folder(folder) && make_folder(within)
             && (access(s->sealed, F_OK) == 0 || file_write(s->sealed, write_bytes, bytes));
    if (!good) say(s->sealed);
    free(folder);
    free(within);
    return good;
}

// "05-transpose" of "05-transpose.cu", if there is such a lesson; else NULL.
static char *lesson_of(const char *file)
{
    size_t n = strlen(file);
    if (n < 4 || strcmp(file + n - 3, ".cu") || strchr("/.", *file)) return NULL;
    char *lesson = strndup(file, n - 3), *text = text_format("lessons/%s.md", lesson);
    bool there = access(text, F_OK) == 0;
    free(text);
    if (there) return lesson;
    free(lesson);
    return NULL;
}

static bool add(Class *c, const char *student, char *lesson, int folder, const char *file)
{
    Bytes bytes = { 0 };
    c->submission = reallocarray(c->submission, c->count + 1, sizeof *c->submission);
    Submission *s = &c->submission[c->count++];
    *s = (Submission){ .student = strdup(student), .lesson = lesson };
    secret_keyed("student", student, s->pseudonym, PSEUDONYM_DIGITS);
    char *results = text_format("%s/results/%s", c->grades, s->pseudonym);
    s->result = text_format("%s/%s.json", results, lesson);
    s->words = text_format("%s/%s.txt", results, lesson);
    s->refused = take(folder, file, &bytes);
    bool good = make_folder(results) || say(results);
    if (good && !s->refused) good = seal(c, s, &bytes);
    free(bytes.all);
    free(results);
    return good;
}

static bool collect_student(Class *c, int above, const char *student)
{
    int folder = openat(above, student, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return true; // a file beside the students' folders
    DIR *files = fdopendir(folder);
    bool good = files || say(student);
    for (struct dirent *e; good && (e = readdir(files));) {
        char *lesson = lesson_of(e->d_name);
        if (lesson) good = add(c, student, lesson, folder, e->d_name);
    }
    if (files) closedir(files);
    return good;
}

bool class_is_new_student(const Class *c, size_t n)
{
    return !n || strcmp(c->submission[n].student, c->submission[n - 1].student) != 0;
}

static int by_student(const void *a, const void *b)
{
    const Submission *s = a, *t = b;
    int order = strcmp(s->student, t->student);
    return order ? order : strcmp(s->lesson, t->lesson);
}

bool class_collect(Class *c)
{
    if (!make_folder(c->grades)) return say(c->grades);
    c->grades = realpath(c->grades, NULL); // graders are called elsewhere
    char *sealed = text_format("%s/sealed", c->grades),
         *results = text_format("%s/results", c->grades);
    if (!make_folder(sealed) || !make_folder(results) || !secret_open(c->grades))
        return say(c->grades);
    DIR *students = opendir(c->folder);
    if (!students) return say(c->folder);
    bool good = true;
    for (struct dirent *e; good && (e = readdir(students));)
        if (e->d_name[0] != '.') good = collect_student(c, dirfd(students), e->d_name);
    closedir(students);
    qsort(c->submission, c->count, sizeof *c->submission, by_student);
    free(sealed);
    free(results);
    return good;
}
