#define _GNU_SOURCE
#include "class.h"
#include "file.h"
#include "text.h"
#include <errno.h>
#include <libconfig.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DAY = 24 * 60 * 60 };

// "path:line: words", on standard error.
__attribute__((format(printf, 3, 4))) static bool amiss(const Rules *r, const config_setting_t *at,
                                                        const char *format, ...)
{
    va_list words;
    fprintf(stderr, "%s:%u: ", r->path, config_setting_source_line(at));
    va_start(words, format);
    vfprintf(stderr, format, words);
    va_end(words);
    fputs(".\n", stderr);
    return false;
}

// A misspelt setting would be one that is never kept. `known`: names with blanks between them.
static bool has_only(const Rules *r, const config_setting_t *group, const char *what,
                     const char *known)
{
    if (!config_setting_is_group(group))
        return amiss(r, group, "%s is written as { name = value; ... }, with some of: %s", what,
                     known);
    for (int n = 0; n < config_setting_length(group); n++) {
        config_setting_t *s = config_setting_get_elem(group, (unsigned)n);
        const char *name = config_setting_name(s), *at = known;
        size_t length = strlen(name);
        while ((at = strstr(at, name))
               && ((at > known && at[-1] != ' ') || (at[length] && at[length] != ' ')))
            at++;
        if (!at) return amiss(r, s, "%s has no '%s'. It can have: %s", what, name, known);
    }
    return true;
}

static bool is_number(const config_setting_t *s)
{
    int type = config_setting_type(s);
    return type == CONFIG_TYPE_INT || type == CONFIG_TYPE_INT64 || type == CONFIG_TYPE_FLOAT;
}

static double value_of(const config_setting_t *s)
{
    int type = config_setting_type(s);
    return type == CONFIG_TYPE_FLOAT ? config_setting_get_float(s)
                                     : (double)config_setting_get_int64(s);
}

// A setting that may be left out.
static bool read_number(const Rules *r, config_setting_t *group, const char *name, double most,
                        double *value)
{
    config_setting_t *s = config_setting_get_member(group, name);
    if (!s) return true;
    double number = is_number(s) ? value_of(s) : -1;
    if (!(number >= 0 && number <= most))
        return amiss(r, s, "%s should be a number from 0 to %g: %s = 5;", name, most, name);
    *value = number;
    return true;
}

static bool read_whole(const Rules *r, config_setting_t *group, const char *name, int *value)
{
    config_setting_t *s = config_setting_get_member(group, name);
    if (!s) return true;
    int number = config_setting_type(s) == CONFIG_TYPE_INT ? config_setting_get_int(s) : -1;
    if (number < 0 || number > 1000)
        return amiss(r, s, "%s should be a whole number of days: %s = 5;", name, name);
    *value = number;
    return true;
}

static bool read_words(const Rules *r, config_setting_t *group, const char *name, char **value)
{
    config_setting_t *s = config_setting_get_member(group, name);
    if (!s) return true;
    const char *words = config_setting_get_string(s);
    if (!words || !*words)
        return amiss(r, s, "%s should be in quotation marks: %s = \"...\";", name, name);
    *value = strdup(words);
    return true;
}

// One of two words, of which the first is what holds if it is left out.
static bool read_choice(const Rules *r, config_setting_t *group, const char *name,
                        const char *first, const char *second, bool *is_second)
{
    char *word = NULL;
    if (!read_words(r, group, name, &word)) return false;
    *is_second = word && strcmp(word, second) == 0;
    if (word && !*is_second && strcmp(word, first) != 0)
        return amiss(r, config_setting_get_member(group, name),
                     "%s should be \"%s\" or \"%s\", not \"%s\"", name, first, second, word);
    free(word);
    return true;
}

static bool is_lesson(const Rules *r, const config_setting_t *at, const char *name)
{
    return class_has_lesson(name)
        || amiss(r, at,
                 "'%s' is no lesson. Write its name as the exercise has it: \"05-transpose\"",
                 name);
}

// ---- Lessons

// How many steps the lesson's ladder has.
static int count_steps(const char *lesson)
{
    config_t profile;
    char *path = text_format("profiles/lessons/%s.cfg", lesson);
    config_init(&profile);
    config_setting_t *steps =
        config_read_file(&profile, path) ? config_lookup(&profile, "ladder.steps") : NULL;
    int count = steps ? config_setting_length(steps) : 0;
    config_destroy(&profile);
    free(path);
    return count;
}

static bool read_points(const Rules *r, config_setting_t *group, LessonRule *l)
{
    config_setting_t *s = config_setting_get_member(group, "points");
    if (!s) return true;
    int steps = count_steps(l->lesson);
    bool is_list = config_setting_is_list(s) || config_setting_is_array(s);
    if (!steps)
        return amiss(r, s, "%s has no steps that points could be given for. Leave points out",
                     l->lesson);
    if (steps > MOST_STEPS) return amiss(r, s, "%s has more than %d steps", l->lesson, MOST_STEPS);
    if (!is_list || config_setting_length(s) != steps + 1)
        return amiss(
            r, s,
            "%s has %d steps, so points should be a list of %d numbers: what it is worth "
            "to reach none of them, step 1, and so on, up to all: points = ( 5, 7.5, ... )",
            l->lesson, steps, steps + 1);
    for (int n = 0; n <= steps; n++) {
        config_setting_t *p = config_setting_get_elem(s, (unsigned)n);
        l->points[n] = is_number(p) ? value_of(p) : -1;
        if (l->points[n] < (n ? l->points[n - 1] : 0))
            return amiss(r, s, "points should not fall from one step to the next, nor be below 0");
    }
    l->steps = steps;
    return l->points[steps] > 0 || amiss(r, s, "the last of the points should be above 0");
}

static bool read_deadline(const Rules *r, config_setting_t *group, LessonRule *l)
{
    char *words = NULL;
    if (!read_words(r, group, "deadline", &words)) return false;
    bool good =
        !words || time_read(words, &l->deadline, &l->east)
        || amiss(r, config_setting_get_member(group, "deadline"),
                 "'%s' is no time with a zone. Write: deadline = \"" TIME_EXAMPLE "\";", words);
    free(words);
    return good;
}

static LessonRule default_rule(void)
{
    return (LessonRule){ .weight = 1, .deadline = NO_TIME, .steps = -1 };
}

static bool read_lesson(Rules *r, config_setting_t *group)
{
    LessonRule l = default_rule();
    if (!has_only(r, group, "a lesson", "name weight deadline points gold")
        || !read_words(r, group, "name", &l.lesson))
        return false;
    if (!l.lesson) return amiss(r, group, "a lesson needs a name: name = \"05-transpose\";");
    if (!is_lesson(r, group, l.lesson) || !read_number(r, group, "weight", 1000, &l.weight)
        || !read_number(r, group, "gold", 1000, &l.gold) || !read_deadline(r, group, &l)
        || !read_points(r, group, &l))
        return false;
    for (size_t n = 0; n < r->lessons; n++)
        if (strcmp(r->lesson[n].lesson, l.lesson) == 0)
            return amiss(r, group, "%s stands twice among the lessons. Remove one", l.lesson);
    r->lesson = reallocarray(r->lesson, r->lessons + 1, sizeof l);
    r->lesson[r->lessons++] = l;
    return true;
}

// ---- Students

// Names of lessons, which NULL ends.
static bool read_lessons(const Rules *r, config_setting_t *group, const char *name, char ***lessons)
{
    config_setting_t *list = config_setting_get_member(group, name);
    int count = list ? config_setting_length(list) : 0;
    if (list && !config_setting_is_array(list) && !config_setting_is_list(list))
        return amiss(r, list, "%s is a list of lessons: %s = ( \"08-reduction\" );", name, name);
    *lessons = calloc((size_t)count + 1, sizeof **lessons);
    for (int n = 0; n < count; n++) {
        const char *lesson = config_setting_get_string_elem(list, n);
        if (!is_lesson(r, list, lesson ? lesson : "")) return false;
        (*lessons)[n] = strdup(lesson);
    }
    return true;
}

static bool read_extension(const Rules *r, config_setting_t *group, StudentRule *s)
{
    Extension e = { .days = -1 };
    if (!has_only(r, group, "an extension", "lesson days")
        || !read_words(r, group, "lesson", &e.lesson) || !read_whole(r, group, "days", &e.days))
        return false;
    if (e.lesson && !is_lesson(r, group, e.lesson)) return false;
    if (e.days < 0) return amiss(r, group, "an extension needs its days: days = 3;");
    s->extension = reallocarray(s->extension, s->extensions + 1, sizeof e);
    s->extension[s->extensions++] = e;
    return true;
}

// Reads each element of a list of groups, which may be left out.
static bool read_list(Rules *r, config_setting_t *group, const char *name, void *into,
                      bool (*read)(Rules *r, config_setting_t *element, void *into))
{
    config_setting_t *list = config_setting_get_member(group, name);
    if (list && !config_setting_is_list(list))
        return amiss(r, list, "%s is a list: %s = ( { ... }, { ... } );", name, name);
    for (int n = 0; list && n < config_setting_length(list); n++)
        if (!read(r, config_setting_get_elem(list, (unsigned)n), into)) return false;
    return true;
}

static bool each_extension(Rules *r, config_setting_t *group, void *student)
{
    return read_extension(r, group, student);
}

static bool each_student(Rules *r, config_setting_t *group, void *nothing)
{
    (void)nothing;
    StudentRule s = { .budget = -1, .line = config_setting_source_line(group) };
    if (!has_only(r, group, "a student", "name budget excused extensions")
        || !read_words(r, group, "name", &s.student))
        return false;
    if (!s.student)
        return amiss(r, group,
                     "a student needs a name, or the pseudonym: name = \"Ada Lovelace\";");
    s.student = roster_name(s.student);
    if (!read_whole(r, group, "budget", &s.budget) || !read_lessons(r, group, "excused", &s.excused)
        || !read_list(r, group, "extensions", &s, each_extension))
        return false;
    for (size_t n = 0; n < r->students; n++)
        if (strcmp(r->student[n].student, s.student) == 0)
            return amiss(r, group, "'%s' stands twice among the students. Make one of the two",
                         s.student);
    r->student = reallocarray(r->student, r->students + 1, sizeof s);
    r->student[r->students++] = s;
    return true;
}

static bool each_lesson(Rules *r, config_setting_t *group, void *nothing)
{
    (void)nothing;
    return read_lesson(r, group);
}

// ---- All of it

static bool read_late(const Rules *r, config_setting_t *root, LateRules *late)
{
    config_setting_t *group = config_setting_get_member(root, "late");
    return !group
        || (has_only(r, group, "late", "budget penalty most")
            && read_whole(r, group, "budget", &late->budget)
            && read_number(r, group, "penalty", 100, &late->penalty)
            && read_whole(r, group, "most", &late->most));
}

static bool read_variants(Rules *r, config_setting_t *root)
{
    if (!read_lessons(r, root, "variants", &r->variant)) return false;
    for (char **l = r->variant; *l; l++) {
        char *rows = text_format("grader/variants/%s/rows.def", *l);
        bool has = access(rows, R_OK) == 0;
        free(rows);
        if (!has)
            return amiss(r, config_setting_get_member(root, "variants"),
                         "%s has no variants. Lessons that have some are in grader/variants", *l);
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const LessonRule *)a)->lesson, ((const LessonRule *)b)->lesson);
}

static bool read_root(Rules *r, config_setting_t *root)
{
    bool good = has_only(r, root, "class.cfg",
                         "times counts pages names gpu late variants lessons students")
             && read_choice(r, root, "times", "manifest", "gradescope", &r->gradescope)
             && read_choice(r, root, "counts", "best", "latest", &r->latest)
             && read_choice(r, root, "pages", "released", "graded", &r->graded_pages)
             && read_choice(r, root, "names", "shown", "hidden", &r->hidden_names)
             && read_choice(r, root, "gpu", "told", "counts", &r->gpu_counts)
             && read_late(r, root, &r->late) && read_variants(r, root)
             && read_list(r, root, "lessons", NULL, each_lesson)
             && read_list(r, root, "students", NULL, each_student);
    if (r->lessons) qsort(r->lesson, r->lessons, sizeof *r->lesson, by_name);
    return good;
}

bool rules_read(Rules *r, const char *path)
{
    config_t file;
    bool good = true;
    *r = (Rules){ .path = strdup(path) };
    FILE *f = fopen(path, "re");
    if (!f && errno == ENOENT) return true;
    if (!f) {
        return file_amiss(path);
    }
    config_init(&file);
    if (!config_read(&file, f)) {
        fprintf(stderr, "%s:%d: %s. grader/class/example.cfg shows how it is written.\n", path,
                config_error_line(&file), config_error_text(&file));
        good = false;
    } else good = read_root(r, config_root_setting(&file));
    config_destroy(&file);
    fclose(f);
    return good;
}

const LessonRule *rules_of_lesson(const Rules *r, const char *lesson)
{
    static LessonRule other;
    for (size_t n = 0; n < r->lessons; n++)
        if (strcmp(r->lesson[n].lesson, lesson) == 0) return &r->lesson[n];
    other = default_rule();
    return &other;
}

const StudentRule *rules_of_student(const Rules *r, const Student *s)
{
    for (size_t n = 0; n < r->students; n++)
        if (strcmp(r->student[n].student, s->name) == 0
            || strcmp(r->student[n].student, s->pseudonym) == 0)
            return &r->student[n];
    return NULL;
}

bool rules_are_excused(const StudentRule *s, const char *lesson)
{
    for (char **l = s ? s->excused : NULL; l && *l; l++)
        if (strcmp(*l, lesson) == 0) return true;
    return false;
}

time_t rules_deadline(const LessonRule *l, const StudentRule *s)
{
    time_t deadline = l->deadline;
    if (deadline == NO_TIME) return NO_TIME;
    for (size_t n = 0; s && n < s->extensions; n++) {
        const Extension *e = &s->extension[n];
        if (!e->lesson || (l->lesson && strcmp(e->lesson, l->lesson) == 0))
            deadline += (time_t)e->days * DAY;
    }
    return deadline;
}
