// A student's page: what is shown of each lesson, in a table and in words.
#define _GNU_SOURCE
#include "report.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const Shown *shown_of(const Report *r, const Mark *m) { return &r->shown[m - r->c->mark]; }

static void write_total(Page *p, const Report *r)
{
    char total[NUMBER_BYTES];
    int spent = 0;
    bool all = true;
    for (const Mark *m = r->mark; m < r->mark + r->c->lessons; m++) {
        all = all && shown_of(r, m)->stands;
        spent += m->spent;
    }
    table_number(class_total(r->c, r->mark), total);
    page_open(p, "p");
    page_attribute(p, "class", "subtitle");
    if (!all) page_text(p, "The total follows once every lesson is released.");
    else if (!*total) page_text(p, "The total is not known yet. Late days spent: %d", spent);
    else page_text(p, "Total: %s %%. Late days spent: %d", total, spent);
    page_close(p);
}

static const char *verdict_of(const Shown *s)
{
    return !s->verdict ? "not released yet" : *s->verdict ? s->verdict : "not graded yet";
}

// The student's, in the zone that class.cfg writes the lesson's in; "": there is none.
static void write_deadline(const Report *r, const Mark *m, char words[TIME_BYTES])
{
    const LessonRule *l = rules_of_lesson(&r->c->rules, m->lesson);
    time_t deadline = rules_deadline(l, rules_of_student(&r->c->rules, m->student));
    *words = 0;
    if (deadline != NO_TIME) time_write(deadline, l->east, words);
}

// What lateness costs is known of the mark that stands.
static bool is_late(const Mark *m, const Shown *s)
{
    return s->verdict && s->stands && m->late_days > 0;
}

static void write_row(Page *p, const Report *r, const Mark *m)
{
    const Shown *s = shown_of(r, m);
    char to[64], deadline[TIME_BYTES];
    write_deadline(r, m, deadline);
    snprintf(to, sizeof to, "#%s", report_lesson(m->lesson));
    page_open(p, "tr");
    page_open(p, "th");
    page_attribute(p, "scope", "row");
    page_link(p, to, report_lesson(m->lesson));
    page_close(p);
    page_put(p, "td", "%s", verdict_of(s));
    report_whole(p, s->verdict ? s->step : -1);
    report_number(p, s->verdict ? s->points : NAN);
    report_number(p, m->full);
    report_gold(p, s->verdict ? s->gold : -1);
    report_whole(p, s->verdict ? s->late_days : -1);
    report_number(p, is_late(m, s) ? m->lost : NAN);
    page_put(p, "td", "%s", deadline);
    page_close(p);
}

// ---- In words

// What the student is told, as the terminal would have shown it.
static void write_words(Page *p, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t count;
    FILE *f = fopen(path, "re");
    if (!f) {
        page_put(p, "p", "The words of this verdict are missing.");
        return;
    }
    page_open(p, "pre");
    page_attribute(p, "class", "terminal");
    page_attribute(p, "tabindex", "0");
    page_open(p, "samp");
    while ((count = getline(&line, &room, f)) > 0) {
        for (char *c = line; c < line + count; c++)
            if (!*c) *c = '?';
        page_lines(p, line);
    }
    page_close(p);
    page_close(p);
    free(line);
    fclose(f);
}

static void write_override(Page *p, const Mark *m)
{
    const Submission s = standing_of(m);
    const char *why = json_string_value(json_object_get(standing_override(&s), "why"));
    char from[NUMBER_BYTES], to[NUMBER_BYTES];
    table_number(m->graded, from);
    table_number(m->points, to);
    page_put(p, "p", "%s changed the points from %s to %s: %s", m->overridden,
             *from ? from : "none", to, why ? why : "");
}

static void write_lateness(Page *p, const Report *r, const Mark *m)
{
    char deadline[TIME_BYTES], lost[NUMBER_BYTES];
    write_deadline(r, m, deadline);
    table_number(m->lost, lost);
    page_put(p, "p", "Deadline: %s. Days late: %d. Late days spent on it: %d. Points lost: %s.",
             deadline, m->late_days, m->spent, *lost ? lost : "not known");
}

// The verdicts of the page, as the book explains them, each row once.
static void write_meanings(Page *p, const Report *r)
{
    static const char *const headings[] = { "Verdict", "What happened", "Where to look", NULL };
    const Meaning **told = calloc(r->c->lessons, sizeof *told);
    size_t count = 0;
    for (size_t n = 0; n < r->c->lessons; n++) {
        const char *verdict = shown_of(r, r->mark + n)->verdict;
        const Meaning *m = verdict && *verdict ? report_meaning(verdict) : NULL;
        size_t before = 0;
        while (before < count && told[before] != m) before++;
        if (m && before == count) told[count++] = m;
    }
    if (count) page_table(p, true, "What the verdicts mean", headings);
    for (size_t n = 0; n < count; n++) {
        page_open(p, "tr");
        page_open(p, "th");
        page_attribute(p, "scope", "row");
        page_text(p, "%s", told[n]->verdicts);
        page_close(p);
        page_put(p, "td", "%s", told[n]->happened);
        page_put(p, "td", "%s", told[n]->look);
        page_close(p);
    }
    if (count) page_table_end(p);
    free(told);
}

// The comments and appeals.
static void write_log(Page *p, const Report *r, const Mark *m)
{
    size_t n;
    const json_t *line;
    bool any = false;
    json_array_foreach(r->said, n, line)
    {
        const char *what, *who, *student, *lesson, *words, *time;
        if (json_unpack((json_t *)line, "{ss ss ss ss ss ss}", "what", &what, "who", &who,
                        "student", &student, "lesson", &lesson, "words", &words, "time", &time)
                != 0
            || strcmp(student, m->student->pseudonym) != 0 || strcmp(lesson, m->lesson) != 0)
            continue;
        if (!any) page_open(p, "ul");
        page_put(p, "li", "%s, %s by %s: %s", time, what, who, words);
        any = true;
    }
    if (any) page_close(p);
}

static void write_lesson(Page *p, const Report *r, const Mark *m)
{
    const Shown *s = shown_of(r, m);
    page_heading(p, report_lesson(m->lesson), report_lesson(m->lesson));
    if (!s->verdict) {
        page_put(p, "p", "This lesson is not released yet.");
        return;
    }
    if (!s->stands) page_put(p, "p", "This mark was released. A newer one is not released yet.");
    if (s->words) write_words(p, s->words);
    else {
        page_open(p, "p");
        page_text(p, "%s", verdict_of(s));
        if (s->stands) report_refused(p, r->c, m, ": ");
        page_close(p);
    }
    if (is_late(m, s)) write_lateness(p, r, m);
    if (s->token && *s->token) {
        page_open(p, "p");
        page_text(p, "To have the same verdict on your own machine, type: ");
        page_put(p, "code", "make replay TOKEN=%s", s->token);
        page_close(p);
    }
    if (s->stands && m->overridden) write_override(p, m);
    write_log(p, r, m);
}

bool report_write_student(FILE *f, void *report)
{
    static const char *const headings[] = {
        "Lesson", "Verdict",   "Step",        "Points",   "Of",
        "Gold",   "Late days", "Points lost", "Deadline", NULL
    };
    const Report *r = report;
    const Mark *end = r->mark + r->c->lessons;
    char title[64];
    snprintf(title, sizeof title, "Student %s", r->mark->student->pseudonym);
    Page *p = page_begin(f, r->style, title);
    write_total(p, r);
    page_table(p, true, "Lessons", headings);
    for (const Mark *m = r->mark; m < end; m++) write_row(p, r, m);
    page_table_end(p);
    write_meanings(p, r);
    for (const Mark *m = r->mark; m < end; m++) write_lesson(p, r, m);
    return page_end(p);
}
