// Facts and records, and the only way in which the grader writes JSON.
#include "record.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>

static void set_clean(json_t *object, const char *key, const char *text)
{
    if (!text) return;
    char *clean = text_clean(text);
    json_object_set_new(object, key, json_string(clean));
    free(clean);
}

json_t *fact_new(enum verdict v, const char *says, const char *why, const char *next)
{
    json_t *fact = json_pack("{ss}", "verdict", verdict_word(v));
    set_clean(fact, "says", says);
    set_clean(fact, "why", why);
    set_clean(fact, "next", next);
    return fact;
}

enum verdict fact_verdict(const json_t *fact)
{
    return verdict_from_word(json_string_value(json_object_get(fact, "verdict")));
}

json_t *record_deciding_fact(const json_t *record)
{
    json_t *best = NULL, *fact;
    size_t i;
    json_array_foreach(json_object_get(record, "facts"), i,
                       fact) if (!best || fact_verdict(fact) < fact_verdict(best)) best = fact;
    return best;
}

enum verdict record_verdict(const json_t *record)
{
    const json_t *fact = record_deciding_fact(record);
    return fact ? fact_verdict(fact) : VERDICT_PASS;
}
