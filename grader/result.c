// From records and claims to one verdict, and to the JSON result.
#define _GNU_SOURCE
#include "result.h"
#include "diagnosis.h"
#include "run.h"
#include "text.h"
#include "variant.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

// The file that was handed out (solutions/strip.awk), and the submission: the same bytes? Wherever
// the grader was called: the environment has the project's root (run_export).
static bool is_as_handed_out(const Result *r)
{
    FILE *given = popen("awk -f \"$WARPWISE_ROOT\"/solutions/strip.awk "
                        "\"$WARPWISE_ROOT/solutions/$WARPWISE_LESSON.cu\" 2>/dev/null",
                        "re"),
         *file = fopen(r->submission, "re");
    int a = 0, b = 0;
    while (given && file && a == b && a != EOF) {
        a = getc(given);
        b = getc(file);
    }
    if (given) pclose(given);
    if (file) fclose(file);
    return a == b;
}

static void look_for_todo(Result *r, const char *line, int number)
{
    const char *todo = strstr(line, "TODO");
    if (!todo || strncmp(line + strspn(line, " \t"), "//>", 3) == 0)
        return; // a solution's marker is nobody's task
    if (r->todos++) return;
    r->todo_line = number;
    r->todo = text_clean(todo);
}

// Blanks the comments of a line. `within`: one that began in an earlier line goes on, then and
// after.
static void blank_comments(char *line, bool *within)
{
    for (char *c = line; *c; c++) {
        bool ends = *within && c[0] == '*' && c[1] == '/';
        if (!*within && c[0] == '/' && c[1] == '/') {
            *c = 0;
            return;
        }
        if (ends || (!*within && c[0] == '/' && c[1] == '*')) {
            *within = !ends;
            *c++ = ' ';
            *c = ' ';
        } else if (*within) {
            *c = ' ';
        }
    }
}

void result_read_source(Result *r)
{
    FILE *f = fopen(r->submission, "re");
    char *line = NULL;
    size_t room = 0;
    bool within = false, reads = false;
    for (int number = 1; f && getline(&line, &room, f) >= 0; number++) {
        line[strcspn(line, "\r\n")] = 0;
        look_for_todo(r, line, number);
        blank_comments(line, &within);
        if (!r->unread_line && strstr(line, "<<<")) r->unread_line = number;
        reads = reads || strstr(line, "cudaGetLastError") || strstr(line, "cudaPeekAtLastError");
    }
    free(line);
    if (f) fclose(f);
    if (reads) r->unread_line = 0;
    r->touched = r->todos && !is_as_handed_out(r);
}

static const json_t *record_of(const json_t *records, const char *check)
{
    size_t i;
    json_t *record;
    json_array_foreach(
        records, i, record) if (strcmp(json_string_value(json_object_get(record, "check")), check)
                                == 0) return record;
    return NULL;
}

static Finding judge_claim(const Result *r, const Claim *claim)
{
    const json_t *record = record_of(r->records, claim->check);
    if (record) return claim_judge(claim, record);
    char *words = text_format("The claim '%s' is about a check '%s', which does not exist.",
                              claim->name, claim->check);
    return (Finding){ .claim = claim, .verdict = VERDICT_GRADER_ERROR, .words = words };
}

// Takes away the steps that are missed, besides those that were before.
static void miss(Result *r, unsigned missed)
{
    r->missed |= missed;
    r->step = ladder_step(r->ladder, r->missed);
    r->speed = ladder_points(r->ladder, r->step);
}

static void judge_claims(Result *r, const Profile *profile)
{
    for (size_t i = 0; i < profile->claims; i++) {
        Finding *f = &r->finding[r->findings++];
        *f = judge_claim(r, &profile->claim[i]);
        if (f->verdict < r->behind) r->behind = f->verdict;
    }
    r->speed = r->findings ? claims_speed(r->finding, r->findings) : -1;
    r->ladder = profile->ladder.steps ? &profile->ladder : NULL;
    if (r->ladder) miss(r, claims_missed(r->finding, r->findings));
}

// Gold of all bounds together, where there is a PASS.
static void judge_gold(Result *r)
{
    enum gold claims = claims_gold(r->finding, r->findings);
    enum gold targets = r->gpu ? targets_gold(r->gpu->timing, r->gpu->timings) : GOLD_NONE;
    bool missed = claims == GOLD_MISSED || targets == GOLD_MISSED;
    r->gold = r->verdict != VERDICT_PASS ? GOLD_NONE
            : missed                     ? GOLD_MISSED
            : claims == GOLD_KEPT        ? GOLD_KEPT
                                         : targets;
}

void result_judge(Result *r, const Profile *profile)
{
    size_t i;
    json_t *record;
    r->speed = -1;
    r->checks = json_array_size(r->records);
    json_array_foreach(r->records, i, record) r->passed += record_verdict(record) == VERDICT_PASS;
    r->record = diagnose_record(r->records);
    r->fact = record_deciding_fact(r->record);
    r->behind = r->fact ? fact_verdict(r->fact) : VERDICT_PASS;
    if (r->checks == 0) {
        result_refuse(r, fact_new(VERDICT_GRADER_ERROR, "no check ran", NULL, NULL));
        return;
    }
    if (ladder_mends(&profile->ladder)) {
        r->ladder = &profile->ladder;
        miss(r, checks_missed(r->ladder, r->records));
    }
    if (r->behind == VERDICT_PASS) judge_claims(r, profile);
    r->verdict = verdict_with_todo(r->behind, r->todos > 0);
    judge_gold(r);
}

static void judge_timings(Result *r, const Profile *profile)
{
    GpuRun *g = r->gpu;
    for (size_t i = 0; i < profile->targets; i++) {
        const json_t *record = record_of(g->records, profile->target[i].measure);
        Timing *t = &g->timing[g->timings++];
        *t = target_judge(&profile->target[i], record, &g->gpu);
        if (t->verdict < r->behind) r->behind = t->verdict;
    }
    int speed = targets_speed(g->timing, g->timings);
    if (r->ladder) miss(r, targets_missed(g->timing, g->timings));
    else if (g->timings && (r->speed < 0 || speed < r->speed)) r->speed = speed;
}

void result_judge_gpu(Result *r, const Profile *profile)
{
    size_t i;
    json_t *record;
    json_array_foreach(r->gpu->records, i, record)
    {
        enum verdict v = record_verdict(record);
        bool timed = json_object_get(record, "measured");
        r->gpu->checks += !timed;
        r->gpu->passed += !timed && v == VERDICT_PASS;
        if (v != VERDICT_PASS && (!r->fact || v < fact_verdict(r->fact))) {
            r->behind = v;
            r->record = record;
            r->fact = record_deciding_fact(record);
        }
    }
    if (r->ladder) miss(r, checks_missed(r->ladder, r->gpu->records));
    if (!r->fact) judge_timings(r, profile);
    r->verdict = verdict_with_todo(r->behind, r->todos > 0);
    judge_gold(r);
}

void result_refuse(Result *r, json_t *fact)
{
    r->fact = fact;
    r->speed = -1;
    r->ladder = NULL;
    r->gold = GOLD_NONE;
    r->verdict = r->behind = fact_verdict(fact);
}

static json_t *bound(double x) { return isinf(x) ? json_null() : json_real(x); }

static json_t *finding_json(const Finding *f)
{
    json_t *counters = json_array();
    for (size_t i = 0; i < f->claim->counters; i++)
        json_array_append_new(counters, json_string(f->claim->counter[i]));

    json_t *j =
        json_pack("{ss ss so ss sf sf sf so so so ss sb ss}", "name", f->claim->name, "check",
                  f->claim->check, "counters", counters, "unit", claim_unit(f->claim), "sum",
                  isfinite(f->sum) ? f->sum : -1.0, "by", isfinite(f->by) ? f->by : -1.0, "value",
                  isfinite(f->value) ? f->value : -1.0, "at_least", bound(f->claim->at_least),
                  "at_most", bound(f->claim->at_most), "gold", bound(f->claim->gold), "verdict",
                  verdict_word(f->verdict), "estimate", f->estimate, "why", f->claim->why);
    if (f->words) json_object_set_new(j, "words", json_string(f->words));
    if (f->claim->step) json_object_set_new(j, "step", json_integer(f->claim->step));
    if (f->file)
        json_object_set_new(j, "place", json_pack("{sssi}", "file", f->file, "line", f->line));
    return j;
}

static json_t *checks_json(const json_t *records)
{
    json_t *checks = json_array(), *record;
    size_t i;
    json_array_foreach(records, i, record)
    {
        json_t *check = json_copy(record);
        json_object_set_new(check, "verdict", json_string(verdict_word(record_verdict(record))));
        json_array_append_new(checks, check);
    }
    return checks;
}

static json_t *timing_json(const Timing *t)
{
    json_t *j = json_pack("{ss ss ss sf sf sf sf sf so ss ss sf sf sf}", "name", t->target->name,
                          "measure", t->target->measure, "peer", t->target->peer, "ratio",
                          t->ratio.median, "spread", t->ratio.spread, "from", t->ratio.from, "to",
                          t->ratio.to, "at_least", t->target->at_least, "gold",
                          bound(t->target->gold), "verdict", verdict_word(t->verdict), "why",
                          t->target->why, "rate", isfinite(t->rate) ? t->rate : 0.0, "peer_rate",
                          isfinite(t->peer_rate) ? t->peer_rate : 0.0, "limit", t->limit);
    if (t->words) json_object_set_new(j, "words", json_string(t->words));
    if (t->missing) json_object_set_new(j, "missing", json_string(t->missing));
    return j;
}

static void print_time(const Result *r, int number, FILE *out)
{
    static const char *const words[] = { [GOLD_MISSED] = "false", [GOLD_KEPT] = "true" };
    size_t timings = r->gpu ? r->gpu->timings : 0;
    for (size_t n = 0; n == 0 || n < timings; n++) {
        const Timing *t = n < timings ? &r->gpu->timing[n] : NULL;
        fprintf(out, "time,%d,%s,", number, verdict_word(r->verdict));
        if (r->ladder) fprintf(out, "%d", r->step);
        fprintf(out, ",%s,", r->gold == GOLD_NONE ? "" : words[r->gold]);
        if (t)
            fprintf(out, "%.6g,%.6g,%.6g,%.6g,%.6g,%s,\"%s\"\n", t->ratio.median, t->ratio.from,
                    t->ratio.to, t->target->at_least, t->target->gold, verdict_word(t->verdict),
                    t->target->name);
        else fputs(",,,,,,\n", out);
    }
    fflush(out);
}

// Takes the `n`th of the times before the last out of what was measured: each peer's takes the last
// one's place, if there is such a time.
static void take_time(json_t *records, int n)
{
    size_t i;
    const char *peer;
    json_t *record, *last;
    json_array_foreach(records, i, record)
        json_object_foreach(json_object_get(record, "measured"), peer, last)
    {
        json_t *once = json_array_get(json_object_get(last, "before"), (size_t)n);
        if (once) json_object_update(last, once);
    }
}

void result_print_times(const Result *r, const Profile *profile, int times, FILE *out)
{
    for (int n = 0; n < times; n++) {
        GpuRun gpu = *r->gpu;
        Result once = *r;
        once.gpu = &gpu;
        gpu.records = json_deep_copy(r->gpu->records);
        take_time(gpu.records, n);
        result_judge_gpu(&once, profile);
        print_time(&once, n + 1, out);
        json_decref(gpu.records);
    }
}

static json_t *gpu_json(const GpuRun *g)
{
    char *capability = text_format("%d.%d", g->gpu.major, g->gpu.minor);
    json_t *timings = json_array();
    for (size_t i = 0; i < g->timings; i++)
        json_array_append_new(timings, timing_json(&g->timing[i]));
    json_t *j =
        json_pack("{ss ss ss? ss ss sb si si so so}", "device", g->gpu.name, "driver",
                  g->gpu.driver, "toolkit", g->toolkit, "date", g->date, "compute_capability",
                  capability, "owns_memory", run_owns_gpu_memory(), "passed", (int)g->passed,
                  "checks", (int)g->checks, "timings", timings, "records", checks_json(g->records));
    if (*g->gpu.one[0].uuid) json_object_set_new(j, "uuid", json_string(g->gpu.one[0].uuid));
    if (g->scrubbed) json_object_set_new(j, "scrubbed", json_integer((json_int_t)g->scrubbed));
    free(capability);
    return j;
}

json_t *result_json(const Result *r)
{
    json_t *claims = json_array();
    for (size_t i = 0; i < r->findings; i++)
        json_array_append_new(claims, finding_json(&r->finding[i]));

    json_t *j =
        json_pack("{si ss si ss ss ss ss ss s{si si so so} so so}", "schema", 1, "lesson",
                  r->lesson, "number", atoi(r->lesson), "submission", r->submission, "device",
                  r->device, "seed", r->seed, "verdict", verdict_word(r->verdict), "behind",
                  verdict_word(r->behind), "score", "passed", (int)r->passed, "checks",
                  (int)r->checks, "speed", r->speed < 0 ? json_null() : json_integer(r->speed),
                  "gold", r->gold == GOLD_NONE ? json_null() : json_boolean(r->gold == GOLD_KEPT),
                  "claims", claims, "checks", checks_json(r->records));
    if (r->ladder) {
        json_t *score = json_object_get(j, "score");
        json_object_set_new(score, "step", json_integer(r->step));
        json_object_set_new(score, "steps", json_integer(r->ladder->steps));
    }
    json_t *climb = climb_json(&r->climb, r->ladder ? r->step : -1);
    if (json_object_size(climb)) json_object_set_new(j, "climb", climb);
    else json_decref(climb);
    if (*variant_word()) json_object_set_new(j, "variant", json_string(variant_word()));
    if (r->fact) json_object_set(j, "fact", (json_t *)r->fact);
    if (r->gpu) json_object_set_new(j, "gpu", gpu_json(r->gpu));
    if (r->unread_line) json_object_set_new(j, "unread", json_integer(r->unread_line));
    if (r->todos)
        json_object_set_new(j, "todo", json_pack("{siss}", "line", r->todo_line, "words", r->todo));
    return j;
}
