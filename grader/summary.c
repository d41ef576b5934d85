// The tables below list what a summary keeps of a result; the rest of the file reads, writes and
// lays it out.
#include "summary.h"
#include "file.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
static const char *const version_keys[] = { "verdict", "score", "device", NULL };
static const char *const gpu_keys[] = { "device", "driver", "toolkit", "date", "compute_capability", "passed",
                                        "checks", NULL };
static const char *const timing_keys[] = { "name", "measure", "peer", "ratio", "spread", "from", "to", "at_least",
                                           "gold", "verdict", "rate", "peer_rate", "limit", "missing", NULL };
static const char *const measured_keys[] = { "tries", "ratios", "student", "peer", "missing", NULL };
static const char *const claim_keys[] = { "name", "check", "counters", "sum", "by", "value", "unit", "at_least",
                                          "at_most", "gold", "verdict", "estimate", NULL };
// clang-format on

// Whether a real number is a whole one, and small enough to be counted exactly.
static bool is_whole(double x) { return x > -1e15 && x < 1e15 && x == (double)(json_int_t)x; }

// A copy whose whole numbers are integers: counts keep all their digits, measured numbers six.
static json_t *copy(const json_t *from)
{
    const char *key;
    json_t *to, *value;
    size_t i;
    if (json_is_object(from)) {
        to = json_object();
        json_object_foreach((json_t *)from, key, value) json_object_set_new(to, key, copy(value));
    } else if (json_is_array(from)) {
        to = json_array();
        json_array_foreach(from, i, value) json_array_append_new(to, copy(value));
    } else if (json_is_real(from) && is_whole(json_real_value(from))) {
        to = json_integer((json_int_t)json_real_value(from));
    } else {
        to = json_copy((json_t *)from);
    }
    return to;
}

// The members of an object that `keys` lists, in that order.
static json_t *pick(const json_t *from, const char *const *keys)
{
    json_t *to = json_object();
    for (; *keys; keys++)
        if (json_object_get(from, *keys))
            json_object_set_new(to, *keys, copy(json_object_get(from, *keys)));
    return to;
}

static json_t *pick_each(const json_t *list, const char *const *keys)
{
    json_t *to = json_array(), *one;
    size_t i;
    json_array_foreach(list, i, one) json_array_append_new(to, pick(one, keys));
    return to;
}

// What a summary keeps of the records of a GPU's run: those of a Measure().
static json_t *measurements(const json_t *records)
{
    json_t *to = json_array(), *record, *measured;
    size_t i;
    json_array_foreach(records, i, record)
    {
        const char *peer;
        json_t *peers = json_object(), *all = json_object_get(record, "measured");
        json_object_foreach(all, peer, measured)
            json_object_set_new(peers, peer, pick(measured, measured_keys));
        if (all)
            json_array_append_new(to, json_pack("{sOso}", "check", json_object_get(record, "check"),
                                                "measured", peers));
        else json_decref(peers);
    }
    return to;
}

json_t *summary_of(const json_t *result, const char *lesson, int version, const char **problem)
{
    const json_t *gpu = json_object_get(result, "gpu");
    const char *of = json_string_value(json_object_get(result, "lesson"));
    *problem = !of                  ? "is no result"
             : strcmp(of, lesson)   ? "is the result of another lesson"
             : !json_is_object(gpu) ? "is not of a run on a GPU"
                                    : NULL;
    if (*problem) return NULL;

    json_t *its = pick(gpu, gpu_keys);
    json_object_set_new(its, "timings", pick_each(json_object_get(gpu, "timings"), timing_keys));
    json_object_set_new(its, "records", measurements(json_object_get(gpu, "records")));
    json_t *summary = json_pack("{si}", "version", version), *head = pick(result, version_keys);
    json_object_update(summary, head);
    json_decref(head);
    json_object_set_new(summary, "gpu", its);
    json_object_set_new(summary, "claims",
                        pick_each(json_object_get(result, "claims"), claim_keys));
    return summary;
}

const char *summary_read(const char *path, const char *lesson, json_t *versions[SUMMARY_VERSIONS])
{
    json_error_t error;
    json_t *summary = json_load_file(path, 0, &error), *one;
    if (!summary && json_error_code(&error) == json_error_cannot_open_file) return NULL;
    if (!summary) return text_format("%s:%d: %s", path, error.line, error.text);

    const char *of = json_string_value(json_object_get(summary, "lesson")), *problem = NULL;
    json_t *list = json_object_get(summary, "versions");
    if (!of || strcmp(of, lesson) || !json_is_array(list))
        problem = text_format("%s: is no summary of %s", path, lesson);
    size_t i;
    json_array_foreach(list, i, one)
    {
        json_int_t v = json_integer_value(json_object_get(one, "version"));
        if (v < 1 || v > SUMMARY_VERSIONS)
            problem =
                text_format("%s: has a version that is none of 1 to %d", path, SUMMARY_VERSIONS);
        else if (!problem) versions[v - 1] = json_incref(one);
    }
    json_decref(summary);
    return problem;
}

// ---- The layout: a row for whatever nests at most two deep, but a row an element in a list of
// objects

static int depth(const json_t *json)
{
    const char *key;
    json_t *value;
    size_t i;
    int most = 0, here;
    json_object_foreach((json_t *)json, key, value) if ((here = depth(value)) > most) most = here;
    json_array_foreach(json, i, value) if ((here = depth(value)) > most) most = here;
    return json_is_object(json) || json_is_array(json) ? most + 1 : 0;
}

static bool is_row(const json_t *json) { return depth(json) <= (json_is_array(json) ? 1 : 2); }

static void lay_out(FILE *f, const json_t *json, int indent)
{
    const char *key, *between = "\n";
    json_t *value;
    size_t i;
    if (is_row(json)) {
        json_dumpf(json, f, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
        return;
    }
    putc(json_is_array(json) ? '[' : '{', f);
    json_array_foreach(json, i, value)
    {
        fprintf(f, "%s%*s", between, indent + 1, "");
        lay_out(f, value, indent + 1);
        between = ",\n";
    }
    json_object_foreach((json_t *)json, key, value)
    {
        fprintf(f, "%s%*s\"%s\": ", between, indent + 1, "", key);
        lay_out(f, value, indent + 1);
        between = ",\n";
    }
    fprintf(f, "\n%*s%c", indent, "", json_is_array(json) ? ']' : '}');
}

static bool write_summary(FILE *f, void *summary)
{
    lay_out(f, summary, 0);
    return putc('\n', f) != EOF && !ferror(f);
}

bool summary_write(const char *path, const char *lesson, json_t *const versions[SUMMARY_VERSIONS])
{
    json_t *list = json_array();
    for (int v = 0; v < SUMMARY_VERSIONS; v++)
        if (versions[v]) json_array_append(list, versions[v]);
    json_t *summary = json_pack("{si ss so}", "schema", 1, "lesson", lesson, "versions", list);
    bool good = file_write(path, write_summary, summary);
    json_decref(summary);
    return good;
}
