#define _GNU_SOURCE
#include "class.h"
#include "text.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Does the path stay below the folder that it begins in?
static bool stays_below(const char *path)
{
    if (!*path || *path == '/') return false;
    for (const char *part = path; part; part = strchr(part, '/')) {
        part += *part == '/';
        size_t length = strcspn(part, "/");
        if (!length || strncmp(part, "..", length) == 0) return false;
    }
    return true;
}

static bool read_row(const Class *c, const Table *t, size_t row, HandIn *h)
{
    const char *student = table_cell(t, row, "student"), *lesson = table_cell(t, row, "lesson"),
               *path = table_cell(t, row, "file"), *time = table_cell(t, row, "time");
    struct stat at;
    *h = (HandIn){ .student = strdup(student), .path = strdup(path), .time = NO_TIME };
    if (!*student) return table_amiss(t, row, "the student has no name; fill in the cell");
    if (!stays_below(path))
        return table_amiss(t, row, "file should be a path below %s, as in Ada/05-transpose.cu",
                           c->folder);
    char *whole = text_format("%s/%s", c->folder, path);
    bool there = lstat(whole, &at) == 0;
    free(whole);
    if (!there) return table_amiss(t, row, "there is no %s/%s", c->folder, path);
    if (*lesson && !class_has_lesson(lesson))
        return table_amiss(t, row,
                           "'%s' is no lesson. Write its name, as in 05-transpose, or "
                           "leave the cell empty",
                           lesson);
    long east;
    if (*time && !time_read(time, &h->time, &east))
        return table_amiss(t, row, "'%s' is no time with a zone. Write it as " TIME_EXAMPLE, time);
    if (*lesson) h->lesson = strdup(lesson);
    return true;
}

// Of a folder or an archive each lesson may have a row; whatever else has two would be two
// submissions.
static bool has_no_other(const Class *c, const Table *t, const HandIn *list, size_t row)
{
    const HandIn *h = &list[row];
    struct stat at;
    char *whole = text_format("%s/%s", c->folder, h->path);
    bool several = found_suffix(h->path) || (lstat(whole, &at) == 0 && S_ISDIR(at.st_mode));
    free(whole);
    for (size_t n = 0; n < row; n++) {
        const HandIn *other = &list[n];
        if (strcmp(other->path, h->path) != 0) continue;
        if (several && h->lesson && other->lesson && strcmp(h->lesson, other->lesson) != 0)
            continue;
        return table_amiss(
            t, row,
            "%s has a row already, in line %d. Remove one of the two%s. If several students have "
            "made it, write the group into groups.csv",
            h->path, t->line[n], several ? ", or write another lesson into each" : "");
    }
    return true;
}

bool manifest_read(const Class *c, HandIn **list, size_t *count)
{
    Table t;
    char *path = text_format("%s/manifest.csv", c->folder);
    *list = NULL;
    *count = 0;
    bool good = table_read(&t, path, (const char *const[]){ "student", "file", NULL });
    if (good) *list = calloc(t.rows + 1, sizeof **list);
    for (; good && *count < t.rows; ++*count)
        good = read_row(c, &t, *count, &(*list)[*count]) && has_no_other(c, &t, *list, *count);
    free(path);
    return good;
}

char *manifest_gradescope(const char *folder, time_t *time)
{
    char *path = text_format("%s/submission_metadata.json", folder), *why = NULL;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    json_t *data = file < 0 ? NULL : json_loadfd(file, 0, NULL);
    const char *created = json_string_value(json_object_get(data, "created_at"));
    long east;
    if (!created) why = strdup("its submission_metadata.json is missing, or has no created_at");
    else if (!time_read(created, time, &east))
        why = text_format("created_at in its submission_metadata.json is no time: %s", created);
    if (file >= 0) close(file);
    json_decref(data);
    free(path);
    return why;
}
