#define _GNU_SOURCE
#include "class.h"
#include "file.h"
#include "log.h"
#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool class_seal(Submission *s, const char *folder, const void *bytes, size_t count)
{
    char *within = text_format("%s/exercises", folder);
    s->sealed = text_format("%s/%s.cu", within, s->lesson);
    secret_hash(bytes, count, s->hash);
    bool good = folder_make(within);
    const mode_t mask = umask(022);
    good = good && file_write_bytes(s->sealed, bytes, count);
    umask(mask);
    free(within);
    return good;
}

static bool seal(const Class *c, Submission *s, const File *file)
{
    secret_hash(file->bytes, file->count, s->hash);
    char *folder = text_format("%s/sealed/%s", c->grades, s->hash);
    s->sealed = text_format("%s/exercises/%s.cu", folder, s->lesson);
    bool good = access(s->sealed, F_OK) == 0 || class_seal(s, folder, file->bytes, file->count)
             || file_amiss(s->sealed);
    free(folder);
    return good;
}

// Where the results of somebody's submissions go: a group's to a folder of the group's own.
typedef struct Owner {
    const size_t *member; // places in c->student
    size_t members;
    char pseudonym[PSEUDONYM_DIGITS + 1];
} Owner;

static Owner owner_of(const Class *c, const size_t *member, size_t members)
{
    Owner o = { .member = member, .members = members };
    char *names = strdup("");
    for (size_t n = 0; n < members; n++) {
        char *longer = text_format("%s%s\n", names, c->student[member[n]].name);
        free(names);
        names = longer;
    }
    if (members == 1) strcpy(o.pseudonym, c->student[*member].pseudonym);
    else secret_keyed("group", names, o.pseudonym, PSEUDONYM_DIGITS);
    free(names);
    return o;
}

// How many submissions for the lesson its owner has already.
static size_t count_before(const Class *c, const char *student, const char *lesson)
{
    size_t count = 0;
    for (size_t n = 0; n < c->count; n++)
        count += strcmp(c->submission[n].student, student) == 0
              && strcmp(c->submission[n].lesson, lesson) == 0;
    return count;
}

// Adds a file, or what is refused as a whole (lesson ""), for each of its owners who was not
// forgotten.
static bool add(Class *c, const Owner *o, const File *file, time_t time)
{
    size_t first = 0;
    while (first < o->members && class_is_forgotten(c->student[o->member[first]].pseudonym))
        first++;
    if (first == o->members) return true;
    char *results = text_format("%s/results/%s", c->grades, o->pseudonym);
    size_t before = count_before(c, c->student[o->member[first]].name, file->lesson);
    char *number = before ? text_format("-%zu", before + 1) : strdup("");
    bool good = folder_make(results) || file_amiss(results);
    for (size_t n = first; good && n < o->members; n++) {
        const Student *of = &c->student[o->member[n]];
        if (class_is_forgotten(of->pseudonym)) continue;
        const char *why = of->refused ? of->refused : file->refused;
        c->submission = reallocarray(c->submission, c->count + 1, sizeof *c->submission);
        Submission *s = &c->submission[c->count++];
        *s = (Submission){ .student = strdup(of->name),
                           .lesson = strdup(file->lesson),
                           .variant = class_variant(&c->rules, file->lesson),
                           .result = text_format("%s/%s%s.json", results, file->lesson, number),
                           .words = text_format("%s/%s%s.txt", results, file->lesson, number),
                           .refused = why ? text_clean(why) : NULL, // names of files are in it
                           .time = time,
                           .shared = n > first };
        strcpy(s->pseudonym, of->pseudonym);
        if (!s->refused) good = seal(c, s, file);
    }
    free(results);
    free(number);
    return good;
}

static void add_stray(Class *c, char *words)
{
    c->stray = reallocarray(c->stray, c->strays + 1, sizeof *c->stray);
    c->stray[c->strays++] = words;
}

static bool is_listed(const Class *c, const char *lesson)
{
    for (size_t n = 0; n < c->rules.lessons; n++)
        if (strcmp(c->rules.lesson[n].lesson, lesson) == 0) return true;
    return !c->rules.lessons;
}

// Takes a file, if the class has its lesson.
static bool take_one(Class *c, const Owner *o, const File *file, time_t time)
{
    if (is_listed(c, file->lesson)) return add(c, o, file, time);
    add_stray(c, text_format("Not graded, since class.cfg does not list the lesson: %s's %s",
                             c->student[*o->member].name, file->lesson));
    return true;
}

// The one file that a row of the manifest with a lesson means.
static bool take_lesson(Class *c, const Owner *o, const Found *f, const HandIn *h)
{
    for (size_t n = 0; n < f->count; n++)
        if (strcmp(f->file[n].lesson, h->lesson) == 0) return take_one(c, o, &f->file[n], h->time);
    char *why = f->refused
                  ? strdup(f->refused)
                  : text_format("manifest.csv says that it is in %s, and it is not", h->path);
    bool good = take_one(c, o, &(File){ .lesson = h->lesson, .refused = why }, h->time);
    free(why);
    return good;
}

// Takes what was handed in.
static bool take(Class *c, const Owner *o, const Found *f, const HandIn *h, time_t time)
{
    bool good = true;
    if (h->lesson) return take_lesson(c, o, f, h);
    if (f->refused) return add(c, o, &(File){ .lesson = "", .refused = f->refused }, time);
    for (size_t n = 0; good && n < f->count; n++) good = take_one(c, o, &f->file[n], time);
    return good;
}

// Where rows of the manifest name lessons of a folder or an archive, what else is in it may be
// older or newer than they say: it is not taken, and named.
static void say_uncovered(Class *c, const Owner *o, const Found *f, const HandIn *h,
                          const HandIn *row, size_t rows)
{
    const HandIn *first = row;
    while (first < row + rows && strcmp(first->path, h->path) != 0) first++;
    if (first != h || !h->lesson) return; // it is said once
    for (size_t n = 0; n < f->count; n++) {
        const char *lesson = f->file[n].lesson;
        bool covered = false;
        for (const HandIn *r = first; r < row + rows && !covered; r++)
            covered = strcmp(r->path, h->path) == 0 && strcmp(r->lesson, lesson) == 0;
        if (!covered)
            add_stray(c, text_format("Not graded, since manifest.csv has rows for other lessons of "
                                     "%s, and none for this one: %s's %s",
                                     h->path, c->student[*o->member].name, lesson));
    }
}

// A name that is in no list: without a roster it is a student's, with one it is a mistake.
static void add_stranger(Class *c, const char *name, bool listed, size_t **member)
{
    char *stem = strndup(name, strlen(name) - found_suffix(name));
    Student *s = roster_add(c, stem);
    if (listed)
        s->refused = strdup("no student in roster.csv has this name; write it there into the "
                            "column `submission`");
    (*member)[0] = c->students - 1;
    free(stem);
}

// `row`: those of the manifest. What they name has its own row, and is no part of the folder that
// it is in.
static bool take_hand_in(Class *c, const HandIn *h, bool listed, const HandIn *row, size_t rows)
{
    char *path = text_format("%s/%s", c->folder, h->path), *from = NULL, *why = NULL;
    time_t time = h->time;
    size_t *member, members = roster_members(c, h->student, &member);
    if (c->rules.gradescope && !h->lesson && !found_suffix(path)) {
        why = manifest_gradescope(path, &time);
        from = text_format("%s/submission", path);
    }
    Found f = found_in(from ? from : path, h->lesson, row, rows, strlen(c->folder) + 1);
    if (why && !f.refused) f.refused = why;
    bool good = true;
    if (members || f.count || f.refused || !f.left) {
        if (!members) add_stranger(c, h->student, listed, &member), members = 1;
        Owner o = owner_of(c, member, members);
        good = take(c, &o, &f, h, time);
        say_uncovered(c, &o, &f, h, row, rows);
    }
    found_free(&f);
    free(member);
    free(path);
    free(from);
    return good;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Folders and archives at the top that the manifest does not name.
static bool scan(Class *c, bool listed, const HandIn *skip, size_t skips)
{
    DIR *top = opendir(c->folder);
    char **name = NULL;
    size_t count = 0;
    if (!top) return file_amiss(c->folder);
    for (struct dirent *e; (e = readdir(top));) {
        if (strspn(e->d_name, ".") == strlen(e->d_name) || !strcmp(e->d_name, "manifest.csv"))
            continue;
        name = reallocarray(name, count + 1, sizeof *name);
        name[count++] = strdup(e->d_name);
    }
    closedir(top);
    if (count) qsort(name, count, sizeof *name, by_name); // so that a run is like another
    bool good = true;
    for (size_t n = 0; good && n < count; n++) {
        struct stat at;
        char *path = text_format("%s/%s", c->folder, name[n]);
        bool is_named = false, there = lstat(path, &at) == 0;
        for (size_t s = 0; s < skips; s++) is_named = is_named || !strcmp(skip[s].path, name[n]);
        HandIn h = { .student = name[n], .path = name[n], .time = NO_TIME };
        if (name[n][0] == '.')
            add_stray(c,
                      text_format("Not looked at, since its name begins with a dot: %s", name[n]));
        else if (there && (S_ISDIR(at.st_mode) || found_suffix(name[n]))) {
            if (!is_named) good = take_hand_in(c, &h, listed, skip, skips);
        } else if (!is_named)
            add_stray(c,
                      text_format("Not looked at, since it is neither a folder nor an archive: %s",
                                  name[n]));
        free(path);
    }
    return good;
}

static bool take_all(Class *c, bool listed)
{
    HandIn *hand_in;
    size_t count;
    bool good = manifest_read(c, &hand_in, &count);
    for (size_t n = 0; good && n < count; n++)
        good = take_hand_in(c, &hand_in[n], listed, hand_in, count);
    return good && scan(c, listed, hand_in, count);
}

static bool take_only(Class *c)
{
    HandIn h = { .student = (char *)c->only, .path = (char *)c->only, .time = NO_TIME };
    return take_hand_in(c, &h, false, NULL, 0);
}

static int by_student(const void *a, const void *b)
{
    const Submission *s = a, *t = b;
    int order = strcmp(s->student, t->student);
    if (!order) order = strcmp(s->lesson, t->lesson);
    if (!order) order = (s->time > t->time) - (s->time < t->time);
    return order ? order : strcmp(s->result, t->result);
}

static int students_by_name(const void *a, const void *b)
{
    return strcmp(((const Student *)a)->name, ((const Student *)b)->name);
}

// A name in class.cfg that no student has would be a right that nobody is given.
static bool knows_students(const Class *c)
{
    for (size_t n = 0; n < c->rules.students; n++) {
        const StudentRule *rule = &c->rules.student[n];
        bool known = false;
        for (size_t s = 0; s < c->students && !known; s++)
            known = strcmp(c->student[s].name, rule->student) == 0
                 || strcmp(c->student[s].pseudonym, rule->student) == 0;
        if (known) continue;
        fprintf(stderr,
                "%s:%d: '%s' is no student of this class. Write the name as in roster.csv, or as "
                "the folder's.\n",
                c->rules.path, rule->line, rule->student);
        return false;
    }
    return true;
}

static void leave_out_forgotten(Class *c)
{
    size_t left = 0;
    for (size_t n = 0; n < c->students; n++) {
        if (class_is_forgotten(c->student[n].pseudonym)) c->forgotten++;
        else c->student[left++] = c->student[n];
    }
    c->students = left;
}

static int remove_unfinished(const char *path, const struct stat *at, int type, struct FTW *walk)
{
    static const char *const patterns[] = { "*.??????.new", "*.json.new", "*.txt.new" };
    (void)at;
    for (size_t n = 0; type == FTW_F && n < sizeof patterns / sizeof *patterns; n++)
        if (fnmatch(patterns[n], path + walk->base, 0) == 0) unlink(path);
    return 0;
}

void class_sweep(const Class *c)
{
    enum { FOLDERS_OPEN = 16 };
    nftw(c->grades, remove_unfinished, FOLDERS_OPEN, FTW_PHYS);
}

// Also a folder that somebody has made before.
static bool make_private(const char *path)
{
    enum { MODE = 0777 & ~CLASS_UMASK };
    struct stat at;
    return folder_make(path) && stat(path, &at) == 0
        && ((at.st_mode & 0777) == MODE || chmod(path, MODE) == 0);
}

bool class_collect(Class *c)
{
    if (!make_private(c->grades)) return file_amiss(c->grades);
    c->grades = realpath(c->grades, NULL); // graders are called elsewhere
    char *sealed = text_format("%s/sealed", c->grades),
         *results = text_format("%s/results", c->grades),
         *rules = text_format("%s/class.cfg", c->grades);
    bool listed;
    if (!folder_make(sealed) || !folder_make(results) || !secret_open(c->grades))
        return file_amiss(c->grades);
    if (!log_open(c->grades)) return false;
    bool good = rules_read(&c->rules, rules) && roster_read(c, &listed)
             && (c->only ? take_only(c) : take_all(c, listed)) && knows_students(c);
    if (c->count) qsort(c->submission, c->count, sizeof *c->submission, by_student);
    leave_out_forgotten(c);
    if (c->students) qsort(c->student, c->students, sizeof *c->student, students_by_name);
    free(sealed);
    free(results);
    free(rules);
    return good;
}
