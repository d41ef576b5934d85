#define _GNU_SOURCE
#include "climb.h"
#include "text.h"
#include <stdlib.h>
#include <string.h>

enum { STUCK = 2 };

static int whole(const json_t *object, const char *key, int otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (int)json_integer_value(value) : otherwise;
}

Climb climb_read(const char *result, const char *submission, const Ladder *ladder)
{
    Climb c = CLIMB_NONE;
    json_t *before = json_load_file(result, 0, NULL), *climb = json_object_get(before, "climb");
    const char *of = json_string_value(json_object_get(before, "submission"));
    if (of && strcmp(of, submission) == 0) {
        c.reached = whole(climb, "step", -1);
        c.runs = whole(climb, "runs", 0);
        c.asked = whole(climb, "asked", -1);
        c.said = json_number_value(json_object_get(climb, "said"));
        if (json_array_size(json_object_get(before, "claims"))) // it was right
            for (int s = 0; s <= ladder->steps; s++)
                c.before[s] = ladder_time(ladder, s, json_object_get(before, "checks"));
    }
    json_decref(before);
    return c;
}

void climb_ask(Climb *c, const Ladder *ladder, FILE *in, FILE *out)
{
    int next = c->reached + 1;
    if (next > ladder->steps || c->asked >= next) return;
    char *now = c->before[next] > 0 ? text_format("It takes %.1f µs now. ", c->before[next] / 1e3)
                                    : strdup(""),
         *line = NULL;
    const char *check = ladder_check(ladder, next);
    char *which = strcmp(check, ladder->check) ? text_spaced(check) : NULL;
    char *goal = next ? text_format("step %d is reached", next) : strdup("the answer is right");
    char *question = text_format("How many µs will a call%s%s take once %s? %s(Enter skips)",
                                 which ? " of " : "", which ? which : "", goal, now);
    text_paragraph(out, 0, question);
    fputs("  > ", out);
    fflush(out);
    size_t room = 0;
    c->asked = next;
    c->said = getline(&line, &room, in) > 0 ? strtod(line, NULL) : 0;
    if (!(c->said > 0 && c->said < 1e9)) c->said = 0;
    free(line);
    free(question);
    free(which);
    free(now);
    free(goal);
}

bool climb_was_predicted(const Climb *c, int step)
{
    return c->said > 0 && c->asked <= step && c->asked > c->reached;
}

bool climb_is_stuck(const Climb *c, int step) { return step == c->reached && c->runs >= STUCK; }

json_t *climb_json(const Climb *c, int step)
{
    bool right = step >= 0;
    int reached = right ? step : c->reached, runs = !right             ? c->runs
                                                  : step == c->reached ? c->runs + 1
                                                                       : 1;
    json_t *j = json_object();
    if (reached >= 0) {
        json_object_set_new(j, "step", json_integer(reached));
        json_object_set_new(j, "runs", json_integer(runs));
    }
    if (c->asked >= 0) json_object_set_new(j, "asked", json_integer(c->asked));
    if (c->said > 0) json_object_set_new(j, "said", json_real(c->said));
    return j;
}
