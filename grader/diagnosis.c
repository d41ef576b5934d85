// The order in which causes are told, and which go together.
#include "diagnosis.h"
#include <string.h>

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

// A check that did not begin tells nothing: one that did says it better.
static bool was_skipped(const json_t *record)
{
    return json_is_true(json_object_get(record_deciding_fact(record), "skipped"));
}

const json_t *diagnose_record(const json_t *records)
{
    size_t i;
    json_t *record, *best = NULL;
    json_array_foreach(records, i, record)
    {
        enum verdict v = record_verdict(record), least = best ? record_verdict(best) : VERDICT_PASS;
        if (v < least || (best && v == least && was_skipped(best))) best = record;
    }
    return best;
}

const json_t *diagnose_output(const Result *r)
{
    size_t i;
    json_t *record;
    if (r->record) return r->record;
    json_array_foreach(r->records, i, record) if (*text_of(record, "output")) return record;
    return json_array_get(r->records, 0);
}

// Of memory that nothing wrote: the error that the same call left unseen, which is why. Else NULL.
static const json_t *unseen_of(const Result *r)
{
    size_t i;
    json_t *fact;
    if (kind_of(r->fact) == KIND_UNINITIALIZED)
        json_array_foreach(json_object_get(r->record, "facts"), i,
                           fact) if (kind_of(fact) == KIND_UNSEEN) return fact;
    return NULL;
}

// A program that was ended has freed nothing: that leak is no mistake of its own.
static bool fact_follows(const json_t *cause, const json_t *fact)
{
    return kind_of(fact) == KIND_LEAK && fact_verdict(cause) < VERDICT_MEMORY;
}

// What takes too long in one check is often wrong in a smaller one, which tells why; and so it is
// with memory that was not written, where no kernel is known that used it.
static bool a_wrong_tells_more(const Result *r)
{
    return r->behind == VERDICT_TIMEOUT
        || (r->behind == VERDICT_MEMORY && !text_of(r->fact, "kernel") && !unseen_of(r));
}

static bool same_function(const json_t *a, const json_t *b)
{
    const char *x = text_of(a, "function"), *y = text_of(b, "function");
    return x && y && strcmp(x, y) == 0;
}

// The first wrong answer that another check had from the same function, with a cause if there is
// one; or NULL.
static const json_t *wrong_beside(const Result *r)
{
    size_t i;
    json_t *record;
    const json_t *best = NULL;
    if (!a_wrong_tells_more(r)) return NULL;
    json_array_foreach(r->records, i, record)
    {
        const json_t *fact = record_deciding_fact(record);
        bool wrong = fact && fact_verdict(fact) == VERDICT_WRONG && same_function(fact, r->fact);
        if (wrong && (!best || (!text_of(best, "why") && text_of(fact, "why")))) best = fact;
    }
    return best;
}

// The cause that would have decided, had there not been a graver one; or NULL.
static const json_t *next_gravest(const Result *r)
{
    size_t i;
    json_t *fact;
    json_array_foreach(json_object_get(r->record, "facts"), i,
                       fact) if (fact_verdict(fact) > fact_verdict(r->fact)
                                 && !fact_follows(r->fact, fact)) return fact;
    return NULL;
}

// A call that failed. Out of bounds it is the call that found out; and what was left unseen is that
// call itself.
static const json_t *note_of(const Result *r)
{
    return r->behind == VERDICT_BOUNDS || kind_of(r->fact) == KIND_UNSEEN
             ? NULL
             : json_array_get(json_object_get(r->record, "notes"), 0);
}

Diagnosis diagnose_result(const Result *r)
{
    const json_t *unseen = unseen_of(r), *wrong = wrong_beside(r);
    Diagnosis d = { .note = note_of(r),
                    .also = wrong ? wrong : next_gravest(r),
                    .also_explains = wrong && text_of(wrong, "why") };
    // Of an answer that nothing wrote, say, it is the launch that failed.
    const json_t *telling[] = { d.note, unseen, d.also_explains ? wrong : NULL, r->fact };
    for (size_t i = 0; i < sizeof telling / sizeof *telling && !d.next; i++)
        d.next = text_of(telling[i], "next");
    bool told = r->behind == VERDICT_WRONG && json_object_get(r->fact, "why");
    if (!d.next) d.next = told ? "look for the lines that do this" : verdict_next(r->behind);
    return d;
}
