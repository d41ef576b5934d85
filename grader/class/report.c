// GRADES/report/: a page for the instructor, and one for each student. They have what the gradebook
// has, which is written anew with them. Each is written whole; a page of somebody who is no student
// of the class any more is removed.
#define _GNU_SOURCE
#include "report.h"
#include "file.h"
#include "text.h"
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- What a student's page shows

static int whole_of(const json_t *mark, const char *key)
{
    const json_t *value = json_object_get(mark, key);
    return json_is_boolean(value) ? json_is_true(value)
         : json_is_integer(value) ? (int)json_integer_value(value)
                                  : -1;
}

static int is_result(const struct dirent *e)
{
    size_t length = strlen(e->d_name);
    return length > 5 && strcmp(e->d_name + length - 5, ".json") == 0;
}

// The words beside the result that has this token, among those that stand and those that were
// replaced; NULL: there is none.
static char *words_with(const Submission *s, const char *token)
{
    struct dirent **file;
    char *path = strdup(s->result), *words = NULL;
    const char *folder = dirname(path);
    int count = scandir(folder, &file, is_result, alphasort);
    for (int n = 0; n < count; n++) {
        char *name = text_format("%s/%s", folder, file[n]->d_name);
        json_t *result = words ? NULL : json_load_file(name, 0, NULL);
        if (strcmp(text_of(json_object_get(result, "class"), "token"), token) == 0)
            words = text_format("%.*s.txt", (int)strlen(name) - 5, name);
        json_decref(result);
        free(name);
        free(file[n]);
    }
    if (count >= 0) free(file);
    free(path);
    return words;
}

// How late the file of a mark that was released was, if it is still there; else -1.
static int days_of(const Class *c, const Mark *m, const char *hash)
{
    const StudentRule *rule = rules_of_student(&c->rules, m->student);
    time_t deadline = rules_deadline(rules_of_lesson(&c->rules, m->lesson), rule);
    for (const Submission *s = c->submission; *hash && s < c->submission + c->count; s++)
        if (strcmp(s->student, m->student->name) == 0 && strcmp(s->lesson, m->lesson) == 0
            && strcmp(s->hash, hash) == 0 && s->time != NO_TIME)
            return late_days(s->time, deadline);
    return -1;
}

static Shown standing_one(const Mark *m, const json_t *mark)
{
    // What is not trusted has no verdict, and its words would tell one.
    bool told =
        json_object_get(mark, "found") && *m->verdict && strcmp(m->verdict, "UNTRUSTED") != 0;
    return (Shown){ .verdict = m->verdict,
                    .step = m->step,
                    .gold = m->gold,
                    .late_days = m->late_days,
                    .points = m->points,
                    .token = told ? text_of(mark, "token") : "",
                    .words = told ? strdup(m->submission->words) : NULL,
                    .stands = true };
}

static Shown released_one(const Class *c, const Mark *m, const json_t *mark)
{
    const char *token = text_of(mark, "token");
    const json_t *points = json_object_get(mark, "points");
    return (Shown){ .verdict = text_of(mark, "verdict"),
                    .step = whole_of(mark, "step"),
                    .gold = whole_of(mark, "gold"),
                    .late_days = days_of(c, m, text_of(mark, "hash")),
                    .points = json_is_number(points) ? json_number_value(points) : NAN,
                    .token = token,
                    .words = *token && m->submission ? words_with(m->submission, token) : NULL };
}

static Shown shown_of(const Class *c, const Mark *m)
{
    const Submission s = standing_of(m);
    const json_t *released = json_object_get(standing_released(&s), "new");
    json_t *mark = standing_mark(m); // it stays: the token is its
    if (c->rules.graded_pages || json_equal(mark, released)) return standing_one(m, mark);
    return released ? released_one(c, m, released) : (Shown){ 0 };
}

// ---- Words and cells

const char *report_lesson(const char *lesson) { return *lesson ? lesson : "all-lessons"; }

void report_number(Page *p, double number)
{
    char text[NUMBER_BYTES];
    table_number(number, text);
    page_put(p, "td", "%s", text);
}

void report_whole(Page *p, int number) { report_number(p, number < 0 ? NAN : number); }

void report_gold(Page *p, int gold)
{
    page_put(p, "td", "%s", gold < 0 ? "" : gold ? "yes" : "no");
}

void report_refused(Page *p, const Class *c, const Mark *m, const char *before)
{
    const char *why = m->submission ? m->submission->refused : NULL;
    if (!why) return;
    char *words = command_without_names(c, m->student, why);
    page_text(p, "%s%s", before, words);
    free(words);
}

// ---- The files

// The book's style sheet, and what the report has besides. NULL: it has said why.
static char *style_sheet(void)
{
    static const char *const paths[] = { "book/style.css", "grader/class/report.css" };
    char *part[2];
    size_t count;
    for (size_t n = 0; n < 2; n++)
        if (!(part[n] = file_read(paths[n], &count))) {
            file_amiss(paths[n]);
            return NULL;
        }
    char *both = text_format("%s%s", part[0], part[1]);
    for (size_t n = 0; n < 2; n++) free(part[n]);
    return both;
}

static char *page_name(const Student *s) { return text_format("%s.html", s->pseudonym); }

// A page of ours, or what a run that was killed has left of one.
static int is_page(const struct dirent *e)
{
    size_t digits = strspn(e->d_name, "0123456789abcdef");
    return (digits == PSEUDONYM_DIGITS && strncmp(e->d_name + digits, ".html", 5) == 0)
        || strncmp(e->d_name, "index.html", 10) == 0;
}

static bool is_current(const Class *c, const char *name)
{
    bool current = strcmp(name, "index.html") == 0;
    for (size_t n = 0; n < c->students && !current; n++) {
        char *page = page_name(&c->student[n]);
        current = strcmp(name, page) == 0;
        free(page);
    }
    return current;
}

static bool remove_others(const Class *c, const char *folder)
{
    struct dirent **file;
    bool good = true;
    int count = scandir(folder, &file, is_page, alphasort);
    for (int n = 0; n < count; n++) {
        char *path = text_format("%s/%s", folder, file[n]->d_name);
        if (!is_current(c, file[n]->d_name)) good = (unlink(path) == 0 || file_amiss(path)) && good;
        free(path);
        free(file[n]);
    }
    if (count >= 0) free(file);
    return good;
}

static bool write_page(const char *folder, const char *name, Report *r,
                       bool (*write)(FILE *f, void *report))
{
    char *path = text_format("%s/%s", folder, name);
    bool good = file_write(path, write, r) || file_amiss(path);
    free(path);
    return good;
}

static bool write_pages(Report *r, const char *folder)
{
    const Class *c = r->c;
    bool good = folder_make(folder);
    if (!good) return file_amiss(folder);
    for (size_t n = 0; good && n < c->students; n++) {
        char *name = page_name(&c->student[n]);
        r->mark = &c->mark[n * c->lessons];
        good = write_page(folder, name, r, report_write_student);
        free(name);
    }
    return good && write_page(folder, "index.html", r, report_write_class)
        && remove_others(c, folder);
}

static json_t *comments_and_appeals(void)
{
    size_t n;
    json_t *line, *said = json_array();
    json_array_foreach(log_lines(), n, line)
    {
        const char *what = text_of(line, "what");
        if (strcmp(what, "comment") == 0 || strcmp(what, "appeal") == 0)
            json_array_append(said, line);
    }
    return said;
}

int report(Class *c, const Words *w)
{
    (void)w;
    if (command_write_book(c, 0)) return 1;
    Shown *shown = calloc(c->marks + 1, sizeof *shown);
    Report r = { .c = c, .style = style_sheet(), .shown = shown, .said = comments_and_appeals() };
    r.mistake = report_mistakes(c, &r.mistakes);
    for (size_t n = 0; n < c->marks; n++) {
        shown[n] = shown_of(c, &c->mark[n]);
        r.hidden += !shown[n].stands;
    }
    char *folder = text_format("%s/report", c->grades);
    if (!r.style || !write_pages(&r, folder)) return 1;
    printf("%s/index.html, and a page for each of %zu students\n", folder, c->students);
    if (r.hidden)
        printf("Marks that are not released, and so not on the students' pages: %zu. Type: make "
               "release, or write into class.cfg: pages = \"graded\";\n",
               r.hidden);
    free(folder);
    return 0;
}
