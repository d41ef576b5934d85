#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "verdict.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// What a submission's result says.
typedef struct Outcome {
    const char *verdict;
    int step, gold;      // -1: none
    double points;       // before it costs anything to be late; NAN: the grader failed
    const char *trusted; // a level of trust.c
    json_t *mark;        // as standing_read() has it; NULL: none
} Outcome;

// What the marks are made of: the simulated device's verdict and score, or, if class.cfg says so
// and the grader has come so far, those of both devices.
static json_t *what_counts(const Class *c, const Submission *s)
{
    json_t *result = json_load_file(s->result, 0, NULL), *gpu = json_object_get(result, "gpu");
    const char *word = json_string_value(json_object_get(gpu, "verdict"));
    enum verdict v = word ? verdict_from_word(word) : VERDICT_GRADER_ERROR;
    if (c->rules.gpu_counts && v != VERDICT_GRADER_ERROR && v != VERDICT_NODEVICE) {
        json_object_set(result, "verdict", json_object_get(gpu, "verdict"));
        json_object_set(result, "score", json_object_get(gpu, "score"));
        if (!gpus_is_right(result))
            json_object_set_new(json_object_get(result, "score"), "speed", json_null());
    }
    return result;
}

static Outcome read_outcome(const Class *c, const Submission *s, const LessonRule *l)
{
    Outcome o = { .verdict = "REFUSED", .step = -1, .gold = -1, .trusted = trust_word(NULL) };
    if (s->refused) return o;
    json_t *result = what_counts(c, s);
    o.verdict = "";
    o.points = NAN;
    o.mark = standing_of_result(s, result);
    if (o.mark) { // else it is of a file before this
        const json_t *step = json_object_get(o.mark, "step"),
                     *gold = json_object_get(o.mark, "gold");
        enum verdict v = verdict_from_word(text_of(o.mark, "verdict"));
        const bool right =
            json_is_integer(json_object_get(json_object_get(result, "score"), "speed"));
        o.verdict = verdict_word(v);
        if (json_is_integer(step)) o.step = (int)json_integer_value(step);
        if (json_is_boolean(gold)) o.gold = json_is_true(gold);
        o.trusted = trust_word(text_of(json_object_get(result, "class"), "trusted"));
        if (v == VERDICT_GRADER_ERROR || v == VERDICT_NODEVICE) o.points = NAN;
        else if (!right) o.points = 0;
        else if (l->steps < 0) o.points = standing_points(o.mark);
        else o.points = l->points[o.step < 0 ? 0 : o.step > l->steps ? l->steps : o.step];
        if (o.gold > 0 && !isnan(o.points)) o.points += l->gold;
        // Then the row says so, and has no mark.
        if (!trust_counts(o.trusted)) o = (Outcome){ "UNTRUSTED", -1, -1, NAN, o.trusted, o.mark };
    }
    json_decref(result);
    return o;
}

// The submissions of a student for a lesson, or what was refused as a whole, from c->submission.
static size_t find_range(const Class *c, const char *student, const char *lesson, size_t *first)
{
    size_t count = 0;
    for (size_t n = 0; n < c->count; n++) {
        if (strcmp(c->submission[n].student, student) || strcmp(c->submission[n].lesson, lesson))
            continue;
        if (!count++) *first = n;
    }
    if (!count && *lesson) return find_range(c, student, "", first);
    return count;
}

// Fills in a mark from the submissions of its student and lesson, and takes from the days that are
// left. Failures of the grader count as soon as they can: what is not known decides nothing.
static void mark(const Class *c, Mark *m, int *left)
{
    const StudentRule *rule = rules_of_student(&c->rules, m->student);
    const LessonRule *l = rules_of_lesson(&c->rules, m->lesson);
    time_t deadline = rules_deadline(l, rule);
    size_t first = 0, count = find_range(c, m->student->name, m->lesson, &first);
    m->full = l->steps < 0 ? 10 : l->points[l->steps];
    m->weight = l->weight;
    if (!count || rules_are_excused(rule, m->lesson)) {
        bool excused = rules_are_excused(rule, m->lesson);
        m->verdict = excused ? "EXCUSED" : "MISSING";
        m->points = excused ? NAN : 0;
        return;
    }
    Attempt *attempt = calloc(count, sizeof *attempt);
    Outcome *outcome = calloc(count, sizeof *outcome);
    bool failed = false;
    for (size_t n = 0; n < count; n++) {
        outcome[n] = read_outcome(c, &c->submission[first + n], l);
        const double points = outcome[n].points;
        attempt[n] = (Attempt){ isnan(points) ? 0 : points,
                                late_days(c->submission[first + n].time, deadline) };
        failed = failed || isnan(points);
    }
    size_t chosen = late_choose(&c->rules.late, attempt, count, *left, c->rules.latest);
    const Submission *s = m->submission = &c->submission[first + chosen];
    Outcome o = outcome[chosen];
    m->read = json_incref(o.mark);
    m->verdict = o.verdict;
    m->step = o.step;
    m->gold = o.gold;
    m->trusted = o.trusted;
    m->late_days = s->time == NO_TIME ? -1 : attempt[chosen].days;
    m->points = late_worth(&c->rules.late, o.points, attempt[chosen].days, *left, &m->spent);
    // The best is not known as long as one of them is not.
    if (isnan(o.points) || (failed && !c->rules.latest)) m->points = NAN;
    m->lost = o.points - m->points;
    *left -= m->spent;
    for (size_t n = 0; n < count; n++) json_decref(outcome[n].mark);
    free(outcome);
    free(attempt);
}

// ---- The lessons of a class

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_lesson(Class *c, const char *name)
{
    for (size_t n = 0; n < c->lessons; n++)
        if (strcmp(c->lesson[n], name) == 0) return;
    c->lesson = reallocarray(c->lesson, c->lessons + 1, sizeof *c->lesson);
    c->lesson[c->lessons++] = strdup(name);
}

// Those of class.cfg, or else those that somebody has handed in.
static void find_lessons(Class *c)
{
    for (size_t n = 0; n < c->rules.lessons; n++) add_lesson(c, c->rules.lesson[n].lesson);
    for (size_t n = 0; n < c->count && !c->rules.lessons; n++)
        if (*c->submission[n].lesson) add_lesson(c, c->submission[n].lesson);
    if (!c->lessons) add_lesson(c, "");
    qsort(c->lesson, c->lessons, sizeof *c->lesson, by_name);
}

static int by_deadline(const void *a, const void *b, void *class)
{
    const Class *c = class;
    const char *one = c->lesson[*(const size_t *)a], *two = c->lesson[*(const size_t *)b];
    time_t first = rules_of_lesson(&c->rules, one)->deadline,
           second = rules_of_lesson(&c->rules, two)->deadline;
    return first != second ? (first > second) - (first < second) : strcmp(one, two);
}

bool class_mark(Class *c)
{
    find_lessons(c);
    for (size_t n = 0; n < c->marks; n++) json_decref(c->mark[n].read); // of an earlier call
    free(c->mark);
    c->marks = c->students * c->lessons;
    c->mark = calloc(c->marks + 1, sizeof *c->mark);
    size_t *order = calloc(c->lessons, sizeof *order);
    if (!c->mark || !order) return false;
    for (size_t n = 0; n < c->lessons; n++) order[n] = n;
    qsort_r(order, c->lessons, sizeof *order, by_deadline, c);
    for (size_t s = 0; s < c->students; s++) {
        const StudentRule *rule = rules_of_student(&c->rules, &c->student[s]);
        int left = rule && rule->budget >= 0 ? rule->budget : c->rules.late.budget;
        for (size_t n = 0; n < c->lessons; n++) {
            Mark *m = &c->mark[s * c->lessons + order[n]];
            *m = (Mark){ .student = &c->student[s],
                         .lesson = c->lesson[order[n]],
                         .step = -1,
                         .gold = -1,
                         .late_days = -1,
                         .trusted = trust_word(NULL) };
            mark(c, m, &left);
            standing_override_mark(m);
        }
    }
    free(order);
    return true;
}

double class_total(const Class *c, const Mark *mark)
{
    double points = 0, weights = 0;
    for (size_t n = 0; n < c->lessons; n++) {
        const Mark *m = &mark[n];
        if (strcmp(m->verdict, "EXCUSED") == 0) continue;
        points += m->weight * m->points / m->full;
        weights += m->weight;
    }
    return weights > 0 ? 100 * points / weights : NAN;
}
