// Claims: read from the lesson's profile, judged on a record's counters, and
// explained by the source line that is to blame.
#define _GNU_SOURCE
#include "claims.h"
#include "peer.h"
#include "protocol.h"
#include "text.h"
#include <libconfig.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// ---- Reading ----

static bool read_number(config_setting_t *group, const char *name, double *value)
{
    config_setting_t *s = config_setting_get_member(group, name);
    if (!s) return false;
    int type = config_setting_type(s);
    *value = type == CONFIG_TYPE_FLOAT ? config_setting_get_float(s)
           : type == CONFIG_TYPE_INT   ? config_setting_get_int(s)
           : type == CONFIG_TYPE_INT64 ? (double)config_setting_get_int64(s)
                                       : NAN;
    return true;
}

static const char *read_text(config_setting_t *group, const char *name)
{
    const char *text = NULL;
    config_setting_lookup_string(group, name, &text);
    return text ? strdup(text) : NULL;
}

static void read_counters(config_setting_t *group, Claim *c)
{
    config_setting_t *s = config_setting_get_member(group, "counter");
    if (!s) return;
    if (config_setting_type(s) == CONFIG_TYPE_STRING) {
        c->counter[c->counters++] = strdup(config_setting_get_string(s));
        return;
    }
    for (int i = 0; i < config_setting_length(s) && i < CLAIM_COUNTERS_MAX; i++) {
        const char *name = config_setting_get_string_elem(s, i);
        if (name) c->counter[c->counters++] = strdup(name);
    }
}

static const char *known_key(const char *key, const char *const *keys)
{
    for (; *keys; keys++)
        if (strcmp(key, *keys) == 0) return key;
    return NULL;
}

// A misspelt key would be a claim that is never made: refused.
static const char *unknown_key(config_setting_t *group, const char *const *keys)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const char *key = config_setting_name(config_setting_get_elem(group, i));
        if (!known_key(key, keys)) return key;
    }
    return NULL;
}

// A whole number from 1; 0 where there is none, -1 where it is something else.
static int read_version(config_setting_t *group, const char *name)
{
    double value;
    if (!read_number(group, name, &value)) return 0;
    return value >= 1 && value == (int)value ? (int)value : -1;
}

// What is amiss with the versions that a bound names, or NULL.
static const char *versions_problem(const char *name, int version, bool bound, int gold_version,
                                    bool gold)
{
    if (version < 0 || gold_version < 0)
        return text_format("'%s' has a version that is no whole number from 1", name);
    if (version && !bound)
        return text_format("'%s' has a version, but no bound that it could be the first to keep",
                           name);
    if (gold != (gold_version > 0))
        return text_format("'%s' needs gold and gold_version together", name);
    if (gold_version && gold_version < version)
        return text_format("'%s' has gold in a version that does not pass", name);
    return NULL;
}

static const char *read_cause(config_setting_t *group, Cause *c)
{
    static const char *const keys[] = { "counter", "more_than", "less_than", "slow", "next", NULL };
    const char *stranger = unknown_key(group, keys);
    if (stranger) return text_format("a cause has no '%s'", stranger);

    *c = (Cause){ .counter = read_text(group, "counter"),
                  .slow = read_text(group, "slow"),
                  .next = read_text(group, "next"),
                  .more_than = INFINITY,
                  .less_than = -INFINITY };
    bool more = read_number(group, "more_than", &c->more_than),
         less = read_number(group, "less_than", &c->less_than);
    return c->counter && c->slow && c->next && more != less
             ? NULL
             : "a cause needs counter, slow, next, and more_than or less_than";
}

static const char *read_causes(config_setting_t *list, Claim *c)
{
    for (int i = 0; list && i < config_setting_length(list); i++) {
        if (c->causes == CLAIM_CAUSES_MAX) return "a claim has too many causes";
        const char *problem = read_cause(config_setting_get_elem(list, i), &c->cause[c->causes++]);
        if (problem) return problem;
    }
    return NULL;
}

static const char *read_claim(config_setting_t *group, Claim *c)
{
    static const char *const keys[] = { "name",         "check",   "counter", "per",
                                        "at_least",     "at_most", "version", "gold",
                                        "gold_version", "why",     "suspect", "slow",
                                        "again",        "next",    "causes",  NULL };
    const char *stranger = unknown_key(group, keys);
    if (stranger) return text_format("a claim has no '%s'", stranger);

    *c = (Claim){
        .name = read_text(group, "name"),
        .check = read_text(group, "check"),
        .per = read_text(group, "per"),
        .why = read_text(group, "why"),
        .suspect = read_text(group, "suspect"),
        .slow = read_text(group, "slow"),
        .next = read_text(group, "next"),
        .again = read_text(group, "again"),
        .at_least = -INFINITY,
        .at_most = INFINITY,
        .gold = INFINITY,
        .version = read_version(group, "version"),
        .gold_version = read_version(group, "gold_version"),
    };
    read_counters(group, c);
    bool least = read_number(group, "at_least", &c->at_least);
    bool most = read_number(group, "at_most", &c->at_most);
    bool gold = read_number(group, "gold", &c->gold);

    if (!c->name || !c->check || !c->per || !c->why || !c->counters)
        return "a claim needs name, check, counter, per and why";
    if (text_columns(c->name) > 24)
        return text_format("the claim '%s' has a name longer than 24", c->name);
    if (!least && !most && !gold)
        return text_format("the claim '%s' needs at_least, at_most or gold", c->name);
    if (isnan(c->at_least) || isnan(c->at_most) || !(c->at_least <= c->at_most))
        return text_format("the claim '%s' has bounds that are no range", c->name);
    if (!(c->gold >= c->at_least) || (gold && !(c->gold <= c->at_most)))
        return text_format("the claim '%s' has gold outside its bounds", c->name);
    if ((least && !c->suspect) || (most && !c->slow))
        return text_format("the claim '%s' needs words: suspect for at_least, slow for at_most",
                           c->name);
    const char *problem = read_causes(config_setting_get_member(group, "causes"), c);
    if (problem) return problem;
    return versions_problem(c->name, c->version, most, c->gold_version, gold);
}

static const char *read_target(config_setting_t *group, Target *t)
{
    static const char *const keys[] = { "name", "measure",      "peer", "at_least", "version",
                                        "gold", "gold_version", "why",  "slow",     NULL };
    const char *stranger = unknown_key(group, keys);
    if (stranger) return text_format("a target of `gpu` has no '%s'", stranger);

    *t = (Target){
        .name = read_text(group, "name"),
        .measure = read_text(group, "measure"),
        .peer = read_text(group, "peer"),
        .why = read_text(group, "why"),
        .slow = read_text(group, "slow"),
        .gold = -INFINITY,
        .version = read_version(group, "version"),
        .gold_version = read_version(group, "gold_version"),
    };
    read_number(group, "at_least", &t->at_least);
    bool gold = read_number(group, "gold", &t->gold);
    if (!t->name || !t->measure || !t->why || !t->slow || !(t->at_least > 0))
        return "a target of `gpu` needs name, measure, at_least, why and slow";
    if (config_setting_get_member(group, "peer") && !t->peer)
        return text_format("the target '%s' has a peer that is no name", t->name);
    if (!t->peer) t->peer = PEER_COPY;
    if (text_columns(t->name) > 24)
        return text_format("the target '%s' has a name longer than 24", t->name);
    if (gold && !(t->gold >= t->at_least))
        return text_format("the target '%s' has gold below at_least", t->name);
    return versions_problem(t->name, t->version, true, t->gold_version, gold);
}

static const char *read_targets(config_setting_t *list, Profile *p)
{
    for (int i = 0; list && i < config_setting_length(list); i++) {
        if (p->targets == CLAIMS_MAX) return "too many targets in `gpu`";
        const char *problem =
            read_target(config_setting_get_elem(list, i), &p->target[p->targets++]);
        if (problem) return problem;
    }
    return NULL;
}

static const char *read_timelines(config_setting_t *list, Profile *p)
{
    for (int i = 0; list && i < config_setting_length(list); i++) {
        const char *name = config_setting_get_string_elem(list, i);
        if (!name || p->timelines == TIMELINES_MAX)
            return "timelines are the names of four checks at most";
        p->timeline[p->timelines++] = strdup(name);
    }
    return NULL;
}

static const char *read_settings(config_t *config, Profile *p)
{
    static const char *const keys[] = { "instructions", "seconds", "devices", "timelines",
                                        "claims",       "gpu",     NULL };
    config_setting_t *root = config_root_setting(config);
    config_setting_t *list = config_setting_get_member(root, "claims");
    const char *stranger = unknown_key(root, keys);
    double number;

    if (stranger) return text_format("there is no setting '%s'", stranger);
    if (read_number(root, "instructions", &number)) {
        if (!(number >= 1)) return "instructions must be a number, at least 1";
        p->instructions = (uint64_t)number;
    }
    if (read_number(root, "devices", &number)) {
        if (!(number >= 1 && number <= PROTOCOL_PARTS && number == (int)number))
            return "devices must be a whole number from 1 to 8";
        p->devices = (int)number;
    }
    if (read_number(root, "seconds", &number)) {
        if (!(number > 0)) return "seconds must be a number above 0";
        p->seconds = number;
    }
    const char *timelines = read_timelines(config_setting_get_member(root, "timelines"), p);
    if (timelines) return timelines;
    for (int i = 0; list && i < config_setting_length(list); i++) {
        if (p->claims == CLAIMS_MAX) return "too many claims";
        const char *problem = read_claim(config_setting_get_elem(list, i), &p->claim[p->claims++]);
        if (problem) return problem;
    }
    return read_targets(config_setting_get_member(root, "gpu"), p);
}

const char *profile_read(const char *path, Profile *profile)
{
    config_t config;
    const char *problem;
    config_init(&config);
    if (!config_read_file(&config, path))
        problem =
            text_format("%s:%d: %s", path, config_error_line(&config), config_error_text(&config));
    else if ((problem = read_settings(&config, profile)))
        problem = text_format("%s: %s", path, problem);
    config_destroy(&config);
    return problem;
}

// ---- Judging ----

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

// The time of the check's kernels, in nanoseconds: on the simulated device a prediction.
static const char time_counter[] = "gpu__time_duration.sum";

// A counter's sum on the check. Without a launch there is nothing to count, and
// all are 0; with one, a counter that the device lacks is NAN.
static double counter_sum(const json_t *record, const char *name)
{
    if (strcmp(name, time_counter) == 0) return number_of(record, "time_ns");
    const json_t *value = json_object_get(json_object_get(record, "counters"), name);
    if (!value && number_of(record, "kernels") > 0) return NAN;
    return json_number_value(value);
}

const char *claim_unit(const Claim *c)
{
    bool traffic = strstr(c->counter[0], "sectors") || strstr(c->counter[0], "bytes");
    if (strcmp(c->per, "compulsory_operations") == 0) return "an operation";
    if (strncmp(c->per, "compulsory", 10) == 0) return traffic ? "x compulsory" : "a sector";
    if (strcmp(c->per, "call") == 0) return "a call";
    if (strcmp(c->per, "launch__thread_count") == 0) return "a thread";
    return strstr(c->per, "requests") ? "a request"
         : strstr(c->per, "sectors")  ? "a sector"
         : strstr(c->per, "launch__") ? "a launch"
                                      : "";
}

static double divisor(const Claim *c, const json_t *record)
{
    double read = number_of(record, "compulsory_read");
    double write = number_of(record, "compulsory_write");
    if (strcmp(c->per, "compulsory_read") == 0) return read / 32;
    if (strcmp(c->per, "compulsory_write") == 0) return write / 32;
    if (strcmp(c->per, "compulsory") == 0) return (read + write) / 32;
    if (strcmp(c->per, "compulsory_operations") == 0) return number_of(record, c->per) / 32;
    if (strcmp(c->per, "compulsory_htod") == 0 || strcmp(c->per, "compulsory_dtoh") == 0
        || strcmp(c->per, "compulsory_link") == 0)
        return number_of(record, c->per);
    if (strcmp(c->per, "call") == 0) return number_of(record, "calls");
    return counter_sum(record, c->per);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// The counter that belongs to `name`, with one part of its name replaced.
static char *sibling(const char *name, const char *part, const char *other)
{
    const char *at = strstr(name, part);
    return text_format("%.*s%s%s", (int)(at - name), name, other, at + strlen(part));
}

// What one source line costs, in one counter.
typedef struct Culprit {
    const json_t *line;
    const char *counter;
    double much;   // the counter's value there
    double excess; // beyond what would do; the worst has most
    double each;   // a request's share: sectors, or passes; 0: not known
    double least;  // that its lanes could do with
} Culprit;

static double here(const Culprit *c, const char *name)
{
    return number_of(json_object_get(c->line, "counters"), name);
}

// Sectors a request on a line, beside those that the same lanes would touch, were their bytes side
// by side.
static void judge_sectors(Culprit *c)
{
    char *requests = sibling(c->counter, "t_sectors_", "t_requests_");
    char *least = sibling(c->counter, "t_sectors_", "t_sectors_least_");
    if (here(c, requests) > 0) {
        c->each = c->much / here(c, requests);
        c->least = here(c, least) / here(c, requests);
        c->excess = c->much - here(c, least);
    }
    free(requests);
    free(least);
}

// Passes a request through shared memory on a line, beside those that as many words need.
static void judge_conflicts(Culprit *c)
{
    char *wavefronts = sibling(c->counter, "bank_conflicts_pipe_lsu", "pipe_lsu_wavefronts");
    char *requests = sibling(c->counter, "data_bank_conflicts_pipe_lsu", "requests_pipe_lsu");
    if (here(c, requests) > 0) {
        c->each = here(c, wavefronts) / here(c, requests);
        c->least = c->each - c->much / here(c, requests);
    }
    free(wavefronts);
    free(requests);
}

static bool is_sectors(const char *counter)
{
    return strstr(counter, "t_sectors_pipe_lsu_mem_global");
}

static bool is_conflicts(const char *counter)
{
    return strstr(counter, "data_bank_conflicts_pipe_lsu");
}

// The line with most that would not have to be; where no line has any, the one with most.
static bool is_worse(const Culprit *c, const Culprit *worst)
{
    if (!worst->line || c->excess <= 0)
        return !worst->line || (worst->excess <= 0 && c->much > worst->much);
    return c->excess > worst->excess;
}

static Culprit find_culprit(const Claim *claim, const json_t *record)
{
    Culprit worst = { 0 };
    size_t l;
    json_t *line;
    json_array_foreach(json_object_get(record, "lines"), l, line) for (size_t i = 0;
                                                                       i < claim->counters; i++)
    {
        Culprit c = { .line = line, .counter = claim->counter[i] };
        c.much = c.excess = here(&c, c.counter);
        if (c.much <= 0) continue;
        if (is_sectors(c.counter)) judge_sectors(&c);
        else if (is_conflicts(c.counter)) judge_conflicts(&c);
        if (is_worse(&c, &worst)) worst = c;
    }
    return worst;
}

// A number a person reads: whole ones without a point.
static char *figure(double x)
{
    return fabs(x - round(x)) < 0.005 ? text_format("%.0f", x) : text_format("%.1f", x);
}

// Does each of its requests touch sectors that its lanes could do without? A tenth more may be the
// ends of rows.
static bool is_torn(const Culprit *c)
{
    return is_sectors(c->counter) && c->each > 1.1 * c->least && c->least > 0;
}

// How many sectors each of its requests touches, and how many would do if that is fewer.
static char *sector_words(const Culprit *c, const char *place)
{
    char *each = figure(c->each), *least = figure(c->least);
    char *words =
        text_format("%s sector%s a %s in %s%s%s%s", each, strcmp(each, "1") ? "s" : "",
                    ends_with(c->counter, "_st.sum") ? "store" : "load", place,
                    is_torn(c) ? ", " : "", is_torn(c) ? least : "", is_torn(c) ? " would do" : "");
    free(each);
    free(least);
    return words;
}

// Accesses of 8 or 16 bytes a lane go by parts of the warp, each of which needs a pass of its own.
static char *conflict_words(const Culprit *c, const char *place)
{
    char *each = figure(c->each), *least = figure(c->least);
    char *lanes =
        c->least > 1.5 ? text_format(", one for each %.0f lanes", 32 / c->least) : strdup("");
    char *words =
        text_format("Each shared-memory %s in %s takes %s passes, %s would do%s",
                    ends_with(c->counter, "_st.sum") ? "store" : "load", place, each, least, lanes);
    free(each);
    free(least);
    free(lanes);
    return words;
}

// Does it touch no sector in vain, so that only fewer accesses would be better?
static bool is_whole(const Culprit *c)
{
    return is_sectors(c->counter) && c->least > 0 && !is_torn(c);
}

static char *sentence(const Claim *claim, const Culprit *c)
{
    const char *file = json_string_value(json_object_get(c->line, "file"));
    char *clean = text_clean(file ? basename(file) : "?");
    char *place =
             text_format("%s:%d", clean, (int)json_integer_value(json_object_get(c->line, "line"))),
         *what;

    if (is_sectors(c->counter) && c->each > 0) what = sector_words(c, place);
    else if (is_conflicts(c->counter) && c->each > c->least) what = conflict_words(c, place);
    else what = text_format("Most of it in %s", place);
    char *words =
        text_format("%s: %s.", what, is_whole(c) && claim->again ? claim->again : claim->slow);
    free(clean);
    free(place);
    free(what);
    return words;
}

// The first of the causes that is one here, or NULL.
static const Cause *find_cause(const Claim *claim, const json_t *record)
{
    for (size_t i = 0; i < claim->causes; i++) {
        double count = counter_sum(record, claim->cause[i].counter);
        if (count > claim->cause[i].more_than || count < claim->cause[i].less_than)
            return &claim->cause[i];
    }
    return NULL;
}

static void explain_cause(Finding *f, const Cause *cause, const json_t *record)
{
    const char *at = strchr(cause->slow, '%');
    int before = at ? (int)(at - cause->slow) : (int)strlen(cause->slow);
    char *count = at ? figure(counter_sum(record, cause->counter)) : strdup("");
    f->words =
        text_format("%s: %.*s%s%s.", f->claim->name, before, cause->slow, count, at ? at + 1 : "");
    f->next = cause->next;
    free(count);
}

static void explain_slow(Finding *f, const json_t *record)
{
    Culprit worst = find_culprit(f->claim, record);
    const Cause *cause = worst.line ? NULL : find_cause(f->claim, record);
    f->next = f->claim->next;
    if (cause) {
        explain_cause(f, cause, record);
        return;
    }
    if (!worst.line) {
        f->words = text_format("%s: %s.", f->claim->name, f->claim->slow);
        return;
    }
    f->words = sentence(f->claim, &worst);
    if (is_whole(&worst) && f->claim->again && !f->next)
        f->next = "look for another launch, or a loop, that goes over the same data once more";
    f->file = json_string_value(json_object_get(worst.line, "file"));
    f->line = (int)json_integer_value(json_object_get(worst.line, "line"));
}

Finding claim_judge(const Claim *claim, const json_t *record)
{
    Finding f = { .claim = claim, .verdict = VERDICT_PASS };
    double sum = 0, by = divisor(claim, record);
    for (size_t i = 0; i < claim->counters; i++) {
        sum += counter_sum(record, claim->counter[i]);
        f.estimate |=
            json_is_true(json_object_get(json_object_get(record, "estimates"), claim->counter[i]));
        f.estimate |= strcmp(claim->counter[i], time_counter) == 0;
    }

    f.sum = sum;
    f.by = by;

    // Nothing over nothing, as bank conflicts where nothing is shared, is nothing.
    f.value = sum == 0 && by == 0 ? 0 : sum / by;
    if (!isfinite(f.value) || (by == 0 && strncmp(claim->per, "compulsory", 10) == 0)) {
        f.verdict = VERDICT_GRADER_ERROR;
        f.words = text_format("The claim '%s' cannot be judged: the device counts no %s, or %s is "
                              "0.",
                              claim->name, claim->counter[0], claim->per);
    } else if (f.value < claim->at_least) {
        f.verdict = VERDICT_SUSPECT;
        f.words = strdup(claim->suspect);
    } else if (f.value > claim->at_most) {
        f.verdict = VERDICT_SLOW;
        explain_slow(&f, record);
    }
    return f;
}

bool finding_is_gold(const Finding *f)
{
    return isfinite(f->claim->gold) && f->value <= f->claim->gold;
}

enum gold claims_gold(const Finding *findings, size_t count)
{
    enum gold gold = GOLD_NONE;
    for (size_t i = 0; i < count && gold != GOLD_MISSED; i++)
        if (isfinite(findings[i].claim->gold))
            gold = finding_is_gold(&findings[i]) ? GOLD_KEPT : GOLD_MISSED;
    return gold;
}

int claims_speed(const Finding *findings, size_t count)
{
    double speed = 10;
    for (size_t i = 0; i < count; i++) {
        const Finding *f = &findings[i];
        if (f->verdict != VERDICT_SLOW) continue;
        // Against an upper bound of 0, one pass too many in each is as bad as twice the work.
        double most = f->claim->at_most, share = most > 0 ? most / f->value : 1 / (1 + f->value);
        speed = fmin(speed, floor(fmax(1, fmin(9, 10 * share))));
    }
    return (int)speed;
}

// ---- On a GPU ----

Ratio ratio_read(const json_t *entry)
{
    return (Ratio){ .median = number_of(entry, "ratio"),
                    .spread = number_of(entry, "spread"),
                    .from = number_of(entry, "from"),
                    .to = number_of(entry, "to") };
}

Timing target_judge(const Target *target, const json_t *record, const Gpu *gpu)
{
    const json_t *m = json_object_get(json_object_get(record, "measured"), target->peer);
    const json_t *student = json_object_get(m, "student"), *peer = json_object_get(m, "peer");
    Timing t = { .target = target, .verdict = VERDICT_PASS, .limit = gpu->bytes_per_second };
    double bytes = number_of(student, "bytes");
    t.bytes = bytes;
    t.ratio = ratio_read(m);
    t.least = ratio_bound(t.ratio, target->at_least);
    t.gold = ratio_bound(t.ratio, target->gold);
    t.rate = bytes / number_of(student, "seconds");
    t.peer_rate = number_of(peer, "bytes") / number_of(peer, "seconds");

    t.missing = json_string_value(json_object_get(m, "missing"));
    if (t.missing) {
        t.ratio = (Ratio){ 0 };
        t.least = t.gold = BOUND_UNSURE;
        t.rate = t.peer_rate = 0;
        t.words = text_format("%s needs %s, which is not on this machine: not judged.",
                              target->peer, t.missing);
        return t;
    }

    // A tenth is left for the clock of the memory, and for ours.
    double quick = number_of(student, "quick");
    bool too_fast = t.limit > 0 && quick < 0.9 * bytes / t.limit;
    if (!isfinite(t.rate) || !isfinite(t.peer_rate)) {
        t.verdict = VERDICT_GRADER_ERROR;
        t.words = text_format("'%s' cannot be judged: its measurement gave no time.", target->name);
    } else if (too_fast) {
        t.verdict = VERDICT_SUSPECT;
        t.words = text_format("A call seems to take %.3g us, but the memory needs %.3g us for its "
                              "%.3g MB: not all of the work was done.",
                              1e6 * quick, 1e6 * bytes / t.limit, bytes / 1e6);
    } else if (t.least == BOUND_UNSURE) {
        t.words = text_format("Twice, most ratios lay from %.2f to %.2f: too far apart to tell, "
                              "and not held against you. "
                              "Run it again while nothing else uses the GPU.",
                              t.ratio.from, t.ratio.to);
    } else if (t.least == BOUND_MISSED && strcmp(target->peer, PEER_COPY) != 0) {
        t.verdict = VERDICT_SLOW;
        t.words = text_format("%.4g us a call, where %s takes %.4g: %s.", 1e6 * bytes / t.rate,
                              target->peer, 1e6 * bytes / t.peer_rate, target->slow);
    } else if (t.least == BOUND_MISSED) {
        t.verdict = VERDICT_SLOW;
        t.words = text_format("%.0f GB/s, where a copy reaches %.0f: %s.", t.rate / 1e9,
                              t.peer_rate / 1e9, target->slow);
    } else if (t.gold == BOUND_UNSURE) {
        t.words = text_format(
            "Twice, most ratios lay from %.2f to %.2f: too far apart to tell whether that is gold. "
            "Run it again while nothing else uses the GPU.",
            t.ratio.from, t.ratio.to);
    }
    return t;
}

// What cannot be judged is not given gold either.
bool timing_is_gold(const Timing *t)
{
    return isfinite(t->target->gold) && !t->missing && t->gold == BOUND_KEPT;
}

enum gold targets_gold(const Timing *timings, size_t count)
{
    enum gold gold = GOLD_NONE;
    for (size_t i = 0; i < count && gold != GOLD_MISSED; i++)
        if (isfinite(timings[i].target->gold))
            gold = timing_is_gold(&timings[i]) ? GOLD_KEPT : GOLD_MISSED;
    return gold;
}

int targets_speed(const Timing *timings, size_t count)
{
    double speed = 10;
    for (size_t i = 0; i < count; i++)
        if (timings[i].verdict == VERDICT_SLOW)
            speed = fmin(speed, floor(fmax(1, fmin(9, 10 * timings[i].ratio.median
                                                          / timings[i].target->at_least))));
    return (int)speed;
}
