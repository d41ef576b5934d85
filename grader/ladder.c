// The ladder of a lesson: which step an answer has reached, and whether the versions of the
// solution climb it as the profile says.
#include "claims.h"
#include "device.h"
#include "record.h"
#include "text.h"
#include <math.h>
#include <string.h>

unsigned claims_missed(const Finding *findings, size_t count)
{
    unsigned missed = 0;
    for (size_t i = 0; i < count; i++)
        if (findings[i].verdict == VERDICT_SLOW) missed |= 1u << (findings[i].claim->step - 1);
    return missed;
}

unsigned targets_missed(const Timing *timings, size_t count)
{
    unsigned missed = 0;
    for (size_t i = 0; i < count; i++)
        if (timings[i].verdict == VERDICT_SLOW) missed |= 1u << (timings[i].target->step - 1);
    return missed;
}

static bool is_of(const Step *s, const char *check)
{
    for (size_t i = 0; i < s->checks; i++)
        if (strcmp(s->check[i], check) == 0) return true;
    return false;
}

unsigned checks_missed(const Ladder *l, const json_t *records)
{
    unsigned missed = 0;
    size_t i;
    json_t *record;
    json_array_foreach(
        records, i,
        record) if (record_verdict(record)
                    != VERDICT_PASS) for (int s = 0; s < l->steps;
                                          s++) if (is_of(&l->step[s],
                                                         json_string_value(json_object_get(
                                                             record, "check")))) missed |= 1u << s;
    return missed;
}

bool ladder_mends(const Ladder *l) { return l->steps && l->step[0].checks; }

int ladder_step(const Ladder *l, unsigned missed)
{
    int step = 0;
    for (int s = 0; s < l->steps; s++) {
        bool is_missed = missed >> s & 1;
        if (is_missed && !ladder_mends(l)) break;
        step += !is_missed;
    }
    return step;
}

int ladder_points(const Ladder *l, int step)
{
    return ladder_mends(l) ? 10 * step / l->steps : 5 + 5 * step / l->steps;
}

const char *ladder_check(const Ladder *l, int step)
{
    bool own = step > 0 && step <= l->steps && l->step[step - 1].shortens;
    return own ? l->step[step - 1].shortens : l->check;
}

static const json_t *record_of(const char *name, const json_t *records)
{
    size_t i;
    json_t *check;
    json_array_foreach(
        records, i,
        check) if (strcmp(json_string_value(json_object_get(check, "check")), name) == 0
                   && json_number_value(json_object_get(check, "calls")) > 0) return check;
    return NULL;
}

static double per_call(const json_t *record, double all)
{
    return record ? all / json_number_value(json_object_get(record, "calls")) : 0;
}

bool ladder_is_whole(const Ladder *l, int step, const json_t *records)
{
    return device_time_is_whole(record_of(ladder_check(l, step), records));
}

double ladder_time(const Ladder *l, int step, const json_t *records)
{
    const json_t *r = record_of(ladder_check(l, step), records);
    return per_call(r, device_time(r));
}

double ladder_least_time(const Ladder *l, int step, const json_t *records, const char *root,
                         const char *device)
{
    const json_t *r = record_of(ladder_check(l, step), records);
    return per_call(r, device_least(root, device, r));
}

static int step_of(const json_t *result)
{
    return (int)json_integer_value(json_object_get(json_object_get(result, "score"), "step"));
}

// Version `version` has reached the step, or, if not `due`, has not.
static size_t hold_step(const Ladder *l, int step, int version, bool due, const json_t *result,
                        FILE *out, size_t *held)
{
    if (!result) return 0;
    ++*held;
    if ((step_of(result) >= step) == due) return 0;
    fprintf(out, "step %d: version %d is the first to reach it, says the profile; version %d %s\n",
            step, l->step[step - 1].version, version,
            due ? text_format("reaches step %d", step_of(result)) : "reaches it, too");
    return 1;
}

// The value of that claim in a result.
static double claim_value(const json_t *result, const char *name)
{
    size_t i;
    json_t *claim;
    json_array_foreach(json_object_get(result, "claims"), i, claim)
    {
        if (strcmp(json_string_value(json_object_get(claim, "name")), name) == 0)
            return json_number_value(json_object_get(claim, "value"));
    }
    return NAN;
}

static size_t hold_value(const char *claim, int before, int after, json_t *const *results,
                         FILE *out, size_t *held)
{
    if (!results[before - 1] || !results[after - 1] || before == after) return 0;
    ++*held;
    double more = claim_value(results[before - 1], claim),
           less = claim_value(results[after - 1], claim);
    if (more >= 1.15 * less) return 0;
    fprintf(out, "version %d has %g of '%s', and version %d %g: a step is 1.15 times less\n", after,
            less, claim, before, more);
    return 1;
}

static size_t hold_time(const Ladder *l, int step, int before, int after, json_t *const *results,
                        FILE *out, size_t *held)
{
    const json_t *slow = json_object_get(results[before - 1], "checks"),
                 *fast = json_object_get(results[after - 1], "checks");
    if (!slow || !fast || before == after) return 0;
    ++*held;
    double ratio = ladder_time(l, step, slow) / ladder_time(l, step, fast);
    if (ratio >= 1.15) return 0;
    fprintf(out, "version %d is predicted %.2f times as fast as version %d, and a step is 1.15\n",
            after, ratio, before);
    return 1;
}

size_t ladder_hold(const Ladder *l, json_t *const *results, size_t count, FILE *out, size_t *held)
{
    size_t wrong = 0;
    int before = 1;
    for (int s = 1; s <= l->steps + (l->gold > 0); s++) {
        int version = s > l->steps ? l->gold : l->step[s - 1].version;
        if ((size_t)version > count) {
            fprintf(out, "there is no version %d, which the ladder has\n", version);
            ++*held;
            return wrong + 1;
        }
        const char *lessens = s > l->steps ? NULL : l->step[s - 1].lessens;
        wrong += lessens ? hold_value(lessens, before, version, results, out, held)
                         : hold_time(l, s, before, version, results, out, held);
        before = version;
        if (s > l->steps) break;
        wrong += hold_step(l, s, version, true, results[version - 1], out, held);
        if (version > 1)
            wrong += hold_step(l, s, version - 1, false, results[version - 2], out, held);
    }
    return wrong;
}
