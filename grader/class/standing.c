// What the results and the log say of a mark.
#define _GNU_SOURCE
#include "command.h"
#include "file.h"
#include "text.h"
#include "verdict.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double standing_points(const json_t *mark)
{
    return json_number_value(json_object_get(mark, "points"));
}

// A whole number stays one.
static json_t *number(double x)
{
    return x == floor(x) ? json_integer((json_int_t)x) : json_real(x);
}

// "h200", and the GPU beside it, if there was one.
static json_t *device_of(const json_t *result)
{
    char *gpu = gpus_say(result), *words = text_format("%s%s", text_of(result, "device"), gpu);
    json_t *both = json_string(words);
    free(gpu);
    free(words);
    return both;
}

json_t *standing_of_result(const Submission *s, const json_t *result)
{
    const json_t *by = json_object_get(result, "class"), *score = json_object_get(result, "score"),
                 *points = json_object_get(score, "speed"), *step = json_object_get(score, "step"),
                 *gold = json_object_get(score, "gold");
    if (!class_is_of(s, result)) return NULL;
    json_t *mark = json_pack("{ss ss ss ss so ss ss}", "hash", class_hash_of(result), "verdict",
                             text_of(result, "verdict"), "version", text_of(by, "version"),
                             "toolkit", text_of(by, "toolkit"), "device", device_of(result),
                             "token", text_of(by, "token"), "variant", text_of(result, "variant"));
    json_object_set_new(mark, "points",
                        json_integer(json_is_integer(points) ? json_integer_value(points) : 0));
    json_object_set_new(
        mark, "step", json_is_integer(step) ? json_integer(json_integer_value(step)) : json_null());
    json_object_set_new(mark, "gold",
                        json_is_boolean(gold) ? json_boolean(json_is_true(gold)) : json_null());
    return mark;
}

json_t *standing_read(const Submission *s, const char *path)
{
    json_t *result = json_load_file(path, 0, NULL), *mark = standing_of_result(s, result);
    json_decref(result);
    return mark;
}

const json_t *standing_override(const Submission *s)
{
    const json_t *line = log_last("override", s->pseudonym, s->lesson);
    return json_is_object(json_object_get(line, "new")) ? line : NULL;
}

const json_t *standing_released(const Submission *s)
{
    return log_last("release", s->pseudonym, s->lesson);
}

bool class_is_forgotten(const char *pseudonym) { return log_last("forget", pseudonym, NULL); }

json_t *standing_overridden(const Submission *s, json_t *mark)
{
    const json_t *line = standing_override(s);
    if (!mark || !line) return mark;
    json_object_set(mark, "points", json_object_get(json_object_get(line, "new"), "points"));
    json_object_set_new(mark, "overridden", json_true());
    return mark;
}

Submission standing_of(const Mark *m)
{
    Submission s = m->submission ? *m->submission : (Submission){ .time = NO_TIME };
    s.student = m->student->name;
    s.lesson = (char *)m->lesson;
    strcpy(s.pseudonym, m->student->pseudonym);
    return s;
}

json_t *standing_mark(const Mark *m)
{
    const Submission *of = m->submission;
    json_t *mark = json_copy(m->read);
    if (!mark) mark = json_pack("{ss sn sn}", "hash", of ? of->hash : "", "step", "gold");
    else json_object_set(mark, "found", json_object_get(mark, "points"));
    json_object_set_new(mark, "verdict", json_string(m->verdict));
    json_object_set_new(mark, "points", isnan(m->points) ? json_null() : number(m->points));
    json_object_set_new(mark, "graded", isnan(m->graded) ? json_null() : number(m->graded));
    if (m->overridden) json_object_set_new(mark, "overridden", json_true());
    return mark;
}

void standing_override_mark(Mark *m)
{
    Submission s = standing_of(m);
    const json_t *line = standing_override(&s);
    m->graded = m->points;
    if (!line) return;
    m->points = standing_points(json_object_get(line, "new"));
    m->overridden = json_string_value(json_object_get(line, "who"));
}

char *standing_words(const json_t *mark)
{
    const char *verdict = json_string_value(json_object_get(mark, "verdict"));
    double points = standing_points(mark);
    return text_format("%s, %.10g point%s%s", verdict ? verdict : "not graded", points,
                       points == 1 ? "" : "s",
                       json_object_get(mark, "overridden") ? " (overridden)" : "");
}

bool standing_may_stand(const Words *w, const Submission *s, const json_t *mark)
{
    const json_t *line = standing_released(s), *released = json_object_get(line, "new"),
                 *found = json_object_get(released, "found");
    const bool whole = json_object_get(mark, "graded"); // else it is a result's
    if (!line || (!whole && (!found || standing_override(s)))) return true;
    const double before = whole ? standing_points(released) : json_number_value(found);
    if (standing_points(mark) >= before) return true;
    char *name = command_name(s), *was = standing_words(released), *now = standing_words(mark);
    if (w->lower)
        printf("Lowered by %s: %s was released as %s, and is now %s\n", w->who, name, was, now);
    else
        printf("Kept: %s was released as %s, and would be %s. To lower it, add LOWER=1\n", name,
               was, now);
    free(name);
    free(was);
    free(now);
    return w->lower;
}

bool standing_is_fault(const json_t *mark)
{
    const char *word = json_string_value(json_object_get(mark, "verdict"));
    enum verdict v = word ? verdict_from_word(word) : VERDICT_GRADER_ERROR;
    return strcmp(word ? word : "", "REFUSED") != 0
        && (v == VERDICT_GRADER_ERROR || v == VERDICT_NODEVICE);
}
