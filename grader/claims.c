// Claims: judged on a record's counters, and explained by the source line that is to blame.
#define _GNU_SOURCE
#include "claims.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

// The time of the check's kernels, in nanoseconds: on the simulated device a prediction.
static const char time_counter[] = "gpu__time_duration.sum";

// The threads that accessed memory.
static const char busy_counter[] = "launch__busy_thread_count";

// A counter's sum on the check, or the figure of that name. Without a launch there is nothing to
// count, and all are 0; with one, a counter that the device lacks is NAN.
static double counter_sum(const json_t *record, const char *name)
{
    const json_t *said = json_object_get(json_object_get(record, "figures"), name);
    if (said) return json_number_value(said);
    if (strcmp(name, time_counter) == 0) return number_of(record, "time_ns");
    const json_t *value = json_object_get(json_object_get(record, "counters"), name);
    if (!value && number_of(record, "kernels") > 0) return NAN;
    return json_number_value(value);
}

bool claim_is_figure(const Claim *c) { return strcmp(c->per, "figure") == 0; }

const char *claim_unit(const Claim *c)
{
    if (c->unit) return c->unit;
    if (claim_is_figure(c)) return "";
    bool traffic = strstr(c->counter[0], "sectors") || strstr(c->counter[0], "bytes");
    if (strcmp(c->per, "compulsory_operations") == 0) return "an operation";
    if (strncmp(c->per, "compulsory", 10) == 0) return traffic ? "x compulsory" : "a sector";
    if (strcmp(c->per, "call") == 0) return "a call";
    if (strcmp(c->per, busy_counter) == 0) return "a busy thread";
    return strstr(c->per, "requests") ? "a request"
         : strstr(c->per, "sectors")  ? "a sector"
         : strstr(c->per, "launch__") ? "a launch"
                                      : "";
}

// The threads that share the work: the instructions of all, divided by the work of one. Of the busy
// ones, those that touch little add little, and so do the threads of a launch with little work.
static double sharing_threads(const json_t *record)
{
    double all = counter_sum(record, "smsp__thread_inst_executed.sum"),
           work = counter_sum(record, "launch__work_of_a_thread.sum");
    return work > 0 ? all * all / work : counter_sum(record, busy_counter);
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
    if (claim_is_figure(c)) return 1;
    if (strcmp(c->per, busy_counter) == 0) return sharing_threads(record);
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

// Passes over shared memory that lanes make apart: one after the other, or over the network.
static bool is_apart(const char *counter) { return strstr(counter, "wavefronts_apart"); }

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

// Do the sectors that its lanes could do without account for a third of what is too much?
static bool accounts_for(const Culprit *c, double excess)
{
    return is_torn(c) && 3 * c->each / c->least >= excess;
}

// "05-transpose.cu:59"
static char *place_of(const Culprit *c)
{
    const char *file = json_string_value(json_object_get(c->line, "file"));
    char *clean = text_clean(file ? basename(file) : "?");
    char *place =
        text_format("%s:%d", clean, (int)json_integer_value(json_object_get(c->line, "line")));
    free(clean);
    return place;
}

// What lanes apart cost is what the claim's conflicts cost.
static char *apart_words(const Culprit *c)
{
    char *place = place_of(c);
    char *words = text_format("The lanes of a warp use shared memory one after the other, or over "
                              "the network between multiprocessors, in %s: that takes as many "
                              "passes over shared memory as bank conflicts do.",
                              place);
    free(place);
    return words;
}

static char *sentence(const Claim *claim, const Culprit *c, double excess)
{
    if (is_apart(c->counter)) return apart_words(c);
    bool torn = accounts_for(c, excess), again = is_sectors(c->counter) && !torn && claim->again;
    char *place = place_of(c), *what;
    bool told = torn || again || c->least <= 0; // what would do may not be known
    if (is_sectors(c->counter) && c->each > 0 && told) what = sector_words(c, place);
    else if (is_conflicts(c->counter) && c->each > c->least) what = conflict_words(c, place);
    else what = text_format("Most of it in %s", place);
    char *words = text_format("%s: %s.", what, again ? claim->again : claim->slow);
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
    f->words = sentence(f->claim, &worst, f->value / f->claim->at_most);
    if (is_whole(&worst) && f->claim->again && !f->next)
        f->next = "look for another launch, or a loop, that goes over the same data once more";
    f->file = json_string_value(json_object_get(worst.line, "file"));
    f->line = (int)json_integer_value(json_object_get(worst.line, "line"));
}

// "For gold: barriers, 0.25 a request where it is 1.00 now, most of it in 05-transpose.cu:59
// (65536 of 65536)."
static char *lacks_words(const Finding *f, Culprit worst)
{
    char *at = place_of(&worst), *much = figure(worst.much), *all = figure(f->sum);
    char *place =
        worst.line ? text_format(", most of it in %s (%s of %s)", at, much, all) : strdup("");
    int digits = gold_digits(f->claim->gold);
    char *words =
        text_format("For gold: %s, %.*f %s where it is %.*f now%s.", f->claim->name, digits,
                    f->claim->gold, claim_unit(f->claim), digits, f->value, place);
    free(at);
    free(much);
    free(all);
    free(place);
    return words;
}

int gold_digits(double gold) { return gold < 100 ? 2 : 0; }

bool claim_is_floor(const Claim *c)
{
    return isfinite(c->at_least) && isinf(c->at_most) && !c->suspect && c->slow;
}

Finding claim_judge(const Claim *claim, const json_t *record)
{
    Finding f = { .claim = claim, .verdict = VERDICT_PASS };
    double sum = 0, by = divisor(claim, record);
    for (size_t i = 0; i < claim->counters; i++) {
        double one = counter_sum(record, claim->counter[i]);
        sum += isnan(one) && i >= claim->counters - claim->added ? 0 : one;
        f.estimate |=
            json_is_true(json_object_get(json_object_get(record, "estimates"), claim->counter[i]));
        f.estimate |= strcmp(claim->counter[i], time_counter) == 0;
    }

    f.sum = sum;
    f.by = by;

    // Over a counter that is 0, as where nothing is shared, it is over 1: none at all is 0, and
    // whatever avoids the divisor's counter is held against the bound as it is.
    bool compulsory = strncmp(claim->per, "compulsory", 10) == 0;
    f.value = sum / (by == 0 && !compulsory ? 1 : by);
    if (!isfinite(f.value)) {
        f.verdict = VERDICT_GRADER_ERROR;
        f.words = text_format("The claim '%s' cannot be judged: the device counts no %s, or %s is "
                              "0.",
                              claim->name, claim->counter[0], claim->per);
    } else if (f.value < claim->at_least && claim_is_floor(claim)) {
        f.verdict = VERDICT_SLOW;
        f.words = text_format("%s: %s.", claim->name, claim->slow);
        f.next = claim->next;
    } else if (f.value < claim->at_least) {
        f.verdict = VERDICT_SUSPECT;
        f.words = strdup(claim->suspect);
    } else if (f.value > claim->at_most) {
        f.verdict = VERDICT_SLOW;
        explain_slow(&f, record);
    } else if (isfinite(claim->gold) && !finding_is_gold(&f)) {
        f.lacks = lacks_words(&f, find_culprit(claim, record));
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
        double most = f->claim->at_most, share = claim_is_floor(f->claim) ? 0
                                               : most > 0                 ? most / f->value
                                                                          : 1 / (1 + f->value);
        speed = fmin(speed, floor(fmax(1, fmin(9, 10 * share))));
    }
    return (int)speed;
}
