// The instructor's page: what the class reached in each lesson, what went wrong most often, who is
// missing, and everybody's marks.
#define _GNU_SOURCE
#include "report.h"
#include "text.h"
#include "verdict.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 10, BEYOND = PARTS + 1, UNKNOWN, BINS, MOST_MISTAKES = 20 };

static void open_row(Page *p, const char *words)
{
    page_open(p, "tr");
    page_open(p, "th");
    page_attribute(p, "scope", "row");
    page_text(p, "%s", words);
    page_close(p);
}

static void open_linked_row(Page *p, const char *to, const char *words)
{
    page_open(p, "tr");
    page_open(p, "th");
    page_attribute(p, "scope", "row");
    page_link(p, to, words);
    page_close(p);
}

static void open_student_row(Page *p, const Class *c, const Student *s)
{
    char to[64];
    snprintf(to, sizeof to, "%s.html", s->pseudonym);
    open_linked_row(p, to, c->rules.hidden_names ? s->pseudonym : s->name);
}

// ---- All lessons: who passes, and the steps that are reached

static int most_steps(const Class *c)
{
    int most = -1;
    for (size_t n = 0; n < c->marks; n++)
        if (c->mark[n].step > most) most = c->mark[n].step;
    return most;
}

typedef struct LessonCounts {
    size_t passed, gold, step[MOST_STEPS + 1];
} LessonCounts;

static LessonCounts count_lesson(const Class *c, size_t lesson)
{
    LessonCounts counts = { 0 };
    for (size_t n = lesson; n < c->marks; n += c->lessons) {
        const Mark *m = &c->mark[n];
        counts.passed += strcmp(m->verdict, verdict_word(VERDICT_PASS)) == 0;
        counts.gold += m->gold > 0;
        if (m->step >= 0 && m->step <= MOST_STEPS) counts.step[m->step]++;
    }
    return counts;
}

static void write_lessons(Page *p, const Class *c)
{
    const char *headings[MOST_STEPS + 5] = { "Lesson", "Pass", "Gold" };
    char step[MOST_STEPS + 1][16];
    int steps = most_steps(c) > MOST_STEPS ? MOST_STEPS : most_steps(c);
    for (int n = 0; n <= steps; n++) {
        snprintf(step[n], sizeof step[n], "Step %d", n);
        headings[3 + n] = step[n];
    }
    page_heading(p, "lessons", "Lessons, by the steps reached");
    page_table(p, true, "Students who pass, have gold, and have reached a step and none beyond",
               headings);
    for (size_t l = 0; l < c->lessons; l++) {
        LessonCounts counts = count_lesson(c, l);
        const char *name = report_lesson(c->lesson[l]);
        char *to = text_format("#%s", name);
        open_linked_row(p, to, name);
        page_put(p, "td", "%zu", counts.passed);
        page_put(p, "td", "%zu", counts.gold);
        for (int n = 0; n <= steps; n++) page_put(p, "td", "%zu", counts.step[n]);
        page_close(p);
        free(to);
    }
    page_table_end(p);
}

// ---- Distributions

// 0, tenths of the full points, more than these, not known.
static void count_part(size_t bins[BINS], double points, double full)
{
    double tenths = PARTS * points / full;
    bins[isnan(points)           ? UNKNOWN
         : points <= 0           ? 0
         : tenths > PARTS + 1e-9 ? BEYOND
                                 : (int)ceil(tenths - 1e-9)]++;
}

static size_t most_of(const size_t *count, size_t counts)
{
    size_t most = 0;
    for (size_t n = 0; n < counts; n++)
        if (count[n] > most) most = count[n];
    return most;
}

static void write_bins(Page *p, const char *caption, const char *what, const size_t bins[BINS],
                       double full)
{
    const char *const headings[] = { what, "Students", NULL };
    const size_t most = most_of(bins, BINS);
    page_table(p, false, caption, headings);
    for (int n = 0; n < BINS; n++) {
        char words[NUMBER_BYTES];
        if (n > PARTS && !bins[n]) continue;
        table_number(full * n / PARTS, words);
        open_row(p, n == UNKNOWN ? "not known" : n == BEYOND ? "more" : words);
        page_count(p, bins[n], most);
        page_close(p);
    }
    page_table_end(p);
}

// ---- One lesson

// A verdict, and the step where there is one: a row of the table.
typedef struct Outcome {
    const char *verdict;
    int step;
    size_t count;
} Outcome;

static int rank_of(const char *verdict)
{
    enum verdict v = verdict_from_word(verdict);
    bool is_one = strcmp(verdict_word(v), verdict) == 0;
    return v == VERDICT_PASS ? -1 : is_one ? VERDICT_COUNT - (int)v : VERDICT_COUNT + 1;
}

// The best first: PASS and its highest step, then as far as verdicts stand from it.
static int by_rank(const void *a, const void *b)
{
    const Outcome *o = a, *q = b;
    int order = rank_of(o->verdict) - rank_of(q->verdict);
    if (!order) order = strcmp(o->verdict, q->verdict);
    return order ? order : q->step - o->step;
}

static size_t count_outcomes(const Class *c, size_t lesson, Outcome *outcome)
{
    size_t count = 0;
    for (size_t n = lesson; n < c->marks; n += c->lessons) {
        const Mark *m = &c->mark[n];
        size_t at = 0;
        while (at < count
               && (strcmp(outcome[at].verdict, m->verdict) != 0 || outcome[at].step != m->step))
            at++;
        if (at == count) outcome[count++] = (Outcome){ m->verdict, m->step, 0 };
        outcome[at].count++;
    }
    qsort(outcome, count, sizeof *outcome, by_rank);
    return count;
}

static void write_outcomes(Page *p, const Class *c, size_t lesson)
{
    static const char *const headings[] = { "Verdict", "Step", "Students", NULL };
    Outcome *outcome = calloc(c->students, sizeof *outcome);
    size_t count = count_outcomes(c, lesson, outcome), most = 0;
    char *caption = text_format("%s: verdicts", report_lesson(c->lesson[lesson]));
    page_table(p, false, caption, headings);
    for (size_t n = 0; n < count; n++)
        if (outcome[n].count > most) most = outcome[n].count;
    for (size_t n = 0; n < count; n++) {
        open_row(p, *outcome[n].verdict ? outcome[n].verdict : "not graded");
        report_whole(p, outcome[n].step);
        page_count(p, outcome[n].count, most);
        page_close(p);
    }
    page_table_end(p);
    free(caption);
    free(outcome);
}

static void write_points(Page *p, const Class *c, size_t lesson)
{
    size_t bins[BINS] = { 0 };
    char full[NUMBER_BYTES];
    for (size_t n = lesson; n < c->marks; n += c->lessons)
        if (strcmp(c->mark[n].verdict, "EXCUSED") != 0)
            count_part(bins, c->mark[n].points, c->mark[n].full);
    table_number(c->mark[lesson].full, full);
    char *caption = text_format("%s: points, of %s", report_lesson(c->lesson[lesson]), full);
    write_bins(p, caption, "Points up to", bins, c->mark[lesson].full);
    free(caption);
}

// Of one lesson, or of all (NULL).
static void write_mistakes(Page *p, const Report *r, const char *lesson, const char *caption)
{
    static const char *const headings[] = { "Mistake", "Lesson", "Students", NULL };
    size_t count = 0, most = 0;
    for (const Mistake *m = r->mistake; m < r->mistake + r->mistakes; m++) {
        if (lesson && strcmp(m->lesson, lesson) != 0) continue;
        if (count++ >= MOST_MISTAKES) continue;
        if (count == 1) {
            most = m->count;
            page_table(p, false, caption, headings);
        }
        open_row(p, m->words);
        page_put(p, "td", "%s", m->lesson);
        page_count(p, m->count, most);
        page_close(p);
    }
    if (count) page_table_end(p);
    else page_put(p, "p", "No file that was graded has a mistake.");
    if (count > MOST_MISTAKES)
        page_put(p, "p", "%zu other mistakes are less common.", count - MOST_MISTAKES);
}

static void write_lesson(Page *p, const Report *r, size_t lesson)
{
    const Class *c = r->c;
    const char *name = report_lesson(c->lesson[lesson]);
    char *caption = text_format("%s: mistakes", name);
    page_heading(p, name, name);
    page_open(p, "div");
    page_attribute(p, "class", "pair");
    write_outcomes(p, c, lesson);
    write_points(p, c, lesson);
    page_close(p);
    write_mistakes(p, r, c->lesson[lesson], caption);
    free(caption);
}

// ---- Students

static void write_lacking(Page *p, const Class *c)
{
    static const char *const headings[] = { "Student", "Lesson", "State", "Why", NULL };
    page_heading(p, "lacking", "Missing, refused, not trusted");
    page_table(p, true, "Marks without a verdict", headings);
    for (size_t n = 0; n < c->marks; n++) {
        const Mark *m = &c->mark[n];
        enum verdict v = verdict_from_word(m->verdict); // of what is no verdict it is GRADER_ERROR
        if ((v != VERDICT_GRADER_ERROR && v != VERDICT_NODEVICE)
            || strcmp(m->verdict, "EXCUSED") == 0)
            continue;
        open_student_row(p, c, m->student);
        page_put(p, "td", "%s", report_lesson(m->lesson));
        page_put(p, "td", "%s", *m->verdict ? m->verdict : "not graded");
        page_open(p, "td");
        report_refused(p, c, m, "");
        page_close(p);
        page_close(p);
    }
    page_table_end(p);
}

static void write_totals(Page *p, const Class *c)
{
    size_t bins[BINS] = { 0 };
    page_heading(p, "totals", "Totals");
    for (size_t n = 0; n < c->marks; n += c->lessons)
        count_part(bins, class_total(c, &c->mark[n]), 100);
    write_bins(p, "Totals, in per cent", "Per cent up to", bins, 100);
}

static void write_students(Page *p, const Class *c)
{
    const char **headings = calloc(c->lessons + 4, sizeof *headings);
    headings[0] = "Student";
    headings[1] = "Total (%)";
    headings[2] = "Late days spent";
    for (size_t l = 0; l < c->lessons; l++) headings[3 + l] = report_lesson(c->lesson[l]);
    page_heading(p, "students", "Students");
    page_table(p, true, "Points", headings);
    for (size_t n = 0; n < c->marks; n += c->lessons) {
        int spent = 0;
        for (size_t l = 0; l < c->lessons; l++) spent += c->mark[n + l].spent;
        open_student_row(p, c, c->mark[n].student);
        report_number(p, class_total(c, &c->mark[n]));
        report_whole(p, spent);
        for (size_t l = 0; l < c->lessons; l++) report_number(p, c->mark[n + l].points);
        page_close(p);
    }
    page_table_end(p);
    free(headings);
}

// ---- The page

static void write_subtitle(Page *p, const Report *r)
{
    const Class *c = r->c;
    page_open(p, "p");
    page_attribute(p, "class", "subtitle");
    page_text(p, "%zu students, %zu lessons, %zu submissions. ", c->students, c->lessons, c->count);
    if (c->rules.graded_pages) page_text(p, "The students' pages show what is graded.");
    else
        page_text(p, "The students' pages show what is released. Marks that are not: %zu of %zu.",
                  r->hidden, c->marks);
    page_close(p);
}

bool report_write_class(FILE *f, void *report)
{
    const Report *r = report;
    Page *p = page_begin(f, r->style, "The class");
    write_subtitle(p, r);
    write_lessons(p, r->c);
    write_totals(p, r->c);
    page_heading(p, "mistakes", "The commonest mistakes");
    write_mistakes(p, r, NULL, "All lessons: mistakes");
    write_lacking(p, r->c);
    write_students(p, r->c);
    for (size_t l = 0; l < r->c->lessons; l++) write_lesson(p, r, l);
    return page_end(p);
}
