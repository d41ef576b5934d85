// Holds a solution's versions to what the profile says of them: a bound is kept by the
// version that it names, and broken by the one before it.
#include "claims.h"
#include "text.h"
#include <math.h>
#include <string.h>

// One bound of a claim or a target, and where the results have its values.
typedef struct Bound {
    const char *name, *what;        // "sectors stored", "gold"
    double bound;
    bool above;                     // it is kept above, not below
    int version;                    // that first keeps it
} Bound;

// The value that a version came to, NAN where it is not known.
static double value_of(const Bound *b, json_t *result)
{
    size_t i;
    json_t *one, *all = b->above ? json_object_get(json_object_get(result, "gpu"), "timings")
                                 : json_object_get(result, "claims");
    json_array_foreach(all, i, one)
        if (strcmp(json_string_value(json_object_get(one, "name")), b->name) == 0 &&
            !json_object_get(one, "missing"))
            return json_number_value(json_object_get(one, b->above ? "ratio" : "value"));
    return NAN;
}

static bool keeps(const Bound *b, double value)
{
    return b->above ? value >= b->bound : value <= b->bound;
}

// One version is held to one bound.
static size_t hold(const Bound *b, int version, bool kept, json_t *result, FILE *out, size_t *held)
{
    double value = value_of(b, result);
    if (!result)
        return 0;
    ++*held;
    if (isfinite(value) && keeps(b, value) == kept)
        return 0;
    fprintf(out, "'%s': version %d is the first that keeps %s = %g, says the profile; but version "
            "%d comes to %g\n", b->name, b->version, b->what, b->bound, version, value);
    return 1;
}

static size_t hold_bound(const Bound *b, json_t *const *results, size_t count, FILE *out,
                         size_t *held)
{
    size_t v = (size_t)b->version, wrong = 0;
    if (v == 0)
        return 0;
    if (v > count) {
        fprintf(out, "'%s': there is no version %zu that could keep %s = %g\n", b->name, v, b->what,
                b->bound);
        ++*held;
        return 1;
    }
    wrong += hold(b, (int)v, true, results[v - 1], out, held);
    if (v > 1)
        wrong += hold(b, (int)v - 1, false, results[v - 2], out, held);
    return wrong;
}

size_t claims_hold(const Profile *p, bool on_gpu, json_t *const *results, size_t count, FILE *out,
                   size_t *held)
{
    size_t wrong = 0, bounds = on_gpu ? p->targets : p->claims;
    for (size_t i = 0; i < bounds; i++) {
        const Claim *c = &p->claim[i];
        const Target *t = &p->target[i];
        Bound usual = on_gpu ? (Bound){t->name, "at_least", t->at_least, true, t->version}
                             : (Bound){c->name, "at_most", c->at_most, false, c->version};
        Bound gold = on_gpu ? (Bound){t->name, "gold", t->gold, true, t->gold_version}
                            : (Bound){c->name, "gold", c->gold, false, c->gold_version};
        wrong += hold_bound(&usual, results, count, out, held);
        wrong += hold_bound(&gold, results, count, out, held);
    }
    return wrong;
}
