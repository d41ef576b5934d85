// Holds a solution's versions to what the profile says of them: a bound is kept by the
// version that it names, and broken by the one before it.
#include "claims.h"
#include "text.h"
#include <math.h>
#include <string.h>

// One bound of a claim or a target, and where the results have its values.
typedef struct Bound {
    const char *name, *what; // "sectors stored", "gold"
    double bound;
    bool on_gpu; // of a target
    bool above;  // it is kept above, not below
    int version; // that first keeps it
} Bound;

// What a version's result says of it, NULL where it says nothing.
static const json_t *entry_of(const Bound *b, const json_t *result)
{
    size_t i;
    json_t *one, *all = b->on_gpu ? json_object_get(json_object_get(result, "gpu"), "timings")
                                  : json_object_get(result, "claims");
    json_array_foreach(
        all, i, one) if (strcmp(json_string_value(json_object_get(one, "name")), b->name) == 0
                         && !json_object_get(one, "missing")) return one;
    return NULL;
}

static double value_of(const json_t *entry)
{
    return json_number_value(json_object_get(entry, "value"));
}

// A ratio on a GPU as target_judge() sees it. Older results have the median alone.
static enum bound judged(const Bound *b, const json_t *entry)
{
    double value = value_of(entry);
    if (!b->on_gpu)
        return (b->above ? value >= b->bound : value <= b->bound) ? BOUND_KEPT : BOUND_MISSED;
    Ratio ratio = ratio_read(entry);
    if (!json_object_get(entry, "from"))
        return ratio.median >= b->bound ? BOUND_KEPT : BOUND_MISSED;
    return ratio_bound(ratio, b->bound);
}

// One version is held to one bound.
static size_t hold(const Bound *b, int version, enum bound due, json_t *result, FILE *out,
                   size_t *held)
{
    const json_t *entry = entry_of(b, result);
    if (!result) return 0;
    ++*held;
    enum bound is = entry ? judged(b, entry) : BOUND_UNSURE;
    if (is == due) return 0;
    fprintf(out,
            "'%s': version %d is the first that keeps %s = %g, says the profile; but version "
            "%d comes to %g%s\n",
            b->name, b->version, b->what, b->bound, version,
            !entry      ? NAN
            : b->on_gpu ? ratio_read(entry).median
                        : value_of(entry),
            entry && is == BOUND_UNSURE ? ", of ratios too far apart to tell" : "");
    return 1;
}

static size_t hold_bound(const Bound *b, json_t *const *results, size_t count, FILE *out,
                         size_t *held)
{
    size_t v = (size_t)b->version, wrong = 0;
    if (v == 0) return 0;
    if (v > count) {
        fprintf(out, "'%s': there is no version %zu that could keep %s = %g\n", b->name, v, b->what,
                b->bound);
        ++*held;
        return 1;
    }
    wrong += hold(b, (int)v, BOUND_KEPT, results[v - 1], out, held);
    if (v > 1) wrong += hold(b, (int)v - 1, BOUND_MISSED, results[v - 2], out, held);
    return wrong;
}

size_t claims_hold(const Profile *p, bool on_gpu, json_t *const *results, size_t count, FILE *out,
                   size_t *held)
{
    size_t wrong = 0, bounds = on_gpu ? p->targets : p->claims;
    for (size_t i = 0; i < bounds; i++) {
        const Claim *c = &p->claim[i];
        const Target *t = &p->target[i];
        bool floor = !on_gpu && claim_is_floor(c);
        Bound usual = on_gpu ? (Bound){ t->name, "at_least", t->at_least, true, true, t->version }
                    : floor  ? (Bound){ c->name, "at_least", c->at_least, false, true, c->version }
                             : (Bound){ c->name, "at_most", c->at_most, false, false, c->version };
        Bound gold = on_gpu ? (Bound){ t->name, "gold", t->gold, true, true, t->gold_version }
                            : (Bound){ c->name, "gold", c->gold, false, false, c->gold_version };
        wrong += hold_bound(&usual, results, count, out, held);
        wrong += hold_bound(&gold, results, count, out, held);
    }
    return wrong;
}
