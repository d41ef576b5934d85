// Forgetting a student: the line in the log first, since with it nothing of the student is taken
// again, and a run that is killed after it can be made again.
#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool remove_all(const char *path) { return folder_remove(path) || file_amiss(path); }

// The hashes that the others' submissions and results name, as members of an object.
static json_t *others_hashes(const Class *c, const char *pseudonym)
{
    json_t *hashes = json_object();
    glob_t found = { 0 };
    char *pattern = text_format("%s/results/*/*.json", c->grades);
    for (size_t n = 0; n < c->count; n++)
        if (strcmp(c->submission[n].pseudonym, pseudonym) != 0)
            json_object_set_new(hashes, c->submission[n].hash, json_true());
    glob(pattern, 0, NULL, &found);
    for (size_t n = 0; n < found.gl_pathc; n++) {
        json_t *result = json_load_file(found.gl_pathv[n], 0, NULL);
        const char *hash = class_hash_of(result);
        if (hash) json_object_set_new(hashes, hash, json_true());
        json_decref(result);
    }
    globfree(&found);
    free(pattern);
    return hashes;
}

// Removes what is sealed and named by nobody any more.
static bool remove_sealed(const Class *c, const json_t *hashes, size_t *removed)
{
    char *sealed = text_format("%s/sealed", c->grades);
    DIR *all = opendir(sealed);
    bool good = all;
    for (struct dirent *e; all && (e = readdir(all));) {
        if (strlen(e->d_name) != HASH_DIGITS || json_object_get(hashes, e->d_name)) continue;
        char *folder = text_format("%s/%s", sealed, e->d_name);
        good = remove_all(folder) && good;
        ++*removed;
        free(folder);
    }
    if (all) closedir(all);
    free(sealed);
    return good;
}

// What `make viva` and the report have of the student, and the report's page of the class and lists
// of who is alike, which can be made again.
static bool remove_pages(const Class *c, const char *pseudonym)
{
    static const char *const patterns[] = { "%s/report/%s*", "%s/report/index.html*", "%s/viva/%s",
                                            "%s/similar/*" };
    bool good = true;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        char *pattern = text_format(patterns[p], c->grades, pseudonym);
        glob_t found = { 0 };
        glob(pattern, 0, NULL, &found);
        for (size_t n = 0; n < found.gl_pathc; n++) good = remove_all(found.gl_pathv[n]) && good;
        globfree(&found);
        free(pattern);
    }
    return good;
}

static void leave_out(Class *c, const char *pseudonym)
{
    size_t left = 0;
    for (size_t n = 0; n < c->count; n++)
        if (strcmp(c->submission[n].pseudonym, pseudonym) != 0)
            c->submission[left++] = c->submission[n];
    c->count = left;
    left = 0;
    for (size_t n = 0; n < c->students; n++)
        if (strcmp(c->student[n].pseudonym, pseudonym) != 0) c->student[left++] = c->student[n];
    c->students = left;
}

int forget(Class *c, const Words *w)
{
    size_t removed = 0;
    char *results = text_format("%s/results/%s", c->grades, w->pseudonym),
         *pseudonym = strdup(w->pseudonym);
    if (!class_is_forgotten(pseudonym)) {
        json_t *line = command_line(w, "forget", NULL);
        json_object_set_new(line, "student", json_string(pseudonym));
        if (!log_add(line)) return 1;
    }
    leave_out(c, pseudonym);
    bool good = remove_all(results) && remove_pages(c, pseudonym);
    json_t *hashes = others_hashes(c, pseudonym);
    good = remove_sealed(c, hashes, &removed) && good;
    int status = command_write_book(c, !good);
    if (!status)
        printf("%s is forgotten: results, %zu sealed files that are nobody else's, and the "
               "pseudonym's link. The submissions themselves are yours to delete, in %s, with the "
               "student's rows in your own files. The log keeps its lines, without the name.\n",
               pseudonym, removed, c->folder);
    json_decref(hashes);
    free(results);
    free(pseudonym);
    return status;
}
