// Reads a lesson's profile: its settings, its claims, and its targets on a GPU.
#define _GNU_SOURCE
#include "claims.h"
#include "peer.h"
#include "protocol.h"
#include "text.h"
#include <libconfig.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static void add_counter(Claim *c, const char *name)
{
    if (name && c->counters < CLAIM_COUNTERS_MAX) c->counter[c->counters++] = strdup(name);
}

// Sectors that a kernel loads or stores are also those of its copies in bulk, which go past L1.
static void add_bulk(Claim *c)
{
    size_t named = c->counters;
    for (size_t i = 0; i < named; i++) {
        if (strcmp(c->counter[i], "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") == 0)
            add_counter(c, "l1tex__t_sectors_pipe_tma_mem_global_op_ld.sum");
        if (strcmp(c->counter[i], "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") == 0)
            add_counter(c, "l1tex__t_sectors_pipe_tma_mem_global_op_st.sum");
    }
    c->added = c->counters - named;
}

static void read_counters(config_setting_t *group, Claim *c)
{
    config_setting_t *s = config_setting_get_member(group, "counter");
    if (!s) return;
    if (config_setting_type(s) == CONFIG_TYPE_STRING) add_counter(c, config_setting_get_string(s));
    else
        for (int i = 0; i < config_setting_length(s); i++)
            add_counter(c, config_setting_get_string_elem(s, i));
    add_bulk(c);
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
    static const char *const keys[] = { "name",    "check",   "counter", "per",          "at_least",
                                        "at_most", "version", "gold",    "gold_version", "why",
                                        "suspect", "slow",    "again",   "next",         "causes",
                                        "step",    "unit",    NULL };
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
        .unit = read_text(group, "unit"),
        .at_least = -INFINITY,
        .at_most = INFINITY,
        .gold = INFINITY,
        .version = read_version(group, "version"),
        .gold_version = read_version(group, "gold_version"),
        .step = read_version(group, "step"),
    };
    read_counters(group, c);
    bool least = read_number(group, "at_least", &c->at_least);
    bool most = read_number(group, "at_most", &c->at_most);
    bool gold = read_number(group, "gold", &c->gold);

    if (!c->name || !c->check || !c->per || !c->why || !c->counters)
        return "a claim needs name, check, counter, per and why";
    if (text_columns(c->name) > 24)
        return text_format("the claim '%s' has a name longer than 24", c->name);
    if (c->unit && text_columns(c->unit) > 12)
        return text_format("the claim '%s' has a unit longer than 12", c->name);
    if (!least && !most && !gold)
        return text_format("the claim '%s' needs at_least, at_most or gold", c->name);
    if (isnan(c->at_least) || isnan(c->at_most) || !(c->at_least <= c->at_most))
        return text_format("the claim '%s' has bounds that are no range", c->name);
    if (!(c->gold >= c->at_least) || (gold && !(c->gold <= c->at_most)))
        return text_format("the claim '%s' has gold outside its bounds", c->name);
    if ((least && !c->suspect && !claim_is_floor(c)) || (most && !c->slow))
        return text_format("the claim '%s' needs words: suspect for at_least, slow for at_most, "
                           "slow alone for a floor",
                           c->name);
    const char *problem = read_causes(config_setting_get_member(group, "causes"), c);
    if (problem) return problem;
    return versions_problem(c->name, c->version, most || claim_is_floor(c), c->gold_version, gold);
}

static const char *read_target(config_setting_t *group, Target *t)
{
    static const char *const keys[] = { "name", "measure",      "peer", "at_least", "version",
                                        "gold", "gold_version", "why",  "slow",     "step",
                                        NULL };
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
        .step = read_version(group, "step"),
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

static const char *read_step(config_setting_t *group, Step *s)
{
    static const char *const keys[] = { "name", "version", "check", "checks", "lessens", NULL };
    const char *stranger = unknown_key(group, keys);
    if (stranger) return text_format("a step has no '%s'", stranger);
    *s = (Step){ .name = read_text(group, "name"),
                 .version = read_version(group, "version"),
                 .lessens = read_text(group, "lessens"),
                 .shortens = read_text(group, "check") };
    if (!s->name || s->version < 1 || text_columns(s->name) > 24)
        return "a step needs a name of at most 24 characters, and a version";
    config_setting_t *checks = config_setting_get_member(group, "checks");
    for (int i = 0; checks && i < config_setting_length(checks); i++) {
        const char *check = config_setting_get_string_elem(checks, i);
        if (!check || s->checks == STEP_CHECKS_MAX)
            return "a step's checks are the names of four at most";
        s->check[s->checks++] = strdup(check);
    }
    return NULL;
}

static const char *read_ladder(config_setting_t *group, Ladder *l)
{
    static const char *const keys[] = { "check", "steps", "gold", NULL };
    const char *stranger = unknown_key(group, keys), *problem = NULL;
    if (stranger) return text_format("the ladder has no '%s'", stranger);
    config_setting_t *steps = config_setting_get_member(group, "steps");
    l->check = read_text(group, "check");
    l->gold = read_version(group, "gold");
    if (!l->check || !steps || l->gold < 0) return "the ladder needs check and steps";
    for (int i = 0; i < config_setting_length(steps) && !problem; i++)
        problem = l->steps == STEPS_MAX
                    ? "the ladder has too many steps"
                    : read_step(config_setting_get_elem(steps, i), &l->step[l->steps++]);
    for (int i = 1; i < l->steps && !problem; i++)
        if (!l->step[i].checks != !l->step[0].checks)
            problem = "of a ladder's steps, all have checks or none";
    return problem;
}

// Which step wants what says no step; and a step that there is not.
static const char *place_step(const Ladder *l, const char *name, int *step, int otherwise)
{
    if (*step < 0 || *step > l->steps)
        return text_format("'%s' has a step that is none of the ladder's %d", name, l->steps);
    if (!*step) *step = otherwise;
    return NULL;
}

static const char *place_lessens(const Profile *p, const Step *s)
{
    bool found = !s->lessens;
    for (size_t i = 0; i < p->claims && !found; i++)
        found = strcmp(p->claim[i].name, s->lessens) == 0;
    return found ? NULL : text_format("the step '%s' lessens no claim of the profile", s->name);
}

static const char *place_steps(Profile *p)
{
    const char *problem = NULL;
    for (int i = 0; i < p->ladder.steps && !problem; i++)
        problem = place_lessens(p, &p->ladder.step[i]);
    for (size_t i = 0; i < p->claims && !problem; i++)
        problem = place_step(&p->ladder, p->claim[i].name, &p->claim[i].step, 1);
    for (size_t i = 0; i < p->targets && !problem; i++)
        problem = place_step(&p->ladder, p->target[i].name, &p->target[i].step, p->ladder.steps);
    return problem;
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

static const char *read_libraries(config_setting_t *list, Profile *p)
{
    for (int i = 0; list && i < config_setting_length(list); i++) {
        const char *name = config_setting_get_string_elem(list, i);
        if (!name || p->libraries == LIBRARIES_MAX) return "without names four libraries at most";
        p->library[p->libraries++] = strdup(name);
    }
    return list && !p->libraries ? "without names no library" : NULL;
}

static const char *read_settings(config_t *config, Profile *p)
{
    static const char *const keys[] = { "instructions", "seconds", "devices", "timelines", "claims",
                                        "gpu",          "ladder",  "without", NULL };
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
    const char *libraries = read_libraries(config_setting_get_member(root, "without"), p);
    if (libraries) return libraries;
    for (int i = 0; list && i < config_setting_length(list); i++) {
        if (p->claims == CLAIMS_MAX) return "too many claims";
        const char *problem = read_claim(config_setting_get_elem(list, i), &p->claim[p->claims++]);
        if (problem) return problem;
    }
    config_setting_t *ladder = config_setting_get_member(root, "ladder");
    const char *problem = ladder ? read_ladder(ladder, &p->ladder) : NULL;
    if (!problem) problem = read_targets(config_setting_get_member(root, "gpu"), p);
    return problem ? problem : place_steps(p);
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
