// What was wrong, in words of the course's own: a cause of the simulated device, a claim, or what a
// check says of a wrong answer.
#define _GNU_SOURCE
#include "report.h"
#include "text.h"
#include "verdict.h"
#include <stdlib.h>
#include <string.h>

typedef struct Mistakes {
    Mistake *mistake;
    size_t count;
} Mistakes;

// Takes the words over.
static void count_one(Mistakes *all, const char *lesson, char *words)
{
    for (Mistake *m = all->mistake; m < all->mistake + all->count; m++) {
        if (strcmp(m->lesson, lesson) || strcmp(m->words, words)) continue;
        m->count++;
        free(words);
        return;
    }
    all->mistake = reallocarray(all->mistake, all->count + 1, sizeof *all->mistake);
    all->mistake[all->count++] = (Mistake){ lesson, words, 1 };
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

// Each claim that does not hold, by its name. Returns whether there is one.
static bool count_claims(Mistakes *all, const Mark *m, const json_t *claims)
{
    size_t n;
    const json_t *claim;
    bool any = false;
    json_array_foreach(claims, n, claim)
    {
        const char *verdict = text_of(claim, "verdict"), *name = text_of(claim, "name");
        if (!verdict || !name || strcmp(verdict, m->verdict) != 0) continue;
        count_one(all, m->lesson, text_format("%s: %s", m->verdict, name));
        any = true;
    }
    return any;
}

// What the fact that decides is about (record.h): the device's cause, else the kind of error, else
// what the check says of a wrong answer; "": nothing more than the verdict.
static char *reason_of(const json_t *fact)
{
    const char *cause = text_of(fact, "cause"), *kind = text_of(fact, "kind"),
               *verdict = text_of(fact, "verdict");
    bool wrong = verdict && strcmp(verdict, verdict_word(VERDICT_WRONG)) == 0;
    const char *why = wrong ? text_of(fact, "why") : NULL;
    if (cause) return text_spaced(cause);
    return kind ? text_spaced(kind) : strdup(why ? why : "");
}

static void count_mark(Mistakes *all, const Mark *m)
{
    json_t *result = json_load_file(m->submission->result, 0, NULL);
    const json_t *fact = json_object_get(result, "fact");
    if (verdict_from_word(m->verdict) == VERDICT_TODO) count_one(all, m->lesson, strdup("TODO"));
    else if (fact) {
        char *reason = reason_of(fact);
        count_one(all, m->lesson, text_format("%s%s%s", m->verdict, *reason ? ": " : "", reason));
        free(reason);
    } else if (!count_claims(all, m, json_object_get(result, "claims")))
        count_one(all, m->lesson, strdup(m->verdict));
    json_decref(result);
}

// Does the mark say what is wrong with a file? Others say that there is none, or that the grader
// failed.
static bool is_mistake(const Mark *m)
{
    enum verdict v = verdict_from_word(m->verdict); // of what is no verdict it is GRADER_ERROR
    return v != VERDICT_PASS && v != VERDICT_GRADER_ERROR && v != VERDICT_NODEVICE;
}

static int by_count(const void *a, const void *b)
{
    const Mistake *m = a, *o = b;
    if (m->count != o->count) return m->count < o->count ? 1 : -1;
    int order = strcmp(m->lesson, o->lesson);
    return order ? order : strcmp(m->words, o->words);
}

Mistake *report_mistakes(const Class *c, size_t *count)
{
    Mistakes all = { 0 };
    for (const Mark *m = c->mark; m < c->mark + c->marks; m++)
        if (m->submission && is_mistake(m)) count_mark(&all, m);
    if (all.count) qsort(all.mistake, all.count, sizeof *all.mistake, by_count);
    *count = all.count;
    return all.mistake;
}
